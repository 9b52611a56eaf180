/** The files of a connection: browse, upload, download, move, copy, delete. */
import { type ReactElement, useEffect } from 'react';
import { Redirect, useSearchParams } from 'wouter';
import { segment } from '../api/client.ts';
import { useRead } from '../api/hooks.ts';
import { t } from '../texts/texts.ts';
import { Empty, LinkButton, Page, Panel, Pending } from '../ui/basics.tsx';
import { usePreferredConnections } from '../ui/connection-status.tsx';
import { Server } from '../ui/icons.tsx';
import { Browser } from './files/browser.tsx';
import { forgetThumbnails } from './files/thumbnails.ts';

export default function Files({ connectionId }: { readonly connectionId?: string }): ReactElement {
  const read = useRead('/manage/connections');
  const preferred = usePreferredConnections();
  const [parameters] = useSearchParams();
  useEffect(() => forgetThumbnails, []);
  if (read.data === undefined || (connectionId === undefined && preferred === undefined)) {
    return (
      <Page title={t.places.files}>
        <Panel>
          <Pending error={read.error} onRetry={() => void read.refetch()} />
        </Panel>
      </Page>
    );
  }
  const usable = read.data.connections.filter(({ isActive }) => isActive);
  if (usable.length === 0) {
    return (
      <Page title={t.places.files}>
        <Panel>
          <Empty
            icon={Server}
            title={t.files.noConnection.title}
            action={<LinkButton href="/connections/new">{t.connections.add}</LinkButton>}
          >
            {t.files.noConnection.text}
          </Empty>
        </Panel>
      </Page>
    );
  }
  if (connectionId === undefined) return <Redirect to={`/files/${segment(preferred?.[0]?.id ?? '')}`} replace />;
  const path = parameters.get('path') ?? undefined;
  const rawName = parameters.get('rawName') ?? undefined;
  // Each folder has its own component state: a selection or search does not carry over to the next folder.
  return (
    <Browser
      key={JSON.stringify([connectionId, path, rawName])}
      connectionId={connectionId}
      path={path}
      rawName={rawName}
      connections={usable}
    />
  );
}
