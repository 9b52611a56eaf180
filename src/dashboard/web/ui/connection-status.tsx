/** The status of a connection, the worst that is known, for all screens. */
import { type ReactElement, useCallback, useState } from 'react';
import { useRead } from '../api/hooks.ts';
import { useOverview } from '../api/overview.ts';
import type { Connection } from '../api/types.ts';
import { t } from '../texts/texts.ts';
import { Badge, type Tone } from './basics.tsx';

const EVERY_MS = 30_000;
const TONES = { off: 'warn', down: 'bad', failing: 'bad', unknown: 'plain', up: 'good' } as const satisfies Record<
  string,
  Tone
>;
export type ConnectionStatus = keyof typeof TONES;

type Subject = Pick<Connection, 'id' | 'isActive'> & { readonly lastTest?: Connection['lastTest'] };

/** The lookup returns undefined before the answer. */
export function useConnectionStatus(isWanted = true): (connection: Subject) => ConnectionStatus | undefined {
  const health = useRead('/manage/health', { everyMs: EVERY_MS, isWanted }).data;
  const attention = useOverview().data?.attention;
  return useCallback(
    ({ id, isActive, lastTest }) => {
      if (!isActive) return 'off';
      if (health === undefined || attention === undefined) return undefined;
      const seen = health.connections.find((one) => one.id === id);
      if (seen?.state === 'down') return 'down';
      const fails = attention.some(({ kind, connectionId }) => kind === 'connection_failing' && connectionId === id);
      const hasFailedTest = lastTest?.isOk === false && lastTest.testedAt > (seen?.reachedAt ?? '');
      if (fails || hasFailedTest || (seen?.error ?? null) !== null) return 'failing';
      return seen?.state === 'up' ? 'up' : 'unknown';
    },
    [health, attention],
  );
}

export function ConnectionBadge({ status }: { readonly status: ConnectionStatus | undefined }): ReactElement | null {
  return status === undefined ? null : <Badge tone={TONES[status]}>{t.connections.status[status]}</Badge>;
}

type Option = readonly [id: string, name: string];

/** Options for choosing a connection, with the status beside each name, as in lists. */
export function useConnectionOptions(): (connections: readonly (Subject & { readonly name: string })[]) => Option[] {
  const statusOf = useConnectionStatus();
  return (connections) =>
    connections.map((connection) => [connection.id, namedWith(connection.name, statusOf(connection))]);
}

export function namedWith(name: string, status: ConnectionStatus | undefined): string {
  return status === undefined ? name : t.connections.withStatus(name, t.connections.status[status]);
}

const FAILING: readonly unknown[] = ['down', 'failing'] satisfies ConnectionStatus[];

/**
 * The connections that a form may preselect: the active ones that do not fail, or all active ones if each of them
 * fails. Undefined before the statuses are known, or if they are not wanted. Later statuses change nothing: the user
 * may have begun.
 */
export function usePreferredConnections(isWanted = true): readonly Connection[] | undefined {
  const connections = useRead('/manage/connections', { isWanted }).data?.connections;
  const reads = [useRead('/manage/health', { everyMs: EVERY_MS, isWanted }), useOverview()];
  const statusOf = useConnectionStatus(isWanted);
  const [kept, keep] = useState<readonly Connection[]>();
  if (kept !== undefined) return kept;
  if (connections === undefined || reads.some(({ isPending }) => isPending)) return undefined;
  const active = connections.filter(({ isActive }) => isActive);
  const working = active.filter((connection) => !FAILING.includes(statusOf(connection)));
  const preferred = working.length === 0 ? active : working;
  keep(preferred);
  return preferred;
}
