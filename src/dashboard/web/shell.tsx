/** What stands around every screen: the menu, the way to the content, and single keys, never while something is typed. */
import * as Ariakit from '@ariakit/react';
import {
  Activity,
  ArrowLeftRight,
  CalendarClock,
  ChartNoAxesColumn,
  Eye,
  FolderOpen,
  KeyRound,
  Layers,
  LayoutDashboard,
  LogOut,
  type IconComponent,
  Menu as MenuIcon,
  Rss,
  ScrollText,
  Server,
  Settings,
  Webhook,
} from './ui/icons.tsx';
import { type ReactElement, type ReactNode, useEffect, useState } from 'react';
import { Link, useLocation } from 'wouter';
import { request } from './api/client.ts';
import { forgetSession, useAction } from './api/hooks.ts';
import type { SignedIn } from './api/types.ts';
import { useShortcutsSetting } from './preferences.ts';
import { leaveQueue } from './screens/files/queue.ts';
import { UploadQueue } from './screens/files/queue-panel.tsx';
import { Button } from './ui/basics.tsx';
import { Dialog } from './ui/dialog.tsx';

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

const PLACES: readonly PlaceGroup[] = [
  {
    name: 'Work',
    places: [
      { path: '/', name: 'Overview', letter: 'o', icon: LayoutDashboard },
      { path: '/files', name: 'Files', letter: 'f', icon: FolderOpen },
      { path: '/jobs', name: 'Jobs', letter: 'j', icon: Layers },
      { path: '/schedules', name: 'Schedules', letter: 'h', icon: CalendarClock },
      { path: '/transfers', name: 'Transfers', letter: 't', icon: ArrowLeftRight },
    ],
  },
  {
    name: 'Set up',
    places: [
      { path: '/connections', name: 'Connections', letter: 'c', icon: Server },
      { path: '/watched', name: 'Watched folders', letter: 'w', icon: Eye },
      { path: '/webhooks', name: 'Webhooks', letter: 'b', icon: Webhook },
      { path: '/keys', name: 'API keys', letter: 'k', icon: KeyRound },
    ],
  },
  {
    name: 'Look after',
    places: [
      { path: '/events', name: 'Events', letter: 'e', icon: Rss },
      { path: '/usage', name: 'Usage', letter: 'u', icon: ChartNoAxesColumn },
      { path: '/pools', name: 'Pools and health', letter: 'p', icon: Activity },
      { path: '/audit', name: 'Audit log', letter: 'a', icon: ScrollText },
      { path: '/settings', name: 'Settings', letter: 's', icon: Settings },
    ],
  },
];

export function Shell({ account, children }: { account: SignedIn['account']; children: ReactNode }): ReactElement {
  const [location] = useLocation();
  // Where the menu was opened: a step to another screen closes it.
  const [menuAt, setMenuAt] = useState<string>();
  const isMenuOpen = menuAt === location;
  const help = useShortcuts();
  return (
    <div className="shell">
      <a href="#main" className="skip-link">
        To the content
      </a>
      <header className="topbar">
        <button
          type="button"
          className="icon-button"
          aria-label="Menu"
          aria-expanded={isMenuOpen}
          onClick={() => setMenuAt(location)}
        >
          <MenuIcon aria-hidden size={18} />
        </button>
        <Brand />
      </header>
      <header className="side">
        <Sidebar account={account} />
      </header>
      {isMenuOpen && (
        <Ariakit.Dialog
          open
          onClose={() => setMenuAt(undefined)}
          className="drawer"
          backdrop={<div className="backdrop" />}
          aria-label="Menu"
        >
          <Sidebar account={account} />
        </Ariakit.Dialog>
      )}
      <main id="main" className="main" tabIndex={-1}>
        {children}
      </main>
      <UploadQueue account={account.email} />
      {help}
    </div>
  );
}

function Brand(): ReactElement {
  return (
    <Link href="/" className="brand">
      <svg viewBox="0 0 32 32" width={26} height={26} aria-hidden>
        <rect width="32" height="32" rx="7" fill="var(--accent-fill)" />
        <path
          d="M8 12.5h13.5M17.5 8l4.5 4.5-4.5 4.5M24 19.5H10.5M14.5 15 10 19.5l4.5 4.5"
          fill="none"
          stroke="#fff"
          strokeWidth="2.6"
          strokeLinecap="round"
          strokeLinejoin="round"
        />
      </svg>
      File Transfer Gateway
    </Link>
  );
}

function Sidebar({ account }: { readonly account: SignedIn['account'] }): ReactElement {
  const [location] = useLocation();
  const logout = useAction(() => request('POST', '/manage/logout'), {
    onDone: () => {
      void leaveQueue();
      forgetSession();
    },
  });
  const isHere = (path: string): boolean =>
    path === '/' ? location === '/' : location === path || location.startsWith(`${path}/`);
  return (
    <div className="sidebar">
      <Brand />
      <nav className="nav" aria-label="Main">
        {PLACES.map(({ name, places }) => (
          <div key={name} className="nav">
            <p className="nav-heading">{name}</p>
            {places.map(({ path, name: text, icon: Icon }) => (
              <Link key={path} href={path} aria-current={isHere(path) ? 'page' : undefined}>
                <Icon aria-hidden size={16} strokeWidth={1.75} />
                {text}
              </Link>
            ))}
          </div>
        ))}
      </nav>
      <div className="sidebar-foot">
        <div>
          <strong>{account.email}</strong>
          <span className="muted">Plan {account.plan}</span>
        </div>
        <Button look="quiet" icon={LogOut} isBusy={logout.isPending} onClick={() => logout.mutate(undefined)}>
          Log out
        </Button>
      </div>
    </div>
  );
}

const GO_MS = 1_500;

/** The help dialog, where it is open. */
function useShortcuts(): ReactElement | null {
  const isOn = useShortcutsSetting();
  const [, navigate] = useLocation();
  const [isHelpOpen, setHelpOpen] = useState(false);

  useEffect(() => {
    if (!isOn) return undefined;
    let goSince = -Infinity;
    const onKey = (event: KeyboardEvent): void => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      if (document.querySelector('[role="dialog"]') !== null) return;
      const isGoing = performance.now() - goSince < GO_MS;
      goSince = -Infinity;
      if (isGoing) {
        const place = PLACES.flatMap(({ places }) => places).find(({ letter }) => letter === event.key.toLowerCase());
        if (place === undefined) return;
        event.preventDefault();
        navigate(place.path);
      } else if (event.key === 'g') {
        goSince = performance.now();
      } else if (event.key === '/') {
        const search = document.querySelector<HTMLInputElement>('input[type="search"]');
        if (search === null) return;
        event.preventDefault();
        search.focus();
        search.select();
      } else if (event.key === '?') {
        event.preventDefault();
        setHelpOpen(true);
      }
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, [isOn, navigate]);

  return isHelpOpen ? <Help onClose={() => setHelpOpen(false)} /> : null;
}

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLInputElement) return target.type !== 'checkbox' && target.type !== 'radio';
  return target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement || target.isContentEditable;
}

const IN_FILES: readonly (readonly [keys: string, what: string])[] = [
  ['↑ ↓', 'Move through the list'],
  ['Enter', 'Open a folder, look into a file'],
  ['Backspace', 'To the folder above'],
  ['Space', 'Select'],
  ['F2', 'Rename'],
  ['Delete', 'Delete what is selected'],
];

function Help({ onClose }: { readonly onClose: () => void }): ReactElement {
  const places = PLACES.flatMap((group) => group.places);
  return (
    <Dialog title="Keyboard" onClose={onClose}>
      <div className="form-grid">
        <section className="stack tight">
          <h3>Everywhere</h3>
          <Keys keys="/" what="To the search field" />
          <Keys keys="?" what="This help" />
          {places.map(({ letter, name }) => (
            <Keys key={letter} keys={`g ${letter}`} what={name} />
          ))}
        </section>
        <section className="stack tight">
          <h3>In a list of files</h3>
          {IN_FILES.map(([keys, what]) => (
            <Keys key={keys} keys={keys} what={what} />
          ))}
        </section>
      </div>
      <p className="hint">Single keys can be switched off under Settings.</p>
    </Dialog>
  );
}

function Keys({ keys, what }: { readonly keys: string; readonly what: string }): ReactElement {
  return (
    <div className="row spread">
      <span>{what}</span>
      <span className="row">
        {keys.split(' ').map((key) => (
          <kbd key={key}>{key}</kbd>
        ))}
      </span>
    </div>
  );
}
