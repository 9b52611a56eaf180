/** Short messages at the screen's edge, read out by screen readers. */
import { useSyncExternalStore, type ReactElement } from 'react';
import { CircleCheck, TriangleAlert, X } from './icons.tsx';
import { t } from '../texts/texts.ts';

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
  setTimeout(() => dismiss(id), tone === 'good' ? GOOD_MS : BAD_MS);
}

function dismiss(id: number): void {
  update(toasts.filter((toast) => toast.id !== id));
}

function update(next: readonly Toast[]): void {
  toasts = next;
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function Toasts(): ReactElement {
  const shown = useSyncExternalStore(subscribe, () => toasts);
  return (
    <div className="toasts" role="status" aria-live="polite">
      {shown.map(({ id, text, tone }) => (
        <div key={id} className={`toast ${tone}`}>
          {tone === 'good' ? <CircleCheck aria-hidden size={16} /> : <TriangleAlert aria-hidden size={16} />}
          <span>{text}</span>
          <button type="button" className="icon-button" aria-label={t.common.dismiss} onClick={() => dismiss(id)}>
            <X aria-hidden size={14} />
          </button>
        </div>
      ))}
    </div>
  );
}
