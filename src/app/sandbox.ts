/**
 * The gateway's own SFTP server and receiver of webhooks: whether they run, whose connections lead to them, and where they
 * are. Their ports may differ from start to start; the connections are registered anew each time, wherever they were.
 */
import path from 'node:path';
import type { AccountConfig, Config, ConnectionConfig } from '../config/schema.js';
import { OTHER_KEY_CONNECTION } from '../sandbox/failures.js';
import { startSandbox } from '../sandbox/server.js';
import { type SandboxPart, startSink } from '../sandbox/sink.js';
import type { Storage } from '../storage/storage.js';
import type { Started } from './serving.js';

export const SANDBOX_CONNECTION_ID = 'sandbox';
/** The second one waits for somebody to switch it on. */
export const OWN_CONNECTIONS = {
  ids: [SANDBOX_CONNECTION_ID, OTHER_KEY_CONNECTION],
  changeable: [OTHER_KEY_CONNECTION],
};
export const SANDBOX_USERNAME = 'sandbox';
const HOST = '127.0.0.1';

type Holder = Pick<AccountConfig, 'email' | 'plan'>;

/** What is kept of it from start to start. */
export interface SandboxState {
  readonly sandbox: { readonly username: string; readonly password: string };
  /** Where its receiver of webhooks was at the last start: their URLs hold it. */
  readonly webhookPort?: number;
}

/** Where it listens at this start. */
export interface RunningSandbox {
  readonly port: number;
  readonly otherKeyPort: number;
  readonly hostKeyFingerprint: string;
  readonly receiver: SandboxPart['receiver'];
  readonly received: SandboxPart['received'];
}

/** Over dataDir/sandbox, on loopback. `webhookPort`: where the receiver was before. */
export async function runSandbox(
  dataDir: string,
  { sandbox, webhookPort = 0 }: SandboxState,
  started: Started,
): Promise<RunningSandbox> {
  const server = await startSandbox(sandboxSettings(dataDir, { sandbox }));
  started.add(() => server.close());
  const sink = await startSink(HOST, webhookPort);
  started.add(() => sink.close());
  return { ...server, receiver: { address: HOST, port: sink.port }, received: async () => sink.received() };
}

/** How to start the SFTP server; the shape of its own options. */
export function sandboxSettings(dataDir: string, { sandbox }: Pick<SandboxState, 'sandbox'>) {
  return {
    folder: path.resolve(dataDir, 'sandbox'),
    host: HOST,
    port: 0,
    ...sandbox,
    hostKeyFile: path.resolve(dataDir, 'sandbox-host-key'),
  };
}

/** The connections to it: to the server, and to the port at which it shows another host key, which is switched off. */
export function sandboxConnections(
  { sandbox }: Pick<SandboxState, 'sandbox'>,
  { port, otherKeyPort, hostKeyFingerprint }: Omit<RunningSandbox, 'receiver' | 'received'>,
): ConnectionConfig[] {
  const common = {
    type: 'sftp',
    host: HOST,
    ...sandbox,
    hostKey: hostKeyFingerprint,
    defaultPath: '/',
    rootPath: '/',
    atomicUploads: true,
    digests: 'asked',
    verify: 'size',
    algorithms: 'default',
    hostKeyRotation: 'ask',
    pool: {},
  } as const;
  return [
    { id: SANDBOX_CONNECTION_ID, name: 'Sandbox', isActive: true, port, ...common },
    {
      ...{ id: OTHER_KEY_CONNECTION, name: 'Sandbox with a new host key', isActive: false, port: otherKeyPort },
      ...common,
    },
  ];
}

/** Who has the connection already, where it leads to a sandbox of ours. */
export async function sandboxOwner(storage: Storage): Promise<Holder | undefined> {
  return storage.accounts.findByConnection(SANDBOX_CONNECTION_ID, HOST, SANDBOX_USERNAME);
}

/** Whether it is to run. `isQuick`: the quick start's account is the only one. */
export function isSandboxWanted({ sandbox }: Config, isQuick: boolean, owner: Holder | undefined): boolean {
  return sandbox === 'auto' ? isQuick || owner !== undefined : sandbox;
}

/** The accounts, one of which has these connections too; it is added where the configuration does not list it. */
export function withConnections(
  accounts: readonly AccountConfig[],
  owner: Holder,
  connections: readonly ConnectionConfig[],
): readonly AccountConfig[] {
  const isOwner = ({ email }: AccountConfig): boolean => email.toLowerCase() === owner.email.toLowerCase();
  if (!accounts.some(isOwner)) {
    const { email, plan } = owner;
    return [...accounts, { email, plan, apiKeys: [], connections: [...connections] }];
  }
  return accounts.map((account) =>
    isOwner(account) ? { ...account, connections: [...account.connections, ...connections] } : account,
  );
}
