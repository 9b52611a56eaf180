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
      { path: '/', name: t.overview.title, letter: 'o', icon: LayoutDashboard },
      { path: '/files', name: t.files.title, letter: 'f', icon: FolderOpen },
      { path: '/jobs', name: t.jobs.title, letter: 'j', icon: Layers },
      { path: '/schedules', name: t.schedules.title, letter: 'h', icon: CalendarClock },
      { path: '/transfers', name: t.transfers.title, letter: 't', icon: ArrowLeftRight },
    ],
  },
  {
    name: groups.setUp,
    places: [
      { path: '/connections', name: t.connections.title, letter: 'c', icon: Server },
      { path: '/watched', name: t.watched.title, letter: 'w', icon: Eye },
      { path: '/webhooks', name: t.webhooks.title, letter: 'b', icon: Webhook },
      { path: '/links', name: t.links.title, letter: 'l', icon: Link2 },
      { path: '/keys', name: t.keys.title, letter: 'k', icon: KeyRound },
    ],
  },
  {
    name: groups.lookAfter,
    places: [
      { path: '/deliveries', name: t.deliveries.title, letter: 'd', icon: Inbox },
      { path: '/events', name: t.events.title, letter: 'e', icon: Rss },
      { path: '/usage', name: t.usage.title, letter: 'u', icon: ChartNoAxesColumn },
      { path: '/health', name: t.health.title, letter: 'i', icon: Activity },
      { path: '/pools', name: t.pools.title, letter: 'p', icon: RefreshCw },
      { path: '/audit', name: t.audit.title, letter: 'a', icon: ScrollText },
      { path: '/settings', name: t.settings.title, letter: 's', icon: Settings },
    ],
  },
];

export const ALL_PLACES: readonly Place[] = PLACES.flatMap((group) => group.places);

/** The API reference, which the gateway serves. */
export const DOCS = '/docs';
