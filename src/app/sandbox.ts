/**
 * The gateway's own SFTP server and receiver of webhooks: whether they run, whose connection leads to the server, and where they
 * are. Their ports may differ from start to start; the connection is registered anew each time, wherever it was.
 */
import path from 'node:path';
import type { AccountConfig, Config, ConnectionConfig } from '../config/schema.js';
import { defaultSettings } from '../contract/connection/definition.js';
import { sftp } from '../contract/connection/sftp.js';
import { startSandbox } from '../sandbox/server.js';
import { type SandboxPart, startSink } from '../sandbox/sink.js';
import type { Storage } from '../storage/storage.js';
import type { Parts } from './parts.js';

export const SANDBOX_CONNECTION_ID = 'sandbox';
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
interface RunningSandbox {
  readonly port: number;
  readonly hostKeyFingerprint: string;
  readonly receiver: SandboxPart['receiver'];
  readonly received: SandboxPart['received'];
}

/** Over dataDir/sandbox, on loopback. `webhookPort`: where the receiver was before. */
export async function runSandbox(
  dataDir: string,
  { sandbox, webhookPort = 0 }: SandboxState,
  started: Parts,
): Promise<RunningSandbox> {
  const server = await startSandbox({
    folder: path.resolve(dataDir, 'sandbox'),
    host: HOST,
    port: 0,
    ...sandbox,
    hostKeyFile: path.resolve(dataDir, 'sandbox-host-key'),
  });
  started.add({ name: 'sandbox', stop: () => server.close() });
  const sink = await startSink(HOST, webhookPort);
  started.add({ name: 'receiver of the sandbox', stop: () => sink.close() });
  return { ...server, receiver: { address: HOST, port: sink.port }, received: async () => sink.received() };
}

/** The connection to it. */
export function sandboxConnection(
  { sandbox }: Pick<SandboxState, 'sandbox'>,
  { port, hostKeyFingerprint }: Omit<RunningSandbox, 'receiver' | 'received'>,
): ConnectionConfig {
  return {
    ...defaultSettings(sftp),
    id: SANDBOX_CONNECTION_ID,
    name: 'Sandbox',
    type: 'sftp',
    isActive: true,
    port,
    host: HOST,
    ...sandbox,
    hostKey: hostKeyFingerprint,
    defaultPath: '/',
  };
}

/** Who has the connection already, where it leads to a sandbox of ours. */
export async function sandboxOwner(storage: Storage): Promise<Holder | undefined> {
  return storage.accounts.findByConnection(SANDBOX_CONNECTION_ID, HOST, SANDBOX_USERNAME);
}

/** Whether it is to run. `isQuick`: the quick start's account is the only one. `ranHere`: before, on this data folder. */
export function isSandboxWanted({ sandbox }: Config, isQuick: boolean, ranHere: boolean): boolean {
  return sandbox === 'auto' ? isQuick || ranHere : sandbox;
}

/** The accounts, one of which has this connection too; it is added where the configuration does not list it. */
export function withConnection(
  accounts: readonly AccountConfig[],
  owner: Holder,
  connection: ConnectionConfig,
): readonly AccountConfig[] {
  const isOwner = ({ email }: AccountConfig): boolean => email.toLowerCase() === owner.email.toLowerCase();
  if (!accounts.some(isOwner)) {
    const { email, plan } = owner;
    return [...accounts, { email, plan, apiKeys: [], connections: [connection] }];
  }
  return accounts.map((account) =>
    isOwner(account) ? { ...account, connections: [...account.connections, connection] } : account,
  );
}
