/** The form of a key: its permissions, connections, addresses and lifetime. */
import type { ReactElement } from 'react';
import { ALL_SCOPES } from '../../../../contract/scopes.ts';
import type { ApiKey } from '../../api/types.ts';
import { useConnections } from '../../api/names.ts';
import { t } from '../../texts/texts.ts';
import type { Draft } from '../../ui/draft.ts';
import { RadioGroup } from '../../ui/fields.tsx';
import { ConnectionChoices, ThingDialog, useForm } from '../../ui/form.tsx';

const words = t.keys.form;

export const READS = ['/manage/api-keys', '/manage/overview'];

export interface Issued {
  readonly apiKey: ApiKey;
  readonly key: string;
}

type Props =
  | { readonly former?: undefined; readonly onClose: () => void; readonly onIssued: (issued: Issued) => void }
  | { readonly former: ApiKey; readonly onClose: () => void; readonly onIssued?: undefined };

export function KeyForm({ former, onClose, onIssued }: Props): ReactElement {
  const hasConnections = useConnections().length > 0;
  const limitedTo = former?.connections ?? [];
  const form = useForm(['apiKey'], {
    former,
    keepAs: former === undefined ? 'apiKey' : undefined,
    start: { reach: limitedTo.length > 0 ? 'some' : 'every', limitedTo },
    adjust: (draft) => ({ ...draft, connections: isLimited(draft) ? (draft['limitedTo'] ?? []) : [] }),
  });
  return (
    <ThingDialog<Issued>
      form={form}
      former={former}
      at="/manage/api-keys"
      refreshes={READS}
      title={former === undefined ? t.keys.add : t.words.editing(former.name)}
      verb={former === undefined ? words.verb : t.form.save}
      says={former === undefined ? undefined : t.keys.changed}
      onDone={(issued) => (onIssued === undefined ? onClose() : onIssued(issued))}
      onClose={onClose}
      groups={[{ names: ['name', 'scopes', 'connections'], isPlain: true }, { names: ['allowedIps', 'expiresAt'] }]}
      special={{
        name: { isFirst: true },
        scopes: {
          term: 'rights',
          areNames: true,
          options: ALL_SCOPES.map((scope) => [scope, t.fields.apiKey.scopes.choices[scope]]),
        },
        connections: {
          draw: () =>
            isAdmin(form.draft['scopes']) ? (
              <p className="hint">{words.adminHint}</p>
            ) : (
              hasConnections && (
                <>
                  <RadioGroup
                    label={t.fields.apiKey.connections.label}
                    value={String(form.draft['reach'])}
                    options={[
                      ['every', words.every],
                      ['some', words.some],
                    ]}
                    onValue={(reach) => form.set({ reach })}
                  />
                  {isLimited(form.draft) && (
                    <div className="inset">
                      <ConnectionChoices
                        label={words.some}
                        isLabelHidden
                        chosen={form.draft['connections'] as readonly string[]}
                        onChoose={(chosen) => form.set({ limitedTo: chosen })}
                        hint={undefined}
                        fault={form.draft['connections']?.toString() === '' ? words.chooseSome : undefined}
                      />
                    </div>
                  )}
                </>
              )
            ),
        },
      }}
    />
  );
}

function isLimited(draft: Draft): boolean {
  return draft['reach'] === 'some' && !isAdmin(draft['scopes']);
}

function isAdmin(scopes: unknown): boolean {
  return Array.isArray(scopes) && scopes.includes('admin');
}
