/**
 * Started without any configuration, the gateway makes one account, an API key, a dashboard password and a connection
 * to a small SFTP server of its own, and prints how to use them.
 *
 * What has to last stands in dataDir/quick-start.json. The key and the password do not: the database keeps their
 * hashes, and they are shown once. `isAnnounced` is set only after they were printed, so that a start that failed in
 * between makes new ones instead of leaving an account that nobody can enter.
 */
import { randomBytes } from 'node:crypto';
import { readFile, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { writePrivateDraft } from '../base/private-file.js';
import type { AccountConfig, Config } from '../config/schema.js';
import { ConfigError } from '../config/mistakes.js';
import type { SandboxPart } from '../sandbox/sink.js';
import { generateApiKey, type Log, type Storage } from '../storage/storage.js';
import {
  isSandboxWanted,
  runSandbox,
  SANDBOX_CONNECTION_ID,
  SANDBOX_USERNAME,
  sandboxConnection,
  sandboxOwner,
  type SandboxState,
  withConnection,
} from './sandbox.js';
import type { Started } from './serving.js';

/** Below the top-level domain that never leaves the machine (RFC 6761). */
const QUICK_START_EMAIL = 'owner@gateway.localhost';
const KEY_NAME = 'quick-start';

/** dataDir/quick-start.json */
interface QuickStartState extends SandboxState {
  /** Whether key and password have been shown. */
  readonly isAnnounced: boolean;
}

/** What is shown once. */
export interface Credentials {
  readonly apiKey: string;
  readonly password: string;
}

/** The state of a quick start on this folder; undefined = there was none. ConfigError when the file cannot be used. */
export async function readQuickStart(dataDir: string): Promise<QuickStartState | undefined> {
  const file = stateFile(dataDir);
  try {
    return parseState(await readFile(file, 'utf8'), file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Makes and stores the state of a first start. */
export async function makeQuickStart(dataDir: string): Promise<QuickStartState> {
  const fresh = { sandbox: { username: SANDBOX_USERNAME, password: randomPassword() }, isAnnounced: false };
  await writeState(stateFile(dataDir), fresh);
  return fresh;
}

/** Notes durably that key and password were shown. */
export async function markAnnounced(dataDir: string, state: QuickStartState): Promise<void> {
  await writeState(stateFile(dataDir), { ...state, isAnnounced: true });
}

/**
 * Credentials for the banner, or undefined when they were shown before. A database without accounts is a new one,
 * whatever the file says: it knows nothing of what was shown.
 */
export function newCredentials(
  state: QuickStartState,
  accountCount: number,
  generateKey: () => string,
): Credentials | undefined {
  if (state.isAnnounced && accountCount > 0) return undefined;
  return { apiKey: generateKey(), password: randomPassword() };
}

/** The account of the quick start. Without credentials those of the first start stay, since provisioning removes nothing. */
export function quickStartAccount(credentials?: Credentials): AccountConfig {
  const account = { email: QUICK_START_EMAIL, plan: 'pro', connections: [] };
  if (credentials === undefined) return { ...account, apiKeys: [] };
  const apiKey = {
    name: KEY_NAME,
    key: credentials.apiKey,
    scopes: ['read', 'write', 'exec', 'watch'],
    connections: [],
    allowedIps: [],
    expiresAt: null,
  } as const;
  return { ...account, password: credentials.password, apiKeys: [{ ...apiKey, scopes: [...apiKey.scopes] }] };
}

interface BannerFacts {
  /** Where clients reach the gateway, without a final slash. */
  readonly url: string;
  readonly dataDir: string;
  /** Only at the start that made them. */
  readonly credentials?: Credentials | undefined;
}

/** What is printed when the gateway serves. Each line with curl works in a shell as it stands, in this order. */
export function quickStartBanner({ url, dataDir, credentials }: BannerFacts): string {
  const login = credentials === undefined ? shownBefore(dataDir) : shownNow(credentials);
  const lines = [
    `File Transfer Gateway serves at ${url}`,
    '',
    ...login,
    `  Connection   ${SANDBOX_CONNECTION_ID}: an SFTP server of the gateway's own over ${path.resolve(dataDir, 'sandbox')}`,
    `  Data         ${path.resolve(dataDir)}`,
    '',
    ...(credentials === undefined ? [] : ['Try it:', '', ...curlLines(url, credentials.apiKey), '']),
  ];
  return lines.join('\n');
}

function shownNow({ apiKey, password }: Credentials): string[] {
  return [
    `  API key      ${apiKey}`,
    `  Dashboard    ${QUICK_START_EMAIL}, password ${password}`,
    '               Key and password are shown this once: keep them.',
  ];
}

function shownBefore(dataDir: string): string[] {
  return [
    `  Dashboard    ${QUICK_START_EMAIL}`,
    '               API key and password were shown at the first start. To get new ones in their place, stop the',
    `               gateway, delete ${stateFile(dataDir)} and start it again.`,
  ];
}

/** The upload brings its own content, so that no file has to be there first. */
function curlLines(url: string, apiKey: string): string[] {
  const curl = `curl -sS -H 'Authorization: Bearer ${apiKey}'`;
  const api = `${url}/api`;
  return [
    '  # upload a file (one of yours: -F file=@report.pdf)',
    `  ${curl} -F 'file=hello;filename=hello.txt' '${api}/upload/${SANDBOX_CONNECTION_ID}'`,
    '  # list the folder',
    `  ${curl} '${api}/list/${SANDBOX_CONNECTION_ID}'`,
    '  # download the file',
    `  ${curl} '${api}/download/${SANDBOX_CONNECTION_ID}?path=/hello.txt'`,
    '  # see what was transferred',
    `  ${curl} '${api}/transfers'`,
  ];
}

function stateFile(dataDir: string): string {
  return path.resolve(dataDir, 'quick-start.json');
}

/** Letters and digits alone: it can be typed and pasted anywhere. */
function randomPassword(): string {
  return randomBytes(18).toString('base64url').replace(/[-_]/g, 'x');
}

function parseState(text: string, file: string): QuickStartState {
  try {
    const { sandbox, webhookPort, isAnnounced } = JSON.parse(text) as Partial<QuickStartState>;
    if (
      typeof isAnnounced === 'boolean' &&
      typeof sandbox?.username === 'string' &&
      typeof sandbox.password === 'string'
    ) {
      const { username, password } = sandbox;
      return { sandbox: { username, password }, isAnnounced, ...(webhookPort === undefined ? {} : { webhookPort }) };
    }
  } catch {
    // Told below, like a file of another shape.
  }
  const allowed = 'the file as it was, or none: delete it, and the next start makes a new API key and password';
  throw new ConfigError([{ path: file, found: 'not the state of a quick start', allowed, place: undefined }]);
}

/** Whole or not at all, and for the owner's eyes only. */
async function writeState(file: string, state: QuickStartState): Promise<void> {
  const draft = await writePrivateDraft(file, `${JSON.stringify(state, undefined, 2)}\n`);
  try {
    await rename(draft, file);
  } finally {
    await rm(draft, { force: true });
  }
}

interface Provisioned {
  /** Says what is to be said once the gateway serves. */
  readonly announce: (url: string) => Promise<void>;
  /** Where it runs, for an account. */
  readonly sandbox: SandboxPart | undefined;
}

/** Applies the accounts, and runs the sandbox where it is wanted. */
export async function provision(
  config: Config,
  quickStart: boolean,
  storage: Storage,
  started: Started,
  log: Log,
): Promise<Provisioned> {
  const { accounts, dataDir } = config;
  const former = await readQuickStart(dataDir);
  // A configuration on the data of a quick start leaves its account as it was.
  const isQuick = accounts.length === 0 && (quickStart || former !== undefined);
  const owner = await sandboxOwner(storage);
  // Whoever may make connections can make one that looks like it: alone it proves nothing.
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
      await writeState(stateFile(dataDir), announced);
    }
    const account = await storage.accounts.findByEmail(holder.email);
    if (account !== undefined) running = { accountId: account.accountId, receiver, received };
  } else {
    await storage.provision(wanted);
    // Nothing listens there any more: "switched off" says more than "connection refused".
    if (config.sandbox === false && owner !== undefined) await storage.connections.switchOff(SANDBOX_CONNECTION_ID);
    if ((await storage.accounts.count()) === 0) log('warn', NO_ACCOUNT);
  }
  return {
    sandbox: running,
    announce: async (url) => {
      if (!isQuick || announced === undefined) return;
      process.stdout.write(`\n${quickStartBanner({ url, dataDir, credentials })}\n`);
      if (credentials !== undefined) await markAnnounced(dataDir, announced);
    },
  };
}

const NO_ACCOUNT = 'there is no account, so nobody can log in: name one under accounts in the configuration';
