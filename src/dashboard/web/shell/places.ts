/** The screens of the menu with their addresses and keys. */
import { t } from '../texts/texts.ts';
import {
  Activity,
  ArrowLeftRight,
  CalendarClock,
  ChartNoAxesColumn,
  Eye,
  FolderOpen,
  Inbox,
  type IconComponent,
  KeyRound,
  Layers,
  LayoutDashboard,
  Link2,
  RefreshCw,
  Rss,
  ScrollText,
  Server,
  Settings,
  Webhook,
} from '../ui/icons.tsx';

interface Place {
  readonly path: string;
  readonly name: string;
  readonly letter: string;
  readonly icon: IconComponent;
}

interface PlaceGroup {
  readonly name: string;
  readonly places: readonly Place[];
}

const { groups } = t.shell;

export const PLACES: readonly PlaceGroup[] = [
  {
    name: groups.work,
    places: [
      { path: '/', name: t.places.overview, letter: 'o', icon: LayoutDashboard },
      { path: '/files', name: t.places.files, letter: 'f', icon: FolderOpen },
      { path: '/jobs', name: t.places.jobs, letter: 'j', icon: Layers },
      { path: '/schedules', name: t.places.schedules, letter: 'h', icon: CalendarClock },
      { path: '/transfers', name: t.places.transfers, letter: 't', icon: ArrowLeftRight },
    ],
  },
  {
    name: groups.setUp,
    places: [
      { path: '/connections', name: t.places.connections, letter: 'c', icon: Server },
      { path: '/watched', name: t.places.watched, letter: 'w', icon: Eye },
      { path: '/webhooks', name: t.places.webhooks, letter: 'b', icon: Webhook },
      { path: '/links', name: t.places.links, letter: 'l', icon: Link2 },
      { path: '/keys', name: t.places.keys, letter: 'k', icon: KeyRound },
    ],
  },
  {
    name: groups.lookAfter,
    places: [
      { path: '/deliveries', name: t.places.deliveries, letter: 'd', icon: Inbox },
      { path: '/events', name: t.places.events, letter: 'e', icon: Rss },
      { path: '/usage', name: t.places.usage, letter: 'u', icon: ChartNoAxesColumn },
      { path: '/health', name: t.places.health, letter: 'i', icon: Activity },
      { path: '/pools', name: t.places.pools, letter: 'p', icon: RefreshCw },
      { path: '/audit', name: t.places.audit, letter: 'a', icon: ScrollText },
      { path: '/settings', name: t.places.settings, letter: 's', icon: Settings },
    ],
  },
];

export const ALL_PLACES: readonly Place[] = PLACES.flatMap((group) => group.places);

/** The API reference, which the gateway serves. */
export const DOCS = '/docs';

/** The shortcut of the search, as it is labelled on this keyboard. */
export const PALETTE_KEYS = /Mac|iPhone|iPad/.test(navigator.userAgent) ? '⌘ K' : `${t.shell.ctrl} K`;
