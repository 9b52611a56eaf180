/** The screens of the menu, each with the letter that goes there after `g`. */
import {
  Activity,
  ArrowLeftRight,
  ChartNoAxesColumn,
  Eye,
  FolderOpen,
  KeyRound,
  LayoutDashboard,
  ScrollText,
  Server,
  Settings,
  type IconComponent,
} from './ui/icons.tsx';

export interface Place {
  readonly path: string;
  readonly name: string;
  readonly letter: string;
  readonly icon: IconComponent;
}

export interface PlaceGroup {
  readonly name: string;
  readonly places: readonly Place[];
}

export const PLACES: readonly PlaceGroup[] = [
  {
    name: 'Work',
    places: [
      { path: '/', name: 'Overview', letter: 'o', icon: LayoutDashboard },
      { path: '/files', name: 'Files', letter: 'f', icon: FolderOpen },
      { path: '/transfers', name: 'Transfers', letter: 't', icon: ArrowLeftRight },
    ],
  },
  {
    name: 'Set up',
    places: [
      { path: '/connections', name: 'Connections', letter: 'c', icon: Server },
      { path: '/watched', name: 'Watched folders', letter: 'w', icon: Eye },
      { path: '/keys', name: 'API keys', letter: 'k', icon: KeyRound },
    ],
  },
  {
    name: 'Look after',
    places: [
      { path: '/usage', name: 'Usage', letter: 'u', icon: ChartNoAxesColumn },
      { path: '/pools', name: 'Pools and health', letter: 'p', icon: Activity },
      { path: '/audit', name: 'Audit log', letter: 'a', icon: ScrollText },
      { path: '/settings', name: 'Settings', letter: 's', icon: Settings },
    ],
  },
];
