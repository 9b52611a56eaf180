/** Screens of a single object, and their common parts. */
import * as Ariakit from '@ariakit/react';
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

/** Tabs. The first is open at the start. */
export function Tabs(props: {
  readonly label: string;
  readonly tabs: readonly (readonly [title: string, content: ReactNode])[];
}): ReactElement {
  const { label, tabs } = props;
  return (
    <Panel>
      <Ariakit.TabProvider defaultSelectedId="tab-0">
        <Ariakit.TabList className="tabs" aria-label={label}>
          {tabs.map(([title], index) => (
            <Ariakit.Tab key={title} id={`tab-${index}`} className="tab">
              {title}
            </Ariakit.Tab>
          ))}
        </Ariakit.TabList>
        {tabs.map(([title, content], index) => (
          <Ariakit.TabPanel key={title} tabId={`tab-${index}`} unmountOnHide>
            {content}
          </Ariakit.TabPanel>
        ))}
      </Ariakit.TabProvider>
    </Panel>
  );
}
