/**
 * The state of a quick start. The sandbox's login is stored in dataDir/quick-start.json. The account's key and password
 * are not: the database stores their hashes, and they are shown once. `isAnnounced` is set only after they were
 * printed, so that after a failed start the next one creates new ones, instead of leaving an account without a known
 * login.
 */
import { randomBytes } from 'node:crypto';
import { readFile, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { systemCodeOf } from '../base/errors.js';
import { writePrivateDraft } from '../base/private-file.js';
import { ConfigError } from '../config/mistakes.js';
import { SCOPES } from '../contract/scopes.js';
import type { AccountConfig } from '../config/schema.js';
import { SANDBOX_USERNAME, type SandboxState } from './sandbox.js';

/** In the top-level domain that never leaves the machine (RFC 6761). */
export const QUICK_START_EMAIL = 'owner@gateway.localhost';
const KEY_NAME = 'quick-start';

/** dataDir/quick-start.json */
interface QuickStartState extends SandboxState {
  /** Whether key and password were shown. */
  readonly isAnnounced: boolean;
}

/** Shown once. */
export interface QuickStartLogin {
  readonly apiKey: string;
  readonly password: string;
}

/** The state of a quick start in this folder; undefined = there was none. ConfigError if the file cannot be used. */
export async function readQuickStart(dataDir: string): Promise<QuickStartState | undefined> {
  const file = stateFile(dataDir);
  try {
    return parseState(await readFile(file, 'utf8'), file);
  } catch (error) {
    if (systemCodeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** Creates and stores the state of a first start. */
export async function makeQuickStart(dataDir: string): Promise<QuickStartState> {
  const fresh = { sandbox: { username: SANDBOX_USERNAME, password: randomPassword() }, isAnnounced: false };
  await storeQuickStart(dataDir, fresh);
  return fresh;
}

/** Complete or not at all, and readable only by its owner. */
export async function storeQuickStart(dataDir: string, state: QuickStartState): Promise<void> {
  const file = stateFile(dataDir);
  const draft = await writePrivateDraft(file, `${JSON.stringify(state, undefined, 2)}\n`);
  try {
    await rename(draft, file);
  } finally {
    await rm(draft, { force: true });
  }
}

/**
 * Credentials for the banner, or undefined if they were shown before. A database without accounts is new: it does not
 * have the credentials, even if the file says that they were shown.
 */
export function newCredentials(
  state: QuickStartState,
  accountCount: number,
  generateKey: () => string,
): QuickStartLogin | undefined {
  if (state.isAnnounced && accountCount > 0) return undefined;
  return { apiKey: generateKey(), password: randomPassword() };
}

/**
 * The account of the quick start. Without credentials the first ones stay valid, because provisioning removes nothing.
 */
export function quickStartAccount(credentials?: QuickStartLogin): AccountConfig {
  const account = { email: QUICK_START_EMAIL, plan: 'pro', connections: [] };
  if (credentials === undefined) return { ...account, apiKeys: [] };
  const apiKey = { name: KEY_NAME, key: credentials.apiKey, scopes: [...SCOPES], connections: [], allowedIps: [] };
  return { ...account, password: credentials.password, apiKeys: [apiKey] };
}

export function stateFile(dataDir: string): string {
  return path.resolve(dataDir, 'quick-start.json');
}

/** Only letters and digits, so that it can be typed and pasted anywhere. */
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
    // Refused below, like a file of another form.
  }
  const allowed = 'the file as it was, or none: delete it, and the next start makes a new API key and password';
  throw new ConfigError([{ path: file, found: 'not the state of a quick start', allowed, place: undefined }]);
}
