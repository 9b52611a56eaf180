/** The path from the connection to the current folder. Files can be dropped on each part of it. */
import { useState, type ReactElement } from 'react';
import { Link } from 'wouter';
import { t } from '../../texts/texts.ts';
import { dropInto, takesDrop } from './drag.ts';
import { folderAddress } from './links.ts';
import { crumbsOf, rawNameAbove } from '../../ui/paths.ts';

export function Crumbs(props: {
  readonly connectionId: string;
  readonly name: string;
  readonly folder: string;
  readonly rawName: string | undefined;
}): ReactElement {
  const { connectionId, name, folder, rawName } = props;
  const rawOf = (path: string): string | undefined => rawNameAbove(folder, rawName, path);
  const [target, setTarget] = useState<string>();
  const crumbs = [{ name, path: '/' }, ...crumbsOf(folder)];
  return (
    <nav aria-label={t.files.folder} className="crumbs">
      <ol>
        {crumbs.map((crumb, index) => (
          <li key={crumb.path}>
            {index > 0 && <span aria-hidden>/</span>}
            <Link
              href={folderAddress(connectionId, crumb.path, rawOf(crumb.path))}
              className={target === crumb.path ? 'drop-target' : undefined}
              aria-current={index === crumbs.length - 1 ? 'page' : undefined}
              draggable={false}
              onDragOver={(event) => {
                const takes = rawOf(crumb.path) === undefined && takesDrop(event, connectionId, crumb.path);
                setTarget(takes ? crumb.path : undefined);
              }}
              onDragLeave={() => setTarget(undefined)}
              onDrop={(event) => {
                setTarget(undefined);
                if (rawOf(crumb.path) === undefined) dropInto(event, connectionId, crumb.path);
              }}
            >
              {crumb.name}
            </Link>
          </li>
        ))}
      </ol>
    </nav>
  );
}
