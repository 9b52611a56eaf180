/** What tests have learned of the server. */
import type { ReactElement, ReactNode } from 'react';
import type { Card } from '../../api/types.ts';
import { formatBytes } from '../../format.ts';
import { Facts, Panel, Time } from '../../ui/basics.tsx';

const NAMES: Readonly<Record<string, string>> = {
  software: 'Software',
  protocol: 'Protocol',
  home: 'Login folder',
  moveOnto: 'Rename onto a file',
  exclusiveCreate: 'Refuses to replace',
  timeResolutionMs: 'Times exact to',
  extensions: 'Extensions',
  algorithms: 'Algorithms',
  limits: 'Limits',
  machineListings: 'Machine listings (MLSD)',
  utf8: 'UTF-8 names',
  canAppend: 'Append',
  canExec: 'Commands',
  canCopy: 'Copy on the server',
  testedAt: 'Seen',
};

export function ServerCard({ card }: { readonly card: Card }): ReactElement {
  const items = Object.entries(NAMES)
    .filter(([key]) => card[key] !== undefined && card[key] !== null)
    .map(([key, name]) => [name, show(key, card[key])] as const);
  return (
    <Panel title="The server">
      <div className="panel-body">
        <Facts items={items} />
      </div>
    </Panel>
  );
}

function show(key: string, value: unknown): ReactNode {
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (key === 'timeResolutionMs' && typeof value === 'number')
    return value >= 60_000 ? 'a minute' : value >= 1_000 ? 'a second' : 'a millisecond';
  if (key === 'testedAt' && typeof value === 'string') return <Time iso={value} isLong />;
  if (typeof value === 'string' || typeof value === 'number') return String(value);
  if (Array.isArray(value)) return value.map(String).join(', ');
  if (typeof value !== 'object' || value === null) return '';
  return Object.entries(value)
    .filter(([, one]) => one !== null && one !== undefined)
    .map(
      ([name, one]) => `${name} ${name.endsWith('Bytes') && typeof one === 'number' ? formatBytes(one) : String(one)}`,
    )
    .join(', ');
}
