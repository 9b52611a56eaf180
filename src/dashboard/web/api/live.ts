/** Running transfers by server-sent events: one stream for the page, open while a component looks. */
import { useSyncExternalStore } from 'react';
import { queries, refreshSoon } from './hooks.ts';
import { request } from './client.ts';
import { OVERVIEW } from './overview.ts';
import { sessionEnd } from './session-end.ts';
import type { Transfer } from './types.ts';

interface LiveState {
  readonly isConnected: boolean;
  readonly transfers: readonly Transfer[];
}

const AGAIN_MS = 5_000;
const NOTHING: LiveState = { isConnected: false, transfers: [] };
let state = NOTHING;
let source: EventSource | undefined;
const listeners = new Set<() => void>();

export function useLiveTransfers(): LiveState {
  return useSyncExternalStore(subscribe, () => state);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  if (source === undefined) open();
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    source?.close();
    source = undefined;
    state = NOTHING;
  };
}

function update(next: LiveState): void {
  state = next;
  for (const listener of listeners) listener();
}

function open(): void {
  const stream = new EventSource('/manage/events?batch=true');
  source = stream;
  stream.addEventListener('transfers', (event) => {
    const { transfers } = JSON.parse(String(event.data)) as { transfers: Transfer[] };
    update({ isConnected: true, transfers });
  });
  stream.addEventListener('ended', (event) => {
    const { transfers } = JSON.parse(String(event.data)) as { transfers: Transfer[] };
    for (const transfer of transfers) {
      queries.setQueryData([`/manage/transfers/${transfer.id}`], (former?: object) =>
        former === undefined ? undefined : { ...former, ...transfer, live: undefined },
      );
    }
    const ended = new Set(transfers.map(({ id }) => id));
    update({ ...state, transfers: state.transfers.filter(({ id }) => !ended.has(id)) });
    refreshSoon('/manage/transfers?', OVERVIEW, '/manage/usage');
  });
  const openLater = (): void => {
    setTimeout(() => {
      if (source !== stream || listeners.size === 0) return;
      if (sessionEnd() === undefined) open();
      else openLater();
    }, AGAIN_MS);
  };
  stream.addEventListener('error', () => {
    update({ ...state, isConnected: false });
    // The browser opens the stream again by itself, except where it was refused: then the session may be over.
    if (stream.readyState !== EventSource.CLOSED || source !== stream) return;
    request('GET', '/manage/session').then(openLater, openLater);
  });
}
