/** Which deliveries are shown: what stands in the address. */
import { type ReactElement, useEffect, useState } from 'react';
import { useSearchParams } from 'wouter';
import { useRead } from '../../api/hooks.ts';
import type { Connection, Delivery, WatchedFolder, Webhook } from '../../api/types.ts';
import { t } from '../../texts/texts.ts';
import { ChoiceField, TextField } from '../../ui/fields.tsx';
import { FEED_TYPES } from '../events/words.ts';

const FILTERS = [
  'state',
  'type',
  'watchedFolderId',
  'webhookId',
  'jobId',
  'connectionId',
  'url',
  'since',
  'until',
] as const;
type Filter = (typeof FILTERS)[number];
export type Filters = Partial<Record<Filter, string>>;

const STATES: readonly Delivery['state'][] = ['pending', 'delivered', 'dead', 'cancelled'];
const TYPING_MS = 250;

/** Changing a filter goes back to the first page. */
export function useFilters(): readonly [Filters, offset: number, change: (to: Filters, offset?: number) => void] {
  const [parameters, setParameters] = useSearchParams();
  const filters = Object.fromEntries(
    FILTERS.flatMap((name) => (parameters.get(name) ? [[name, parameters.get(name)]] : [])),
  ) as Filters;
  const offset = Math.max(0, Math.trunc(Number(parameters.get('offset') ?? 0)) || 0);
  const change = (to: Filters, at = 0): void => {
    const next = { ...filters, ...to, ...(at === 0 ? {} : { offset: String(at) }) };
    setParameters(Object.fromEntries(Object.entries(next).filter(([, value]) => value !== '')), { replace: at === 0 });
  };
  return [filters, offset, change];
}

export function FilterBar({
  filters,
  onChange,
}: {
  readonly filters: Filters;
  readonly onChange: (to: Filters) => void;
}): ReactElement {
  const connections = useRead<{ connections: Connection[] }>('/manage/connections');
  const folders = useRead<{ watchedFolders: WatchedFolder[] }>('/manage/watched-folders');
  const webhooks = useRead<{ webhooks: Webhook[] }>('/api/webhooks');
  const words = t.deliveries.filters;
  const all = ['', words.all] as const;
  const receivers = [
    ...(folders.data?.watchedFolders ?? [])
      .filter(({ webhookUrl }) => webhookUrl !== null)
      .map(({ id, name }) => [`folder ${id}`, words.folder(name)] as const),
    ...(webhooks.data?.webhooks ?? []).map(({ id, url }) => [`webhook ${id}`, words.webhook(url)] as const),
  ];
  const { watchedFolderId, webhookId } = filters;
  const receiver =
    watchedFolderId !== undefined ? `folder ${watchedFolderId}` : webhookId !== undefined ? `webhook ${webhookId}` : '';
  return (
    <search className="filters">
      <UrlField value={filters.url ?? ''} onValue={(url) => onChange({ url })} />
      <ChoiceField
        label={words.state}
        value={filters.state ?? ''}
        onText={(state) => onChange({ state })}
        options={[all, ...STATES.map((state) => [state, t.deliveries.states[state]] as const)]}
      />
      <ChoiceField
        label={words.type}
        value={filters.type ?? ''}
        onText={(type) => onChange({ type })}
        options={[all, ...FEED_TYPES.map((type) => [type, type] as const)]}
      />
      <ChoiceField
        label={words.receiver}
        value={receiver}
        onText={(value) => {
          const [kind, id = ''] = value.split(' ');
          onChange({ watchedFolderId: kind === 'folder' ? id : '', webhookId: kind === 'webhook' ? id : '' });
        }}
        options={[all, ...receivers]}
      />
      <ChoiceField
        label={words.connection}
        value={filters.connectionId ?? ''}
        onText={(connectionId) => onChange({ connectionId })}
        options={[all, ...(connections.data?.connections ?? []).map(({ id, name }) => [id, name] as const)]}
      />
      <TextField
        label={words.since}
        type="datetime-local"
        value={localTime(filters.since)}
        onText={(value) => onChange({ since: isoTime(value) })}
      />
      <TextField
        label={words.until}
        type="datetime-local"
        value={localTime(filters.until)}
        onText={(value) => onChange({ until: isoTime(value) })}
      />
    </search>
  );
}

/** Waits for a pause in the typing; follows the address when that changes by itself. */
function UrlField({ value, onValue }: { readonly value: string; readonly onValue: (value: string) => void }) {
  const [text, setText] = useState(value);
  const [sent, setSent] = useState(value);
  if (value !== sent) {
    setSent(value);
    setText(value);
  }
  useEffect(() => {
    if (text === sent) return undefined;
    const timer = setTimeout(() => {
      setSent(text);
      onValue(text);
    }, TYPING_MS);
    return () => clearTimeout(timer);
  }, [text, sent, onValue]);
  return (
    <TextField
      label={t.deliveries.filters.url}
      type="search"
      value={text}
      onText={setText}
      maxLength={200}
      placeholder="example.com"
    />
  );
}

function localTime(iso: string | undefined): string {
  const date = new Date(iso ?? '');
  if (Number.isNaN(date.getTime())) return '';
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

function isoTime(local: string): string {
  return local === '' ? '' : new Date(local).toISOString();
}
