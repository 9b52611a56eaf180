/** Short messages at the screen's edge. */
import { useSyncExternalStore } from 'react';

interface Toast {
  readonly id: number;
  readonly text: string;
  readonly tone: 'good' | 'bad';
}

const GOOD_MS = 5_000;
const BAD_MS = 12_000;
let toasts: readonly Toast[] = [];
let lastId = 0;
const listeners = new Set<() => void>();

export function showToast(text: string, tone: Toast['tone'] = 'good'): void {
  const id = ++lastId;
  update([...toasts.slice(-3), { id, text, tone }]);
  setTimeout(() => dismissToast(id), tone === 'good' ? GOOD_MS : BAD_MS);
}

export function dismissToast(id: number): void {
  update(toasts.filter((toast) => toast.id !== id));
}

function update(next: readonly Toast[]): void {
  toasts = next;
  for (const listener of listeners) listener();
}

/** Those that are shown now. */
export function useToasts(): readonly Toast[] {
  return useSyncExternalStore(subscribe, () => toasts);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
