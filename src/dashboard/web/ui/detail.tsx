/** Screens of a single object, and their common parts. */
import type { ReactElement, ReactNode } from 'react';
import { Link } from 'wouter';
import { Page, type PageProps, Panel, Pending, type Reading } from './basics.tsx';

interface Up {
  /** The list that contains the object. */
  readonly up: readonly [href: string, title: string];
}

/** The screen of an object, with a link to its list and its state beside that. */
export function DetailPage({
  up: [href, title],
  state,
  ...page
}: Omit<PageProps, 'lead'> & Up & { readonly state?: ReactNode }) {
  return (
    <Page
      {...page}
      lead={
        <span className="row">
          <Link href={href}>{title}</Link>
          {state}
        </span>
      }
    />
  );
}

/** Draws an object once it is read. Until then the screen shows its title and the state of the read. */
export function Detail<T>(
  props: Up & { readonly of: Reading<T>; readonly title: string; readonly children: (data: T) => ReactElement },
): ReactElement {
  const { of, title, up, children } = props;
  if (of.data !== undefined) return children(of.data);
  return (
    <DetailPage title={title} up={up}>
      <Panel>
        <Pending error={of.error} onRetry={() => void of.refetch()} />
      </Panel>
    </DetailPage>
  );
}
