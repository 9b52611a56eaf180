/**
 * Without any configuration, the gateway creates one account, an API key, a dashboard password and a connection to its
 * own small SFTP server, and prints how to use them.
 */
import type { Config } from '../config/schema.js';
import type { SandboxPart } from '../sandbox/sink.js';
import { generateApiKey, type Log, type Storage } from '../storage/storage.js';
import { quickStartBanner } from './quick-start-banner.js';
import {
  makeQuickStart,
  newCredentials,
  quickStartAccount,
  readQuickStart,
  storeQuickStart,
} from './quick-start-state.js';
import {
  isSandboxWanted,
  runSandbox,
  SANDBOX_CONNECTION_ID,
  sandboxConnection,
  sandboxOwner,
  withConnection,
} from './sandbox.js';
import type { Parts } from './parts.js';

interface Provisioned {
  /** Prints the banner, if any, once the gateway serves. */
  readonly announce: (url: string) => Promise<void>;
  /** The running sandbox and its account. */
  readonly sandbox: SandboxPart | undefined;
}

/** Provisions the accounts, and runs the sandbox if it is wanted. */
export async function provision(
  config: Config,
  quickStart: boolean,
  storage: Storage,
  started: Parts,
  log: Log,
): Promise<Provisioned> {
  const { accounts, dataDir } = config;
  const former = await readQuickStart(dataDir);
  // With a configuration on the data of a quick start, its account stays as it was.
  const isQuick = accounts.length === 0 && (quickStart || former !== undefined);
  const owner = await sandboxOwner(storage);
  // Any owner can create a connection that looks like it; on its own it proves nothing.
  const ranHere = former !== undefined && owner !== undefined;
  const isWanted = isSandboxWanted(config, isQuick, ranHere);
  const state = former ?? (isQuick || isWanted ? await makeQuickStart(dataDir) : undefined);
  const credentials =
    isQuick && state !== undefined ? newCredentials(state, await storage.accounts.count(), generateApiKey) : undefined;
  const wanted = isQuick ? [quickStartAccount(credentials)] : accounts;
  const holder = owner ?? wanted[0];
  let running: SandboxPart | undefined;
  let announced = state;
  if (isWanted && state !== undefined && holder !== undefined) {
    const sandbox = await runSandbox(dataDir, state, started);
    const { receiver, received } = sandbox;
    await storage.provision(withConnection(wanted, holder, sandboxConnection(state, sandbox)), SANDBOX_CONNECTION_ID);
    if (receiver.port !== state.webhookPort) {
      announced = { ...state, webhookPort: receiver.port };
      await storeQuickStart(dataDir, announced);
    }
    const account = await storage.accounts.findByEmail(holder.email);
    if (account !== undefined) running = { accountId: account.id, receiver, received };
  } else {
    await storage.provision(wanted);
    // Its server does not run any more: "switched off" says more than "connection refused".
    if (config.sandbox === false && owner !== undefined) await storage.connections.switchOff(SANDBOX_CONNECTION_ID);
    if ((await storage.accounts.count()) === 0) log('warn', NO_ACCOUNT);
  }
  return {
    sandbox: running,
    announce: async (url) => {
      if (!isQuick || announced === undefined) return;
      process.stdout.write(`\n${quickStartBanner({ url, dataDir, credentials })}\n`);
      if (credentials !== undefined) await storeQuickStart(dataDir, { ...announced, isAnnounced: true });
    },
  };
}

const NO_ACCOUNT = 'there is no account, so no one can log in: name one under accounts in the configuration';
