/** Running transfers by server-sent events. The page has one stream, which is open while a component shows them. */
import { store } from '../store.ts';
import { queries, refreshSoon } from './hooks.ts';
import { OVERVIEW } from './overview.ts';
import { readStream } from './stream.ts';
import type { Transfer } from './types.ts';

interface LiveState {
  readonly isConnected: boolean;
  readonly transfers: readonly Transfer[];
}

const NOTHING: LiveState = { isConnected: false, transfers: [] };
const live = store(NOTHING, open);
export const useLiveTransfers = live.use;

function open(): () => void {
  const close = readStream('/manage/events?batch=true', {
    onOpen: (isOpen) => {
      if (!isOpen) live.set({ ...live.get(), isConnected: false });
    },
    take: ({ type, data }) => {
      const { transfers } = JSON.parse(data) as { readonly transfers: readonly Transfer[] };
      if (type === 'transfers') live.set({ isConnected: true, transfers });
      if (type === 'ended') end(transfers);
    },
  });
  return () => {
    close();
    live.set(NOTHING);
  };
}

function end(transfers: readonly Transfer[]): void {
  for (const transfer of transfers) {
    queries.setQueryData([`/manage/transfers/${transfer.id}`], (former?: object) =>
      former === undefined ? undefined : { ...former, ...transfer, live: undefined },
    );
  }
  const ended = new Set(transfers.map(({ id }) => id));
  live.set({ ...live.get(), transfers: live.get().transfers.filter(({ id }) => !ended.has(id)) });
  refreshSoon('/manage/transfers?', OVERVIEW, '/manage/usage');
}
