/** Who is told of what: a new webhook, or changes of one. */
import { useState, type ReactElement } from 'react';
import { request } from '../../api/client.ts';
import { useAction, useRead } from '../../api/hooks.ts';
import type { Connection, EventType, NewWebhook, Webhook } from '../../api/types.ts';
import { t } from '../../texts/texts.ts';
import { FormDialog } from '../../ui/dialog.tsx';
import { CheckField, TextField } from '../../ui/fields.tsx';
import { EVENT_TYPES } from '../events/words.ts';

type Draft = Required<Pick<NewWebhook, 'url' | 'events' | 'connections'>>;

const READS = ['/api/webhooks'];
const TYPES = Object.keys(EVENT_TYPES) as EventType[];
const NEW: Draft = { url: '', events: ['transfer.failed', 'connection.down', 'connection.up'], connections: [] };

type Props =
  | { readonly former?: undefined; readonly onClose: () => void; readonly onMade: (secret: string) => void }
  | { readonly former: Webhook; readonly onClose: () => void; readonly onMade?: undefined };

export function WebhookForm({ former, onClose, onMade }: Props): ReactElement {
  const [draft, setDraft] = useState<Draft>(former ?? NEW);
  const { url, events, connections } = draft;
  const type = (to: Partial<Draft>): void => setDraft((before) => ({ ...before, ...to }));
  const create = useAction(() => request<{ secret: string }>('POST', '/api/webhooks', draft), {
    refreshes: READS,
    showsError: true,
    onDone: ({ secret }) => onMade?.(secret),
  });
  const change = useAction(
    (webhook: Webhook) => request('PATCH', `/api/webhooks/${webhook.id}`, changes(draft, webhook)),
    {
      says: t.webhooks.form.saved,
      refreshes: READS,
      showsError: true,
      onDone: onClose,
    },
  );
  return (
    <FormDialog
      title={former === undefined ? t.webhooks.form.addTitle : t.webhooks.form.editTitle}
      verb={former === undefined ? t.webhooks.form.addVerb : t.webhooks.form.save}
      size="medium"
      keepsOpen
      isBusy={create.isPending || change.isPending}
      isReady={url.trim() !== '' && events.length > 0}
      error={former === undefined ? create.error : change.error}
      onClose={onClose}
      onSend={() => {
        if (former === undefined) create.mutate(undefined);
        else change.mutate(former);
      }}
    >
      <TextField
        label={t.webhooks.url}
        type="url"
        required
        value={url}
        onText={(to) => type({ url: to })}
        maxLength={2048}
        placeholder="https://example.com/hooks/gateway"
        hint={t.webhooks.form.urlHint}
        isFirst
      />
      <Choices
        legend={t.events.title}
        options={TYPES.map((name) => ({ value: name, label: name, hint: EVENT_TYPES[name] }))}
        chosen={events}
        onChoose={(to) => type({ events: to })}
      />
      <ConnectionChoices chosen={connections} onChoose={(to) => type({ connections: to })} />
    </FormDialog>
  );
}

/** What differs: a field that is sent is checked and stands in the audit log. */
function changes(draft: Draft, former: Webhook): Partial<Draft> {
  const isOther = <T,>(one: readonly T[], other: readonly T[]): boolean =>
    one.length !== other.length || one.some((item) => !other.includes(item));
  return {
    ...(draft.url === former.url ? {} : { url: draft.url }),
    ...(isOther(draft.events, former.events) ? { events: draft.events } : {}),
    ...(isOther(draft.connections, former.connections) ? { connections: draft.connections } : {}),
  };
}

function ConnectionChoices(props: {
  readonly chosen: readonly string[];
  readonly onChoose: (to: string[]) => void;
}): ReactElement | null {
  const { chosen, onChoose } = props;
  const read = useRead<{ connections: Connection[] }>('/manage/connections');
  const known = (read.data?.connections ?? []).map(({ id, name }) => ({ value: id, label: name }));
  // Of a connection that has been deleted.
  const missing = chosen.filter((id) => !known.some(({ value }) => value === id));
  const options = [...known, ...missing.map((id) => ({ value: id, label: id }))];
  if (options.length === 0) return null;
  return (
    <Choices
      legend={t.webhooks.form.connections}
      options={options}
      chosen={chosen}
      onChoose={onChoose}
      hint={t.webhooks.form.connectionsHint}
    />
  );
}

function Choices<V extends string>(props: {
  readonly legend: string;
  readonly options: readonly { readonly value: V; readonly label: string; readonly hint?: string }[];
  readonly chosen: readonly V[];
  readonly onChoose: (to: V[]) => void;
  readonly hint?: string;
}): ReactElement {
  const { legend, options, chosen, onChoose, hint } = props;
  return (
    <fieldset className="plain-fieldset stack tight">
      <legend className="field-label">{legend}</legend>
      {options.map(({ value, ...words }) => (
        <CheckField
          key={value}
          {...words}
          checked={chosen.includes(value)}
          onCheck={(isOn) => onChoose(isOn ? [...chosen, value] : chosen.filter((one) => one !== value))}
        />
      ))}
      {hint !== undefined && <p className="hint">{hint}</p>}
    </fieldset>
  );
}
