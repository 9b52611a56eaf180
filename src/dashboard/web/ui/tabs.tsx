/** Tabs on Ariakit. */
import * as Ariakit from '@ariakit/react';
import type { ReactElement, ReactNode } from 'react';
import { Panel } from './basics.tsx';

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
