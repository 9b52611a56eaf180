/**
 * The gateway's own SFTP server and receiver of webhooks: whether they run, their addresses, and the account with the
 * connection to the server. Their ports may differ between starts; the connection is registered again each time.
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

/** The stored state of the sandbox. */
export interface SandboxState {
  readonly sandbox: { readonly username: string; readonly password: string };
  /** The port of its receiver of webhooks at the last start: their URLs contain it. */
  readonly webhookPort?: number;
}

/** The addresses of this start. */
interface RunningSandbox {
  readonly port: number;
  readonly hostKeyFingerprint: string;
  readonly receiver: SandboxPart['receiver'];
  readonly received: SandboxPart['received'];
}

/** Serves dataDir/sandbox, on loopback. `webhookPort`: the receiver's former port. */
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

/** The connection to the sandbox. */
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

/** The account that already has the connection, if it leads to a sandbox of this gateway. */
export async function sandboxOwner(storage: Storage): Promise<Holder | undefined> {
  return storage.accounts.findByConnection(SANDBOX_CONNECTION_ID, HOST, SANDBOX_USERNAME);
}

/**
 * Whether it should run. `isQuick`: the quick start's account is the only one. `ranHere`: it has run on this data
 * folder before.
 */
export function isSandboxWanted({ sandbox }: Config, isQuick: boolean, ranHere: boolean): boolean {
  return sandbox === 'auto' ? isQuick || ranHere : sandbox;
}

/** The accounts, with this connection added to its owner; the owner is added if the configuration does not list it. */
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
