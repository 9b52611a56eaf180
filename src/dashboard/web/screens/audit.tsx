/** The audit log: who changed what, and from where, as sentences. Each entry opens in its raw form. */
import { type ReactElement, useState } from 'react';
import { FILTER_NAMES } from '../../../contract/derived/filter-names.ts';
import { withQuery } from '../api/client.ts';
import { usePages } from '../api/hooks.ts';
import type { AuditEntry } from '../api/types.ts';
import { t } from '../texts/texts.ts';
import { actions, Button, CodeBlock, Facts, Mono, Time } from '../ui/basics.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { timeFields, timePresets, useFilters } from '../ui/filters.tsx';
import { ScrollText } from '../ui/icons.tsx';
import { ListScreen } from '../ui/list-screen.tsx';

const words = t.audit;

export default function Audit(): ReactElement {
  const filters = useFilters(FILTER_NAMES.audit);
  const [shown, setShown] = useState<AuditEntry>();
  return (
    <ListScreen
      title={t.places.audit}
      words={words}
      icon={ScrollText}
      list={usePages(withQuery('/manage/audit', { ...filters.values, limit: 50 }), 'entries')}
      filters={filters}
      presets={[
        ...timePresets(),
        ...(['login', 'connection', 'api_key'] as const).map((action) => ({
          name: words.areas[action],
          filters: { action },
        })),
      ]}
      fields={[{ name: 'action', label: t.words.show, options: Object.entries(words.areas) }, ...timeFields()]}
      columns={[
        {
          head: t.words.what,
          grow: 100,
          cell: (entry) => (
            <span className={/failed|refused|locked/.test(entry.action) ? 'bad-text' : ''} title={sentenceOf(entry)}>
              {sentenceOf(entry)}
            </span>
          ),
        },
        { name: 'action', head: words.action, isSecondary: true, cell: ({ action }) => <Mono>{action}</Mono> },
        { name: 'address', head: words.address, isSecondary: true, cell: ({ address }) => <Mono>{address}</Mono> },
        { name: 'when', head: t.words.when, cell: ({ at }) => <Time iso={at} form="seconds" /> },
        actions<AuditEntry>((entry) => (
          <Button onClick={() => setShown(entry)} aria-label={words.openOne(sentenceOf(entry))}>
            {t.files.menu.open}
          </Button>
        )),
      ]}
    >
      {shown !== undefined && <OpenedEntry entry={shown} onClose={() => setShown(undefined)} />}
    </ListScreen>
  );
}

/** An action of another version is shown by its code. */
function sentenceOf({ action, target, actor }: AuditEntry): string {
  const texts: Readonly<Record<string, string>> = words.actions;
  const name = target === null ? '' : target.name === null || target.name === '' ? target.id : target.name;
  const actorName =
    actor.kind === 'anonymous' ? words.anonymous : actor.kind === 'key' ? t.words.keyNamed(actor.name) : actor.name;
  const text = texts[action];
  if (text === undefined) return words.by(`${action} ${name}`, actorName);
  return text.replace(/\{(name|actor)\}/g, (_, which) => (which === 'name' ? name : actorName));
}

function OpenedEntry({ entry, onClose }: { readonly entry: AuditEntry; readonly onClose: () => void }): ReactElement {
  const { at, action, actor, address, target } = entry;
  return (
    <Dialog title={sentenceOf(entry)} onClose={onClose} size="large">
      <Facts
        isWide
        of={{
          [words.action]: <Mono>{action}</Mono>,
          [words.on]: target !== null && (target.name ?? target.id),
          [words.actor]: actor.name,
          [words.address]: <Mono>{address ?? '–'}</Mono>,
          [t.words.when]: <Time iso={at} form="long" />,
        }}
      />
      <CodeBlock code={JSON.stringify(entry, null, 2)} label={words.raw} />
    </Dialog>
  );
}
