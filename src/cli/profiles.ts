/**
 * Gateways and their credentials, by name: `$XDG_CONFIG_HOME/ftg/profiles.json`, mode 0600, because it contains keys.
 * FTG_URL and FTG_KEY take precedence.
 */
import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { systemCodeOf } from '../base/errors.js';
import { UsageError } from './exit-codes.js';

/** A login session: its cookie and its CSRF token. */
export interface SessionCredentials {
  readonly cookie: string;
  readonly csrfToken: string;
}

export interface Profile {
  readonly url: string;
  readonly key?: string;
  readonly session?: SessionCredentials;
}

interface ProfileFile {
  /** The default profile. */
  readonly current?: string;
  readonly profiles: Readonly<Record<string, Profile>>;
}

type Environment = Readonly<Record<string, string | undefined>>;

const OTHERS_MAY_READ = 0o077;

export function profilePath(env: Environment): string {
  const folder = env['XDG_CONFIG_HOME'];
  // A relative path must be ignored (XDG Base Directory, "Environment variables").
  return join(folder?.startsWith('/') === true ? folder : join(homedir(), '.config'), 'ftg', 'profiles.json');
}

/** A missing file counts as empty. @throws UsageError if it is not a profile file, or others may read it */
export function readProfiles(path: string): ProfileFile {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if (systemCodeOf(error) === 'ENOENT') return { profiles: {} };
    throw error;
  }
  if (process.platform !== 'win32' && (statSync(path).mode & OTHERS_MAY_READ) !== 0) {
    throw new UsageError(`${path} holds keys, and others may read it: chmod 600 ${path}`);
  }
  try {
    const file = JSON.parse(text) as Partial<ProfileFile> | null;
    if (typeof file?.profiles === 'object') return { ...file, profiles: file.profiles };
  } catch {
    // Reported below.
  }
  throw new UsageError(`${path} is not a profile file: mend it, or delete it and log in again`);
}

/** Complete or not at all: a truncated file would lose every key. */
export function writeProfiles(path: string, file: ProfileFile): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const temporary = `${path}.${randomBytes(6).toString('hex')}`;
  try {
    writeFileSync(temporary, `${JSON.stringify(file, null, 2)}\n`, { mode: 0o600, flag: 'wx' });
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

/** The gateway of a command. `name` is that of the profile; undefined if the environment has everything. */
export interface Access extends Profile {
  readonly name: string | undefined;
}

/** `wanted`: the profile on the command line, which takes precedence over the environment. @throws UsageError */
export function findAccess(env: Environment, wanted: string | undefined): Access {
  const [url, key] = wanted === undefined ? [env['FTG_URL'] ?? '', env['FTG_KEY'] ?? ''] : ['', ''];
  if (url !== '' && key !== '') return { name: undefined, url: checkedUrl(url), key };
  const file = readProfiles(profilePath(env));
  const name = profileName(env, file, wanted);
  const profile = file.profiles[name];
  if (profile === undefined) {
    if (url !== '') throw new UsageError('FTG_URL is set without FTG_KEY, and there is no profile to take a key from');
    throw new UsageError(
      `there is no profile "${name}": ftg login --url URL or ftg profiles add NAME --url URL, or set FTG_URL and FTG_KEY`,
    );
  }
  if (url !== '' && checkedUrl(url) !== profile.url) {
    // The key of one gateway must not be sent to another.
    throw new UsageError(`FTG_URL is not the gateway of profile "${name}": set FTG_KEY too`);
  }
  return key === '' ? { name, ...profile } : { name, url: profile.url, key };
}

export function profileName(env: Environment, file: ProfileFile, wanted: string | undefined): string {
  return wanted ?? (env['FTG_PROFILE'] || (file.current ?? 'default'));
}

/** Without a slash at its end. @throws UsageError */
export function checkedUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !['http:', 'https:'].includes(url.protocol) || url.username !== '' || url.search !== '') {
    throw new UsageError(`${text} is no address of a gateway; such as https://files.example.com`);
  }
  return url.href.replace(/\/+$/, '');
}
