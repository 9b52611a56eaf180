/** The entries of the palette: screens, objects of the account, and actions. */
import { useMemo } from 'react';
import { useLocation } from 'wouter';
import { segment } from '../api/client.ts';
import { useRows } from '../api/hooks.ts';
import type { Connection } from '../api/types.ts';
import { LANGUAGES, language, setLanguage, setTheme, THEMES } from '../preferences.ts';
import { namedWith, useConnectionStatus } from '../ui/connection-status.tsx';
import { ALL_PLACES, DOCS } from '../shell/places.ts';
import { t } from '../texts/texts.ts';
import { leave } from '../ui/unsaved.ts';
import { fits } from './fuzzy.ts';

export interface Entry {
  readonly id: string;
  readonly kind: keyof typeof t.palette.kinds;
  readonly name: string;
  /** Other words that find the entry: an id, an English name. */
  readonly also?: string;
  /** Shown beside the name. */
  readonly detail?: string;
  readonly act: () => void;
}

export interface Acts {
  readonly onHelp: () => void;
  readonly onLogout: () => void;
}

const MOST = 40;
/** Most entries of one kind before the user types. */
const MOST_UNASKED = 6;
const WHOLE_ID = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/i;
/** Among equal names, the kind that comes first here wins. */
const ORDER: readonly Entry['kind'][] = [
  'screen',
  'action',
  'connection',
  'files',
  'watched',
  'webhook',
  'key',
  'transfer',
];

export function useEntries({ onHelp, onLogout }: Acts): readonly Entry[] {
  const [, navigate] = useLocation();
  const connections = useRows('/manage/connections', 'connections').rows;
  const folders = useRows('/manage/watched-folders', 'watchedFolders').rows;
  const webhooks = useRows('/api/webhooks', 'webhooks').rows;
  const keys = useRows('/manage/api-keys', 'apiKeys').rows;
  const transfers = useRows('/manage/transfers?limit=50', 'transfers').rows;
  const statusOf = useConnectionStatus();
  return useMemo(() => {
    const to = (path: string) => () => navigate(path);
    /** `path` is the screen's address, to which the id is added. */
    const entriesOf = <T extends { readonly id: string }>(
      kind: Entry['kind'],
      path: string,
      items: readonly T[] = [],
      more: (item: T) => Pick<Entry, 'name' | 'also' | 'detail'>,
    ): Entry[] =>
      items.map((thing) => {
        const { id } = thing;
        return { id: `${kind} ${id}`, kind, also: id, act: to(`${path}${segment(id)}`), ...more(thing) };
      });
    const nameOf = (connection: Connection): string => namedWith(connection.name, statusOf(connection));
    const usable = connections?.filter(({ isActive }) => isActive);
    const valid = keys?.filter(({ state }) => state === 'active');
    return [
      ...ALL_PLACES.map(({ path, name, letter }): Entry => ({
        id: `screen ${path}`,
        kind: 'screen',
        name,
        also: path.slice(1),
        detail: `g ${letter}`,
        act: to(path),
      })),
      ...actions(to, onHelp, onLogout),
      ...entriesOf('connection', '/connections/', connections, (one) => ({ name: nameOf(one), detail: one.id })),
      ...entriesOf('files', '/files/', usable, (one) => ({ name: t.palette.filesOf(nameOf(one)) })),
      ...entriesOf('watched', '/watched/', folders, ({ id, name, path }) => ({
        name: name ?? path,
        also: `${path} ${id}`,
        detail: path,
      })),
      ...entriesOf('webhook', '/webhooks/', webhooks, ({ url }) => ({ name: url })),
      ...entriesOf('key', '', valid, ({ name }) => ({ name })).map((entry) => ({ ...entry, act: to('/keys') })),
      ...entriesOf('transfer', '/transfers/', transfers, ({ id, filename, type }) => ({
        name: `${type} ${filename ?? ''}`.trim(),
        detail: id,
      })),
    ];
  }, [connections, statusOf, folders, webhooks, keys, transfers, navigate, onHelp, onLogout]);
}

function actions(to: (path: string) => () => void, onHelp: () => void, onLogout: () => void): readonly Entry[] {
  const { does } = t.palette;
  const action = (id: string, name: string, act: () => void): Entry => ({ id, kind: 'action', name, also: id, act });
  return [
    action('new connection', t.connections.add, to('/connections/new')),
    action('upload', does.upload, to('/files')),
    action('issue key', does.issueKey, to('/keys?new')),
    action('new job', does.newJob, to('/jobs/new')),
    action('new schedule', does.newSchedule, to('/schedules/new')),
    action('watch folder', t.watched.add, to('/watched')),
    action('make link', t.links.add, to('/links?new')),
    action('add webhook', t.webhooks.add, to('/webhooks')),
    ...THEMES.map((theme) => action(`theme ${theme}`, does.theme(t.settings[theme]), () => setTheme(theme))),
    ...LANGUAGES.filter(([code]) => code !== language).map(([code, name]) =>
      action(`language ${code}`, does.language(name), () => leave(() => setLanguage(code))),
    ),
    action('keyboard', does.keyboard, onHelp),
    action('docs', does.docs, () => void open(DOCS, '_blank', 'noreferrer')),
    action('log out', t.shell.logOut, onLogout),
  ];
}

/** The entries that match the typed text, best first. A complete id leads to its transfer or job even if no entry has it. */
export function found(entries: readonly Entry[], typed: string, navigate: (path: string) => void): readonly Entry[] {
  const words = typed.trim();
  if (words === '') {
    return ORDER.flatMap((kind) => entries.filter((entry) => entry.kind === kind).slice(0, countOf(kind)));
  }
  const direct = WHOLE_ID.test(words)
    ? (['transfers', 'jobs'] as const).map((what): Entry => ({
        id: `${what} by id`,
        kind: 'transfer',
        name: t.palette.byId[what],
        detail: words,
        act: () => navigate(`/${what}/${words.toLowerCase()}`),
      }))
    : [];
  const fitting = entries.flatMap((entry) => {
    const byName = fits(words, entry.name) ?? 0;
    const byOther = entry.also === undefined ? 0 : (fits(words, entry.also) ?? 0) / 2;
    const score = Math.max(byName, byOther);
    return score > 0 ? [{ entry, score }] : [];
  });
  fitting.sort((a, b) => b.score - a.score || ORDER.indexOf(a.entry.kind) - ORDER.indexOf(b.entry.kind));
  return [...direct, ...fitting.map(({ entry }) => entry)].slice(0, MOST);
}

function countOf(kind: Entry['kind']): number {
  return kind === 'screen' || kind === 'action' ? MOST : kind === 'transfer' ? 3 : MOST_UNASKED;
}
