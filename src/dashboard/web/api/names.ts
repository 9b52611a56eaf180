/** Names of connections and other objects by the ids in rows. Unknown or deleted objects are named by their id. */
import { useRead } from './hooks.ts';
import type { ApiKey, Connection } from './types.ts';

export function useConnections(): readonly Connection[] {
  return useRead('/manage/connections').data?.connections ?? [];
}

export function useConnectionName(): (id: string | null) => string {
  const connections = useConnections();
  return (id) => connections.find((one) => one.id === id)?.name ?? id ?? '–';
}

export function useKeys(): readonly Pick<ApiKey, 'id' | 'name'>[] {
  return useRead('/manage/api-keys').data?.apiKeys ?? [];
}
