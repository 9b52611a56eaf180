/** A key, this once, with a line that uses it. */
import type { ReactElement } from 'react';
import type { ApiKey, Connection } from '../../api/types.ts';
import { Button, CodeBlock, Notice } from '../../ui/basics.tsx';
import { Dialog } from '../../ui/dialog.tsx';

export interface Issued {
  readonly apiKey: ApiKey;
  readonly key: string;
  readonly previous?: ApiKey;
}

export function IssuedKey(props: {
  readonly issued: Issued;
  readonly connections: readonly Connection[];
  readonly onClose: () => void;
}): ReactElement {
  const { issued, connections, onClose } = props;
  return (
    <Dialog title={`The key ${issued.apiKey.name}`} onClose={onClose} keepsOpen>
      <Notice tone="warn" title="Copy it now: it is not shown again.">
        The gateway keeps a digest of it alone. A lost key is replaced, not found.
      </Notice>
      <div className="stack tight">
        <h3>Key</h3>
        <CodeBlock code={issued.key} label="API key" />
      </div>
      <div className="stack tight">
        <h3>Try it</h3>
        <CodeBlock code={curlLine(issued, connections)} label="curl line" />
      </div>
      <div className="dialog-actions">
        <Button look="primary" onClick={onClose}>
          I have copied it
        </Button>
      </div>
    </Dialog>
  );
}

function curlLine({ apiKey, key }: Issued, connections: readonly Connection[]): string {
  const header = `curl -H 'Authorization: Bearer ${key}'`;
  const usable = connections.filter(
    ({ id, isActive }) => isActive && (apiKey.connections.length === 0 || apiKey.connections.includes(id)),
  );
  const first = usable[0]?.id;
  if (first !== undefined && apiKey.scopes.includes('read')) return `${header} ${location.origin}/api/list/${first}`;
  if (first !== undefined && apiKey.scopes.includes('write'))
    return `${header} -F file=@hello.txt ${location.origin}/api/upload/${first}`;
  return `${header} ${location.origin}/api/me`;
}
