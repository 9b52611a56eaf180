/** The login, or the shell around the screen that the address names. */
import { QueryClientProvider } from '@tanstack/react-query';
import { lazy, type ReactElement, StrictMode, Suspense } from 'react';
import { createRoot } from 'react-dom/client';
import { Redirect, Route, Switch } from 'wouter';
import { SCREENS } from '../screens.ts';
import { queries, useSession } from './api/hooks.ts';
import { applyTheme } from './preferences.ts';
import { Login } from './screens/login.tsx';
import { Shell } from './shell.tsx';
import './styles/base.css';
import './styles/parts.css';
import './styles/screens.css';
import './styles/shell.css';
import './styles/tokens.css';
import { Empty, LinkButton, Page, Pending, Skeleton } from './ui/basics.tsx';
import { Toasts } from './ui/toast.tsx';

applyTheme();
const root = document.getElementById('app');
if (root === null) throw new Error('the page has no #app');
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={queries}>
      <App />
      <Toasts />
    </QueryClientProvider>
  </StrictMode>,
);

const Overview = lazy(() => import('./screens/overview.tsx'));
const Connections = lazy(() => import('./screens/connections.tsx'));
const ConnectionScreen = lazy(() => import('./screens/connection.tsx'));
const NewConnection = lazy(() => import('./screens/new-connection.tsx'));
const WatchedFolders = lazy(() => import('./screens/watched-folders.tsx'));
const WatchedFolderScreen = lazy(() => import('./screens/watched-folder.tsx'));
const Webhooks = lazy(() => import('./screens/webhooks.tsx'));
const WebhookScreen = lazy(() => import('./screens/webhook.tsx'));
const Events = lazy(() => import('./screens/events.tsx'));
const Keys = lazy(() => import('./screens/keys.tsx'));
const Transfers = lazy(() => import('./screens/transfers.tsx'));
const TransferScreen = lazy(() => import('./screens/transfer.tsx'));
const Jobs = lazy(() => import('./screens/jobs.tsx'));
const NewJob = lazy(() => import('./screens/new-job.tsx'));
const JobScreen = lazy(() => import('./screens/job.tsx'));
const Schedules = lazy(() => import('./screens/schedules.tsx'));
const NewSchedule = lazy(() => import('./screens/new-schedule.tsx'));
const ScheduleScreen = lazy(() => import('./screens/schedule.tsx'));
const EditSchedule = lazy(() => import('./screens/edit-schedule.tsx'));
const Files = lazy(() => import('./screens/files.tsx'));
const UsageScreen = lazy(() => import('./screens/usage.tsx'));
const Pools = lazy(() => import('./screens/pools.tsx'));
const Audit = lazy(() => import('./screens/audit.tsx'));
const Settings = lazy(() => import('./screens/settings.tsx'));

function App(): ReactElement {
  const session = useSession();
  if (session.data === undefined) {
    return (
      <main className="login">
        <div className="login-card">
          <Pending error={session.error} onRetry={() => void session.refetch()} />
        </div>
      </main>
    );
  }
  if (session.data === null) return <Login />;
  return (
    <Shell account={session.data.account}>
      <Suspense fallback={<Skeleton />}>
        <Switch>
          <Route path={SCREENS.overview} component={Overview} />
          <Route path={SCREENS.connections} component={Connections} />
          <Route path={SCREENS.newConnection} component={NewConnection} />
          <Route path={SCREENS.connection}>
            {({ id }) => <ConnectionScreen key={id} id={decodeURIComponent(id)} />}
          </Route>
          <Route path={SCREENS.watchedFolders} component={WatchedFolders} />
          <Route path={SCREENS.watchedFolder}>{({ id }) => <WatchedFolderScreen key={id} id={id} />}</Route>
          <Route path={SCREENS.webhooks} component={Webhooks} />
          <Route path={SCREENS.webhook}>{({ id }) => <WebhookScreen key={id} id={id} />}</Route>
          <Route path={SCREENS.events} component={Events} />
          <Route path={SCREENS.keys} component={Keys} />
          <Route path={SCREENS.transfers} component={Transfers} />
          <Route path={SCREENS.transfer}>{({ id }) => <TransferScreen key={id} id={id} />}</Route>
          <Route path={SCREENS.jobs} component={Jobs} />
          <Route path={SCREENS.newJob} component={NewJob} />
          <Route path={SCREENS.job}>{({ id }) => <JobScreen key={id} id={id} />}</Route>
          <Route path={SCREENS.schedules} component={Schedules} />
          <Route path={SCREENS.newSchedule} component={NewSchedule} />
          <Route path={SCREENS.editSchedule}>{({ id }) => <EditSchedule key={id} id={id} />}</Route>
          <Route path={SCREENS.schedule}>{({ id }) => <ScheduleScreen key={id} id={id} />}</Route>
          <Route path={SCREENS.files}>{() => <Files />}</Route>
          <Route path={SCREENS.filesOf}>{({ id }) => <Files key={id} connectionId={decodeURIComponent(id)} />}</Route>
          <Route path={SCREENS.usage} component={UsageScreen} />
          <Route path={SCREENS.pools} component={Pools} />
          <Route path={SCREENS.audit} component={Audit} />
          <Route path={SCREENS.settings} component={Settings} />
          <Route path={SCREENS.login}>
            <Redirect to="/" replace />
          </Route>
          <Route>
            <Page title="Not found">
              <Empty title="There is no such screen" action={<LinkButton href="/">To the overview</LinkButton>}>
                The address may be old, or mistyped.
              </Empty>
            </Page>
          </Route>
        </Switch>
      </Suspense>
    </Shell>
  );
}
