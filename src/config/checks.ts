/** Rules that a schema cannot express: values that must agree with each other, and files that must exist. */
import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import { systemCodeOf } from '../base/errors.js';
import { compileGlob } from '../base/globs/glob.js';
import { imageTypeOf } from '../base/image-type.js';
import { refusalOf } from '../connections/checks.js';
import { excessOf } from '../connections/private-key-bounds.js';
import { type Values, withOwnSecrets } from '../contract/connection/definition.js';
import { MOST_HOPS } from '../contract/connection/fields.js';
import { definitionOf } from '../contract/connection/types.js';
import { LOGO_BYTES } from '../contract/units.js';
import type { AccountConfig, ConnectionConfig, FileConfig } from './schema.js';
import { type KeyPath, quoted } from './mistakes.js';
import { referencesIn } from './references.js';

/** Reports a mistake. */
export type Report = (path: KeyPath, found: string, allowed: string) => void;

export function checkConfig(config: FileConfig, report: Report): void {
  checkTls(config, report);
  checkMail(config, report);
  checkProxy(config, report);
  checkS3(config, report);
  checkSecrets(config, report);
  checkSkipNames(config, report);
  checkAcrossAccounts(config.accounts, report);
  config.accounts.forEach((account, index) => {
    const path = ['accounts', index];
    checkPlan(account, config.limits.plans, path, report);
    checkBrand(account, path, report);
    checkApiKeys(account, path, report);
    checkConnections(account, path, report);
  });
}

/** For a tree that breaks the schema elsewhere: unknown plans are reported together with its mistakes. */
export function checkPlanNames(tree: unknown, report: Report): void {
  const { accounts, limits } = (tree ?? {}) as { readonly accounts?: unknown; readonly limits?: { plans?: unknown } };
  const plans = limits?.plans;
  if (!Array.isArray(accounts) || typeof plans !== 'object' || plans === null) return;
  accounts.forEach((account: unknown, index) => {
    const plan = (account as { readonly plan?: unknown } | null)?.plan;
    if (typeof plan === 'string') requirePlan(plan, plans, ['accounts', index], report);
  });
}

/** 32 bytes as hex or base64; URL-safe and unpadded base64 are allowed. */
export function isMasterKey(text: string): boolean {
  return /^[0-9a-f]{64}$/i.test(text) || /^[A-Za-z0-9+/_-]{43}=?$/.test(text);
}

function checkTls({ server }: FileConfig, report: Report): void {
  const { certFile, keyFile } = server.tls;
  if (certFile === '' && keyFile === '') return;
  if (certFile === '' || keyFile === '') {
    const missing = certFile === '' ? 'certFile' : 'keyFile';
    report(['server', 'tls', missing], '""', 'certFile and keyFile together, or neither');
    return;
  }
  const cert = readable(['server', 'tls', 'certFile'], certFile, report);
  const key = readable(['server', 'tls', 'keyFile'], keyFile, report);
  if (cert === undefined || key === undefined) return;
  try {
    createSecureContext({ cert, key });
  } catch {
    const files = `${quoted(certFile)} with ${quoted(keyFile)}`;
    report(
      ['server', 'tls'],
      files,
      'a PEM certificate (chain) and the PEM private key that belongs to it, without passphrase',
    );
  }
}

function checkMail({ mail }: FileConfig, report: Report): void {
  if (mail.url !== '' && mail.from === '') {
    report(['mail', 'from'], '""', 'the address that mails come from, as mail.url is set');
  }
}

function checkProxy({ network }: FileConfig, report: Report): void {
  const { url, username, password } = network.proxy;
  if (url === '' && (username !== '' || password !== '')) {
    report(['network', 'proxy', 'url'], '""', 'the URL of the proxy, as a login for it is set');
  }
}

function checkS3({ s3, server }: FileConfig, report: Report): void {
  if (s3.port !== 0 && s3.port === server.port) {
    report(['s3', 'port'], String(s3.port), 'another port than server.port, or 0 for no second listener');
  }
}

function checkSecrets(config: FileConfig, report: Report): void {
  const { address, tokenFile, role } = config.secrets.vault;
  const references = referencesIn(config);
  const isNamed = (source: string): boolean => references.some((reference) => reference.startsWith(source));
  const path = ['secrets', 'vault'];
  if (isNamed('aws:') && config.secrets.aws.region === '') {
    report(['secrets', 'aws', 'region'], '""', 'a region, as a secret refers to AWS');
  }
  if (isNamed('vault:') && address === '')
    report([...path, 'address'], '""', 'the URL of Vault, as a secret refers to it');
  if (address !== '' && tokenFile === '' && role === '') {
    report([...path, 'tokenFile'], '""', 'a tokenFile or a role, as secrets.vault.address is set');
  }
  if (tokenFile !== '' && role !== '') report([...path, 'role'], 'a tokenFile too', 'one of the two');
}

function checkSkipNames({ watcher }: FileConfig, report: Report): void {
  watcher.skipNames.forEach((glob, index) => {
    try {
      compileGlob(glob);
    } catch {
      report(['watcher', 'skipNames', index], quoted(glob), 'a glob such as *.tmp, its brackets closed');
    }
  });
}

function checkAcrossAccounts(accounts: readonly AccountConfig[], report: Report): void {
  const emails = new Unique('each e-mail address once', report);
  const keys = new Unique('each key once, over all accounts', report);
  const accessKeyIds = new Unique('each accessKeyId once, over all accounts', report);
  const ids = new Unique('each id once, over all accounts', report);
  accounts.forEach((account, a) => {
    emails.add(['accounts', a, 'email'], account.email.toLowerCase());
    account.apiKeys.forEach(({ key, s3 }, k) => {
      keys.add(['accounts', a, 'apiKeys', k, 'key'], key);
      if (s3 !== undefined) accessKeyIds.add(['accounts', a, 'apiKeys', k, 's3', 'accessKeyId'], s3.accessKeyId);
    });
    account.connections.forEach(({ id }, c) => {
      if (id !== undefined) ids.add(['accounts', a, 'connections', c, 'id'], id);
    });
  });
}

function checkBrand({ brand }: AccountConfig, path: KeyPath, report: Report): void {
  if (brand?.logoFile === undefined || brand.logoFile === '') return;
  const at = [...path, 'brand', 'logoFile'];
  const logo = readable(at, brand.logoFile, report);
  if (logo === undefined || (logo.length <= LOGO_BYTES && imageTypeOf(logo) !== undefined)) return;
  report(at, `${quoted(brand.logoFile)}, which holds something else`, 'a PNG, JPEG or WebP image of at most 64 KiB');
}

function checkPlan(account: AccountConfig, plans: FileConfig['limits']['plans'], path: KeyPath, report: Report): void {
  requirePlan(account.plan, plans, path, report);
  const plan = Object.hasOwn(plans, account.plan) ? plans[account.plan] : undefined;
  if (plan === undefined) return;
  const active = account.connections.filter((connection) => connection.isActive).length;
  if (plan.connections > 0 && active > plan.connections) {
    const limit = `limits.plans.${account.plan}.connections`;
    report([...path, 'connections'], `${active} active ones`, `at most ${plan.connections}, by ${limit}`);
  }
}

function requirePlan(plan: string, plans: object, path: KeyPath, report: Report): void {
  if (Object.hasOwn(plans, plan)) return;
  report([...path, 'plan'], quoted(plan), `a plan under limits.plans: ${Object.keys(plans).join(', ')}`);
}

function checkApiKeys(account: AccountConfig, path: KeyPath, report: Report): void {
  const names = new Unique('each name once in an account', report);
  const ids = account.connections.flatMap(({ id }) => id ?? []);
  account.apiKeys.forEach((key, k) => {
    const keyPath = [...path, 'apiKeys', k];
    names.add([...keyPath, 'name'], key.name);
    key.connections.forEach((id, c) => {
      if (ids.includes(id)) return;
      const known = ids.length > 0 ? ids.join(', ') : 'none has an id';
      report([...keyPath, 'connections', c], quoted(id), `the id of a connection of the same account (${known})`);
    });
    // The format allows a leap second, which a Date cannot represent.
    if (key.expiresAt !== undefined && Number.isNaN(Date.parse(key.expiresAt))) {
      report([...keyPath, 'expiresAt'], quoted(key.expiresAt), 'a date-time such as 2027-01-31T00:00:00Z, or null');
    }
  });
}

function checkConnections(account: AccountConfig, path: KeyPath, report: Report): void {
  const names = new Unique('each name once in an account', report);
  account.connections.forEach((connection, c) => {
    const connectionPath = [...path, 'connections', c];
    names.add([...connectionPath, 'name'], connection.name);
    checkConnection(connection, connectionPath, report);
    checkWay(connection, account, connectionPath, report);
  });
}

/** Each jump host is an SFTP connection of the account, and the way ends. */
function checkWay(connection: ConnectionConfig, { connections }: AccountConfig, path: KeyPath, report: Report): void {
  let { via } = connection;
  const first = quoted(via ?? '');
  for (let hops = 1; via !== undefined && via !== ''; hops += 1) {
    const jump = connections.find(({ id }) => id === via);
    if (jump?.type !== 'sftp') {
      report([...path, 'via'], quoted(via), 'the id of an SFTP connection of the same account');
      return;
    }
    if (hops > MOST_HOPS) {
      report([...path, 'via'], first, `a way that ends: at most ${MOST_HOPS} jump hosts, and no circle`);
      return;
    }
    ({ via } = jump);
  }
}

function checkConnection(connection: ConnectionConfig, path: KeyPath, report: Report): void {
  const definition = definitionOf(connection);
  const { settings, secrets, mistakes, conflicts } = definition;
  const entry: Values = { ...connection };
  const fileAt = (key: string | undefined): Buffer | undefined => {
    const file = key === undefined ? undefined : entry[key];
    return key === undefined || typeof file !== 'string' || file === ''
      ? undefined
      : readable([...path, key], file, report);
  };
  const contradictions = conflicts?.(withOwnSecrets(entry, definition), []) ?? [];
  for (const { key, found, allowed } of [...(mistakes?.(entry) ?? []), ...contradictions]) {
    report([...path, ...key.split('.')], found, allowed);
  }
  for (const [name, { file }] of Object.entries({ ...settings, ...secrets })) {
    const isSet = (key: string | undefined): boolean => key !== undefined && (entry[key] ?? '') !== '';
    if (isSet(name) && isSet(file?.key)) report([...path, name], `a ${file?.key ?? ''} too`, 'one of the two');
  }
  for (const [name, { file, check }] of Object.entries(settings)) {
    fileAt(file?.key);
    const texts: unknown = entry[name];
    if (file?.key !== undefined && typeof texts === 'string' && texts !== '') {
      const refusal = refusalOf(check, texts);
      // A private key in this place must not be shown.
      if (refusal !== undefined) report([...path, name], 'a text that is not shown here', `a text that ${refusal}`);
    }
    if (!Array.isArray(texts)) continue;
    texts.forEach((text, index) => {
      const refusal = refusalOf(check, text);
      if (refusal !== undefined) report([...path, name, index], quoted(String(text)), `a text that ${refusal}`);
    });
  }
  for (const [name, { file, check }] of Object.entries(secrets)) {
    if (check !== 'privateKey') continue;
    const bound = (key: string, text: string): void => {
      const over = excessOf(text);
      if (over !== undefined) report([...path, key], over.found, `at most ${over.allowed}`);
    };
    const text = entry[name];
    if (typeof text === 'string') bound(name, text);
    if (file?.key !== undefined) bound(file.key, fileAt(file.key)?.toString() ?? '');
  }
}

function readable(path: KeyPath, file: string, report: Report): Buffer | undefined {
  try {
    return readFileSync(file);
  } catch (error) {
    const reason = READ_WORDS[systemCodeOf(error)] ?? 'cannot be read';
    report(path, `${quoted(file)}, which ${reason}`, 'a file that can be read, relative to the working directory');
    return undefined;
  }
}

const READ_WORDS: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist',
  EACCES: 'this user may not read',
  EISDIR: 'is a folder',
};

/** Reports repeated values without quoting them: they may be keys. */
class Unique {
  readonly #seen = new Set<string>();
  readonly #allowed: string;
  readonly #report: Report;

  constructor(allowed: string, report: Report) {
    this.#allowed = allowed;
    this.#report = report;
  }

  add(path: KeyPath, value: string): void {
    if (this.#seen.has(value)) this.#report(path, 'the same a second time', this.#allowed);
    this.#seen.add(value);
  }
}
