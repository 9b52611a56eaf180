/** The screens of the menu: where they are, what leads to them by key. */
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

const { groups, places } = t.shell;

export const PLACES: readonly PlaceGroup[] = [
  {
    name: groups.work,
    places: [
      { path: '/', name: places.overview, letter: 'o', icon: LayoutDashboard },
      { path: '/files', name: places.files, letter: 'f', icon: FolderOpen },
      { path: '/jobs', name: places.jobs, letter: 'j', icon: Layers },
      { path: '/schedules', name: places.schedules, letter: 'h', icon: CalendarClock },
      { path: '/transfers', name: places.transfers, letter: 't', icon: ArrowLeftRight },
    ],
  },
  {
    name: groups.setUp,
    places: [
      { path: '/connections', name: places.connections, letter: 'c', icon: Server },
      { path: '/watched', name: places.watched, letter: 'w', icon: Eye },
      { path: '/webhooks', name: places.webhooks, letter: 'b', icon: Webhook },
      { path: '/links', name: places.links, letter: 'l', icon: Link2 },
      { path: '/keys', name: places.keys, letter: 'k', icon: KeyRound },
    ],
  },
  {
    name: groups.lookAfter,
    places: [
      { path: '/deliveries', name: places.deliveries, letter: 'd', icon: Inbox },
      { path: '/events', name: places.events, letter: 'e', icon: Rss },
      { path: '/usage', name: places.usage, letter: 'u', icon: ChartNoAxesColumn },
      { path: '/health', name: places.health, letter: 'i', icon: Activity },
      { path: '/pools', name: places.pools, letter: 'p', icon: RefreshCw },
      { path: '/audit', name: places.audit, letter: 'a', icon: ScrollText },
      { path: '/settings', name: places.settings, letter: 's', icon: Settings },
    ],
  },
];

export const ALL_PLACES: readonly Place[] = PLACES.flatMap((group) => group.places);

/** The reference of the API, which the gateway serves itself. */
export const DOCS = '/docs';
