/** Running transfers by server-sent events. The page has one stream, which is open while a component shows them. */
import { useSyncExternalStore } from 'react';
import { queries, refreshSoon } from './hooks.ts';
import { OVERVIEW } from './overview.ts';
import { readStream } from './stream.ts';
import type { Transfer } from './types.ts';

interface LiveState {
  readonly isConnected: boolean;
  readonly transfers: readonly Transfer[];
}

const NOTHING: LiveState = { isConnected: false, transfers: [] };
let state = NOTHING;
let close: (() => void) | undefined;
const listeners = new Set<() => void>();

export function useLiveTransfers(): LiveState {
  return useSyncExternalStore(subscribe, () => state);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  close ??= open();
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    close?.();
    close = undefined;
    state = NOTHING;
  };
}

function update(next: LiveState): void {
  state = next;
  for (const listener of listeners) listener();
}

function open(): () => void {
  return readStream('/manage/events?batch=true', {
    onOpen: (isOpen) => {
      if (!isOpen) update({ ...state, isConnected: false });
    },
    take: ({ type, data }) => {
      const { transfers } = JSON.parse(data) as { readonly transfers: readonly Transfer[] };
      if (type === 'transfers') update({ isConnected: true, transfers });
      if (type === 'ended') end(transfers);
    },
  });
}

function end(transfers: readonly Transfer[]): void {
  for (const transfer of transfers) {
    queries.setQueryData([`/manage/transfers/${transfer.id}`], (former?: object) =>
      former === undefined ? undefined : { ...former, ...transfer, live: undefined },
    );
  }
  const ended = new Set(transfers.map(({ id }) => id));
  update({ ...state, transfers: state.transfers.filter(({ id }) => !ended.has(id)) });
  refreshSoon('/manage/transfers?', OVERVIEW, '/manage/usage');
}
