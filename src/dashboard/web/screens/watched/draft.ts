import type { WatchedFolder } from '../../api/types.ts';

/** What is typed for a watch, and the request it becomes: of a new one, what was left empty is left out. */
export const AFTER_DELIVERY = [
  ['keep', 'Leave it where it is'],
  ['move', 'Move it to another folder'],
  ['delete', 'Delete it'],
] as const;

export interface WatchDraft {
  readonly connectionId: string;
  readonly path: string;
  readonly name: string;
  readonly scheduleMinutes: string;
  readonly filePattern: string;
  readonly excludePattern: string;
  readonly webhookUrl: string;
  readonly detectModified: boolean;
  readonly recursive: boolean;
  readonly initial: 'ignore' | 'report';
  readonly doneFile: string;
  readonly minAgeSeconds: string;
  readonly afterDelivery: (typeof AFTER_DELIVERY)[number][0];
  readonly moveTo: string;
  readonly expectEveryMinutes: string;
}

export const NEW_WATCH: WatchDraft = {
  connectionId: '',
  path: '',
  name: '',
  scheduleMinutes: '5',
  filePattern: '',
  excludePattern: '',
  webhookUrl: '',
  detectModified: false,
  recursive: false,
  initial: 'ignore',
  doneFile: '',
  minAgeSeconds: '',
  afterDelivery: 'keep',
  moveTo: '',
  expectEveryMinutes: '',
};

const TEXTS = ['name', 'filePattern', 'excludePattern', 'webhookUrl', 'doneFile'] as const;
const NUMBERS = ['scheduleMinutes', 'minAgeSeconds', 'expectEveryMinutes'] as const;

/** The body of POST /manage/watched-folders. */
export function toRequest(draft: WatchDraft): Readonly<Record<string, unknown>> {
  const { connectionId, path, detectModified, recursive, initial } = draft;
  // Without a webhook there is no delivery that anything could follow.
  const afterDelivery = draft.webhookUrl.trim() === '' ? 'keep' : draft.afterDelivery;
  const moveTo = afterDelivery === 'move' ? draft.moveTo.trim() : '';
  const texts = TEXTS.map((name) => [name, draft[name].trim()] as const).filter(([, text]) => text !== '');
  const numbers = NUMBERS.filter((name) => draft[name] !== '').map((name) => [name, Number(draft[name])] as const);
  const filledIn = Object.fromEntries<string | number>([...texts, ...numbers]);
  return {
    connectionId,
    path: path.trim(),
    detectModified,
    recursive,
    initial,
    afterDelivery,
    ...(moveTo === '' ? {} : { moveTo }),
    ...filledIn,
  };
}

/** A watch as it stands, to be changed. */
export function draftOf(folder: WatchedFolder): WatchDraft {
  const { filePattern, excludePattern, webhookUrl, doneFile, moveTo, expectEveryMinutes } = folder;
  return {
    ...NEW_WATCH,
    connectionId: folder.connectionId,
    path: folder.path,
    name: folder.name,
    scheduleMinutes: String(folder.scheduleMinutes),
    detectModified: folder.detectModified,
    recursive: folder.recursive,
    initial: folder.initial,
    minAgeSeconds: String(folder.minAgeSeconds),
    afterDelivery: folder.afterDelivery,
    filePattern: filePattern ?? '',
    excludePattern: excludePattern ?? '',
    webhookUrl: webhookUrl ?? '',
    doneFile: doneFile ?? '',
    moveTo: moveTo ?? '',
    expectEveryMinutes: expectEveryMinutes === null ? '' : String(expectEveryMinutes),
  };
}

/** The body of PATCH /manage/watched-folders/{id}: what was emptied is taken away. */
export function toChanges(draft: WatchDraft, former: WatchedFolder): Readonly<Record<string, unknown>> {
  const { connectionId: _connection, path, ...wanted } = toRequest(draft);
  const emptied = { filePattern: null, excludePattern: null, webhookUrl: null, doneFile: null };
  return {
    ...emptied,
    expectEveryMinutes: null,
    minAgeSeconds: 0,
    ...wanted,
    ...(path === former.path ? {} : { path }),
  };
}
