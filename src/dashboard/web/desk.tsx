/** The shell around the screen at the current address. */
import type { ReactElement } from 'react';
import { Redirect, Route, Switch, useLocation } from 'wouter';
import { SCREENS } from '../screens.ts';
import type { SignedIn } from './api/types.ts';
import Overview from './screens/overview.tsx';
import { Shell } from './shell.tsx';
import { t } from './texts/texts.ts';
import { Empty, LinkButton, Page } from './ui/basics.tsx';
import { Boundary, part } from './ui/part.tsx';

const Connections = part(() => import('./screens/connections.tsx'));
const ConnectionScreen = part(() => import('./screens/connection.tsx'));
const NewConnection = part(() => import('./screens/new-connection.tsx'));
const WatchedFolders = part(() => import('./screens/watched-folders.tsx'));
const WatchedFolderScreen = part(() => import('./screens/watched-folder.tsx'));
const Webhooks = part(() => import('./screens/webhooks.tsx'));
const WebhookScreen = part(() => import('./screens/webhook.tsx'));
const DeliveriesScreen = part(() => import('./screens/deliveries.tsx'));
const DeliveryScreen = part(() => import('./screens/delivery.tsx'));
const Events = part(() => import('./screens/events.tsx'));
const Keys = part(() => import('./screens/keys.tsx'));
const Links = part(() => import('./screens/links.tsx'));
const Transfers = part(() => import('./screens/transfers.tsx'));
const TransferScreen = part(() => import('./screens/transfer.tsx'));
const Jobs = part(() => import('./screens/jobs.tsx'));
const JobForm = part(() => import('./screens/job-form.tsx'));
const JobScreen = part(() => import('./screens/job.tsx'));
const Schedules = part(() => import('./screens/schedules.tsx'));
const ScheduleScreen = part(() => import('./screens/schedule.tsx'));
const Files = part(() => import('./screens/files.tsx'));
const UsageScreen = part(() => import('./screens/usage.tsx'));
const Health = part(() => import('./screens/health.tsx'));
const Pools = part(() => import('./screens/pools.tsx'));
const Audit = part(() => import('./screens/audit.tsx'));
const Settings = part(() => import('./screens/settings.tsx'));

export function Desk({ account, session }: Pick<SignedIn, 'account' | 'session'>): ReactElement {
  const [location] = useLocation();
  return (
    <Shell account={account} session={session}>
      <Boundary key={location}>
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
          <Route path={SCREENS.deliveries} component={DeliveriesScreen} />
          <Route path={SCREENS.delivery}>{({ id }) => <DeliveryScreen key={id} id={id} />}</Route>
          <Route path={SCREENS.events} component={Events} />
          <Route path={SCREENS.links} component={Links} />
          <Route path={SCREENS.keys} component={Keys} />
          <Route path={SCREENS.transfers} component={Transfers} />
          <Route path={SCREENS.transfer}>{({ id }) => <TransferScreen key={id} id={id} />}</Route>
          <Route path={SCREENS.jobs} component={Jobs} />
          <Route path={SCREENS.newJob}>{() => <JobForm key="job" of="job" />}</Route>
          <Route path={SCREENS.job}>{({ id }) => <JobScreen key={id} id={id} />}</Route>
          <Route path={SCREENS.schedules} component={Schedules} />
          <Route path={SCREENS.newSchedule}>{() => <JobForm key="schedule" of="schedule" />}</Route>
          <Route path={SCREENS.editSchedule}>{({ id }) => <JobForm key={id} of="schedule" id={id} />}</Route>
          <Route path={SCREENS.schedule}>{({ id }) => <ScheduleScreen key={id} id={id} />}</Route>
          <Route path={SCREENS.files}>{() => <Files />}</Route>
          <Route path={SCREENS.filesOf}>{({ id }) => <Files key={id} connectionId={decodeURIComponent(id)} />}</Route>
          <Route path={SCREENS.usage} component={UsageScreen} />
          <Route path={SCREENS.health} component={Health} />
          <Route path={SCREENS.pools} component={Pools} />
          <Route path={SCREENS.audit} component={Audit} />
          <Route path={SCREENS.settings} component={Settings} />
          <Route path={SCREENS.login}>
            <Redirect to="/" replace />
          </Route>
          <Route>
            <Page title={t.common.noScreen.title}>
              <Empty title={t.common.noScreen.lead} action={<LinkButton href="/">{t.common.noScreen.back}</LinkButton>}>
                {t.common.noScreen.text}
              </Empty>
            </Page>
          </Route>
        </Switch>
      </Boundary>
    </Shell>
  );
}
