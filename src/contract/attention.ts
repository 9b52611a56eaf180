/**
 * Everything that needs a person: each kind is defined once, in both languages. A new kind is an entry here and a line
 * in src/attention/find.ts. The API, events and mails, the dashboard, and the table of the documentation are derived
 * from it.
 */
import type { Language } from './languages.js';

/** `{name}`, `{error}`, `{count}`, `{limit}` and `{at}` in a text are replaced by the facts of an item. */
interface AttentionTexts {
  /** For mails and the API. A pair: for one, and for several. */
  readonly text: string | readonly [one: string, several: string];
  /** For the dashboard, which shows error and time below it. Absent: `text`. */
  readonly title?: string | readonly [one: string, several: string];
  /** Names the alarm in the list of alarms: "Send an alarm when …". */
  readonly choice: string;
  /** Labels the button that leads to its page. */
  readonly open: string;
}

interface AttentionDefinition {
  /** The thing with the trouble; absent: the whole account. */
  readonly about?: 'connection' | 'watchedFolder' | 'schedule' | 'apiKey';
  /** The facts of an item, except id and name of the thing. */
  readonly facts: keyof FactTypes;
  /** Files do not move while it lasts: it may break quiet hours. A quota is urgent once it is used up. */
  readonly isUrgent?: true;
  /** It begins and ends as planned: alarms leave it out until it is chosen. */
  readonly isPlanned?: true;
  /** The page of the dashboard with the remedy; absent: the page of the thing. */
  readonly page?: string;
  /** The condition, for the documentation, in Markdown. */
  readonly found: string;
  readonly en: AttentionTexts;
  readonly de: AttentionTexts;
}

interface FactTypes {
  readonly error: { readonly error: string | null; readonly errorCode: string | null };
  readonly dueAt: { readonly dueAt: Date };
  readonly expiresAt: { readonly expiresAt: Date };
  readonly count: { readonly count: number };
  readonly month: { readonly used: number; readonly limit: number };
}

/** The worst first: stopped work, lost data, work that will stop soon. */
const kinds = {
  connection_failing: {
    about: 'connection',
    facts: 'error',
    isUrgent: true,
    found:
      'it is known to be down. Or its last three operations of the last day that show it, or its last test, could not reach the server or log in: `dns_failed` `unreachable` `connect_timeout` `certificate_rejected` `host_key_mismatch` `login_refused`. The next success clears it',
    en: {
      text: 'Connection "{name}" fails: {error}',
      title: 'The connection “{name}” is failing',
      choice: 'A connection fails',
      open: 'See the connection',
    },
    de: {
      text: 'Die Verbindung „{name}“ schlägt fehl: {error}',
      title: 'Die Verbindung „{name}“ schlägt fehl',
      choice: 'Eine Verbindung schlägt fehl',
      open: 'Verbindung ansehen',
    },
  },
  watched_folder_failing: {
    about: 'watchedFolder',
    facts: 'error',
    isUrgent: true,
    found: 'its checks fail',
    en: {
      text: 'Checks of the watched folder "{name}" fail: {error}',
      title: 'Checks of the watched folder “{name}” are failing',
      choice: 'Checks of a watched folder fail',
      open: 'See the folder',
    },
    de: {
      text: 'Prüfungen des überwachten Ordners „{name}“ schlagen fehl: {error}',
      title: 'Prüfungen des überwachten Ordners „{name}“ schlagen fehl',
      choice: 'Prüfungen eines überwachten Ordners schlagen fehl',
      open: 'Ordner ansehen',
    },
  },
  schedule_stopped: {
    about: 'schedule',
    facts: 'error',
    isUrgent: true,
    found: 'it stopped by itself, because its key or rights are gone',
    en: {
      text: 'The schedule "{name}" has stopped: {error}',
      title: 'The schedule “{name}” has stopped',
      choice: 'A schedule has stopped',
      open: 'See the schedule',
    },
    de: {
      text: 'Der Zeitplan „{name}“ ist angehalten: {error}',
      title: 'Der Zeitplan „{name}“ ist angehalten',
      choice: 'Ein Zeitplan ist angehalten',
      open: 'Zeitplan ansehen',
    },
  },
  schedule_late: {
    about: 'schedule',
    facts: 'dueAt',
    found: 'it was due five minutes ago and has not begun',
    en: {
      text: 'The schedule "{name}" was due at {at} and has not run',
      title: 'The schedule “{name}” is late',
      choice: 'A schedule is late',
      open: 'See the schedule',
    },
    de: {
      text: 'Der Zeitplan „{name}“ war um {at} fällig und ist nicht gelaufen',
      title: 'Der Zeitplan „{name}“ ist verspätet',
      choice: 'Ein Zeitplan ist verspätet',
      open: 'Zeitplan ansehen',
    },
  },
  copies_failed: {
    facts: 'count',
    page: '/watched',
    found: 'files of the last day that `copyTo` could not copy',
    en: {
      text: [
        '{count} file of watched folders could not be copied',
        '{count} files of watched folders could not be copied',
      ],
      choice: 'Files could not be copied',
      open: 'See the folders',
    },
    de: {
      text: [
        '{count} Datei aus überwachten Ordnern konnte nicht kopiert werden',
        '{count} Dateien aus überwachten Ordnern konnten nicht kopiert werden',
      ],
      choice: 'Dateien konnten nicht kopiert werden',
      open: 'Ordner ansehen',
    },
  },
  dead_letters: {
    facts: 'count',
    page: '/deliveries?state=dead',
    found: 'messages ran out of tries',
    en: {
      text: ['{count} webhook event could not be delivered', '{count} webhook events could not be delivered'],
      title: ['{count} webhook message could not be delivered', '{count} webhook messages could not be delivered'],
      choice: 'Webhook messages could not be delivered',
      open: 'See the messages',
    },
    de: {
      text: [
        '{count} Webhook-Ereignis konnte nicht zugestellt werden',
        '{count} Webhook-Ereignisse konnten nicht zugestellt werden',
      ],
      title: [
        '{count} Webhook-Nachricht konnte nicht zugestellt werden',
        '{count} Webhook-Nachrichten konnten nicht zugestellt werden',
      ],
      choice: 'Webhook-Nachrichten konnten nicht zugestellt werden',
      open: 'Nachrichten ansehen',
    },
  },
  quota: {
    facts: 'month',
    page: '/usage',
    found: '80 % are used, or the forecast says that it runs out',
    en: {
      text: '{count} of the {limit} actions of this month are used',
      choice: 'The actions of the month are nearly used up',
      open: 'See the usage',
    },
    de: {
      text: '{count} von {limit} Aktionen dieses Monats sind verbraucht',
      choice: 'Die Aktionen des Monats sind fast verbraucht',
      open: 'Verbrauch ansehen',
    },
  },
  certificate_expiring: {
    about: 'connection',
    facts: 'expiresAt',
    found: "a server's certificate ends within 14 days",
    en: {
      text: 'The certificate of connection "{name}" expires at {at}',
      title: 'The certificate of “{name}” expires soon',
      choice: 'A certificate expires',
      open: 'See the connection',
    },
    de: {
      text: 'Das Zertifikat der Verbindung „{name}“ läuft ab: {at}',
      title: 'Das Zertifikat von „{name}“ läuft bald ab',
      choice: 'Ein Zertifikat läuft ab',
      open: 'Verbindung ansehen',
    },
  },
  key_expiring: {
    about: 'apiKey',
    facts: 'expiresAt',
    page: '/keys',
    found: 'an API key ends within 7 days',
    en: {
      text: 'API key "{name}" expires at {at}',
      title: 'The API key “{name}” expires soon',
      choice: 'An API key expires',
      open: 'Issue a new key',
    },
    de: {
      text: 'Der API-Schlüssel „{name}“ läuft ab: {at}',
      title: 'Der API-Schlüssel „{name}“ läuft bald ab',
      choice: 'Ein API-Schlüssel läuft ab',
      open: 'Neuen Schlüssel ausstellen',
    },
  },
  host_keys_waiting: {
    about: 'connection',
    facts: 'count',
    found: 'host keys were announced after the first time, and neither accepted nor rejected; one item for each server',
    en: {
      text: [
        'The server of connection "{name}" has announced a new host key, which needs a decision',
        'The server of connection "{name}" has announced {count} new host keys, which need a decision',
      ],
      title: [
        'The server of “{name}” has announced a new host key',
        'The server of “{name}” has announced {count} new host keys',
      ],
      choice: 'A new host key needs a decision',
      open: 'Decide',
    },
    de: {
      text: [
        'Der Server der Verbindung „{name}“ hat einen neuen Hostschlüssel angekündigt; er wartet auf Ihre Entscheidung',
        'Der Server der Verbindung „{name}“ hat {count} neue Hostschlüssel angekündigt; sie warten auf Ihre Entscheidung',
      ],
      title: [
        'Der Server von „{name}“ hat einen neuen Hostschlüssel angekündigt',
        'Der Server von „{name}“ hat {count} neue Hostschlüssel angekündigt',
      ],
      choice: 'Ein neuer Hostschlüssel braucht eine Entscheidung',
      open: 'Entscheiden',
    },
  },
  jobs_waiting: {
    facts: 'count',
    isPlanned: true,
    page: '/jobs?state=running',
    found: 'jobs wait for the [hours](limits-and-hours.md#hours) of their connections',
    en: {
      text: [
        '{count} job waits for the hours of its connections',
        '{count} jobs wait for the hours of their connections',
      ],
      choice: 'Jobs wait for the hours of a connection',
      open: 'See the jobs',
    },
    de: {
      text: [
        '{count} Auftrag wartet auf die Zeiten seiner Verbindungen',
        '{count} Aufträge warten auf die Zeiten ihrer Verbindungen',
      ],
      choice: 'Aufträge warten auf die Zeiten einer Verbindung',
      open: 'Aufträge ansehen',
    },
  },
  watched_folders_waiting: {
    facts: 'count',
    isPlanned: true,
    page: '/watched',
    found: 'watched folders wait for the [hours](limits-and-hours.md#hours) of their connections',
    en: {
      text: [
        '{count} watched folder waits for the hours of its connection',
        '{count} watched folders wait for the hours of their connections',
      ],
      choice: 'Watched folders wait for the hours of a connection',
      open: 'See the watched folders',
    },
    de: {
      text: [
        '{count} überwachter Ordner wartet auf die Zeiten seiner Verbindung',
        '{count} überwachte Ordner warten auf die Zeiten ihrer Verbindungen',
      ],
      choice: 'Überwachte Ordner warten auf die Zeiten einer Verbindung',
      open: 'Überwachte Ordner ansehen',
    },
  },
} as const satisfies Readonly<Record<string, AttentionDefinition>>;

type Kinds = typeof kinds;
type AttentionKind = keyof Kinds;

export const ATTENTION: Readonly<Record<AttentionKind, AttentionDefinition>> = kinds;
export const ATTENTION_KINDS = Object.keys(ATTENTION) as readonly AttentionKind[];

export function attentionTexts(language: Language): Readonly<Record<AttentionKind, AttentionTexts>> {
  const texts = ATTENTION_KINDS.map((kind) => [kind, ATTENTION[kind][language]] as const);
  return Object.fromEntries(texts) as Record<AttentionKind, AttentionTexts>;
}

/** One finding. */
export type AttentionItem = {
  [K in AttentionKind]: { readonly kind: K } & FactTypes[Kinds[K]['facts']] &
    (Kinds[K] extends { readonly about: string } ? { readonly id: string; readonly name: string } : unknown);
}[AttentionKind];

type Facts = Readonly<Record<'name' | 'error' | 'count' | 'limit' | 'at', string | number>>;

/** A text of a kind about one item. */
export function attentionText(text: AttentionTexts['text'], facts: Partial<Facts>): string {
  const said = typeof text === 'string' ? text : text[facts.count === 1 ? 0 : 1];
  return said.replace(/\{(\w+)\}/g, (_, name: keyof Facts) => String(facts[name] ?? ''));
}

/** The ids of the thing, in the form of the API. */
export interface AttentionIds {
  readonly connectionId?: string;
  readonly watchedFolderId?: string;
  readonly scheduleId?: string;
  readonly apiKeyId?: string;
}

/** The page of the dashboard with the remedy. */
export function attentionPage(kind: AttentionKind, ids: AttentionIds): string {
  const { connectionId, watchedFolderId, scheduleId } = ids;
  const { page } = ATTENTION[kind];
  if (page !== undefined) return page;
  if (connectionId !== undefined) return `/connections/${encodeURIComponent(connectionId)}`;
  if (watchedFolderId !== undefined) return `/watched/${encodeURIComponent(watchedFolderId)}`;
  return `/schedules/${encodeURIComponent(scheduleId ?? '')}`;
}
