/** Short messages at the edge of the screen. */
import type { Cause } from './api/types.ts';
import { store } from './store.ts';

interface Toast {
  readonly id: number;
  readonly text: string;
  readonly tone: 'good' | 'bad';
  /** Shown after the text. */
  readonly cause: Cause | undefined;
}

const GOOD_MS = 5_000;
const BAD_MS = 12_000;
const toasts = store<readonly Toast[]>([]);
let lastId = 0;

export function showToast(text: string, tone: Toast['tone'] = 'good', cause?: Cause): void {
  const id = ++lastId;
  toasts.set([...toasts.get().slice(-3), { id, text, tone, cause }]);
  setTimeout(() => dismissToast(id), tone === 'good' ? GOOD_MS : BAD_MS);
}

export function dismissToast(id: number): void {
  toasts.set(toasts.get().filter((toast) => toast.id !== id));
}

/** The visible toasts. */
export const useToasts = toasts.use;
