/**
 * Guards for unsaved input. Links, back, closing the tab and closing a dialog ask before it is lost. `Question` in
 * discard.tsx
 * draws the question.
 */
import { useEffect, useRef } from 'react';
import type { AroundNavHandler } from 'wouter';
import { store } from '../store.ts';

/** What would be lost: typed input, or a secret that is never shown again. */
export type Loss = 'changes' | 'secret';

interface Guard {
  readonly loss: Loss;
  readonly onDiscard: () => void;
}

interface Leaving {
  readonly loss: Loss;
  readonly go: () => void;
}

const guards = new Set<Guard>();
const leaving = store<Leaving | undefined>(undefined);
let here = location.href;

/**
 * Guards while `isDirty`. The guard is off while the form is sent, so that the user can continue directly after saving.
 */
export function useUnsaved(isDirty: boolean, loss: Loss = 'changes', onDiscard?: () => void): void {
  const discarded = useRef(onDiscard);
  useEffect(() => {
    discarded.current = onDiscard;
  });
  useEffect(() => {
    if (!isDirty) return undefined;
    const guard: Guard = { loss, onDiscard: () => discarded.current?.() };
    guards.add(guard);
    here = location.href;
    if (guards.size === 1) addEventListener('beforeunload', askBeforeUnload);
    return () => remove(guard);
  }, [isDirty, loss]);
}

function remove(guard: Guard): void {
  guards.delete(guard);
  if (guards.size === 0) removeEventListener('beforeunload', askBeforeUnload);
}

function askBeforeUnload(event: BeforeUnloadEvent): void {
  event.preventDefault();
}

/** Calls `go` directly if nothing would be lost, otherwise once the user has agreed. */
export function leave(go: () => void): void {
  const [first] = guards;
  if (first === undefined) go();
  else leaving.set({ loss: first.loss, go });
}

export const useLeaving = leaving.use;

export function stay(): void {
  leaving.set(undefined);
}

export function discard(): void {
  const go = leaving.get()?.go;
  for (const guard of guards) {
    guard.onDiscard();
    remove(guard);
  }
  leaving.set(undefined);
  go?.();
}

/** Guards the router: links and all navigation by code. Another view of the same screen loses nothing. */
export const guardedNav: AroundNavHandler = (navigate, to, options) => {
  const isSameScreen = new URL(to, location.href).pathname === location.pathname;
  if (isSameScreen) navigate(to, options);
  else leave(() => navigate(to, options));
};

// Runs before the router. It restores the address, so that the screen stays; going back again leads to where the user
// wanted.
addEventListener(
  'popstate',
  (event) => {
    if (guards.size === 0 || location.pathname === new URL(here).pathname) return;
    event.stopImmediatePropagation();
    history.pushState(null, '', here);
    leave(() => history.back());
  },
  true,
);
