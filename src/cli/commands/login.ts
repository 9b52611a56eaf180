/** `ftg login`, `logout` and `profiles`: known gateways and their credentials. */
import type { Arguments, Context, Session } from '../command.js';
import { EXIT, Exit, UsageError } from '../exit-codes.js';
import { FtgError } from '../../client/index.js';
import { Management, openGateway, type Schemas } from '../gateway.js';
import { table } from '../output.js';
import { checkedUrl, profileName, profilePath, readProfiles, writeProfiles, type Profile } from '../profiles.js';
import { ask, readSecret } from '../secrets.js';

interface LoginOptions {
  readonly url?: string;
  readonly email?: string;
  readonly passwordFile?: string;
  readonly code?: string;
}

export async function login(
  { out, signal, options: global }: Context,
  _: Arguments,
  options: LoginOptions,
): Promise<void> {
  const path = profilePath(process.env);
  const file = readProfiles(path);
  const name = profileName(process.env, file, global.profile);
  const former = file.profiles[name];
  const address = options.url ?? (process.env['FTG_URL'] || former?.url);
  if (address === undefined) throw new UsageError('--url: where the gateway is, such as https://files.example.com');
  const url = checkedUrl(address);
  const email = options.email ?? (await ask('E-mail', { isHidden: false, signal }));
  const password =
    options.passwordFile === undefined
      ? await ask('Password', { isHidden: true, signal })
      : await readSecret(options.passwordFile);
  const session = await logIn(url, { email, password, code: options.code }, signal);
  writeProfiles(path, { current: name, profiles: { ...file.profiles, [name]: { url, session } } });
  out.show({ profile: name, url, email }, () => `logged in as ${email}; profile ${name} is in use`);
}

interface Credentials {
  readonly email: string;
  readonly password: string;
  readonly code: string | undefined;
}

/** Asks for the code of the authenticator if one is needed and there is a terminal. */
async function logIn(
  url: string,
  { code, ...rest }: Credentials,
  signal: AbortSignal,
): Promise<NonNullable<Profile['session']>> {
  let cookie = '';
  const keeping: typeof fetch = async (input, init) => {
    const headers = new Headers(init?.headers);
    headers.delete('Authorization');
    const response = await fetch(input, { ...init, headers });
    cookie = response.headers.getSetCookie()[0]?.split(';')[0] ?? cookie;
    return response;
  };
  const manage = new Management({ baseUrl: url, apiKey: '', fetch: keeping }, signal);
  try {
    const json = { ...rest, ...(code === undefined ? {} : { code }) };
    const { csrfToken } = await manage.post<Schemas['LoginAnswer']>('login', json);
    return { cookie, csrfToken };
  } catch (error) {
    const asks = error instanceof FtgError && (error.code as string) === 'totp_required' && code === undefined;
    if (!asks || !process.stdin.isTTY) throw error;
    return logIn(url, { ...rest, code: await ask('Code of the authenticator', { isHidden: false, signal }) }, signal);
  }
}

/** Ends the session and deletes the profile's credentials. */
export async function logout(context: Context): Promise<void> {
  const path = profilePath(process.env);
  const file = readProfiles(path);
  const name = profileName(process.env, file, context.options.profile);
  const profile = file.profiles[name];
  if (profile === undefined) throw new UsageError(`there is no profile "${name}"`);
  if (profile.session !== undefined) {
    try {
      await openGateway(profile, context.signal).manage.post('logout');
    } catch (error) {
      // It has ended already.
      if (!(error instanceof FtgError) || error.status !== 401) throw error;
    }
  }
  forget(path, name);
  context.out.show({ profile: name }, () => `profile ${name} is forgotten`);
}

export async function listProfiles({ out, options }: Context): Promise<void> {
  const file = readProfiles(profilePath(process.env));
  const current = profileName(process.env, file, options.profile);
  const profiles = Object.entries(file.profiles).map(([name, { url, session }]) => ({
    name,
    url,
    access: session === undefined ? 'key' : 'login',
    isCurrent: name === current,
  }));
  out.show({ profiles }, () => {
    const rows = profiles.map(({ name, url, access, isCurrent }) => [isCurrent ? `${name} *` : name, url, access]);
    return table(['NAME', 'URL', 'WITH'], rows, 'no profiles');
  });
}

export async function addProfile(
  { out, signal }: Context,
  [name = '']: Arguments,
  options: { readonly url: string; readonly keyFile?: string },
): Promise<void> {
  const url = checkedUrl(options.url);
  const key =
    options.keyFile === undefined
      ? await ask('API key', { isHidden: true, signal })
      : await readSecret(options.keyFile);
  if (!/^ftg_[\x21-\x7e]+$/.test(key)) throw new UsageError('an API key begins with ftg_');
  const path = profilePath(process.env);
  const file = readProfiles(path);
  writeProfiles(path, { current: file.current ?? name, profiles: { ...file.profiles, [name]: { url, key } } });
  out.show({ name, url }, () => `profile ${name} is kept in ${path}`);
}

export async function useProfile({ out }: Context, [name = '']: Arguments): Promise<void> {
  const path = profilePath(process.env);
  const file = readProfiles(path);
  if (file.profiles[name] === undefined) throw noProfile(out, name);
  writeProfiles(path, { ...file, current: name });
  out.show({ name }, () => `profile ${name} is in use`);
}

export async function removeProfile({ out }: Context, [name = '']: Arguments): Promise<void> {
  const path = profilePath(process.env);
  if (readProfiles(path).profiles[name] === undefined) throw noProfile(out, name);
  forget(path, name);
  out.show({ name }, () => `profile ${name} is forgotten`);
}

function forget(path: string, name: string): void {
  const { current, profiles } = readProfiles(path);
  const rest = Object.fromEntries(Object.entries(profiles).filter(([other]) => other !== name));
  writeProfiles(path, { ...(current === undefined || current === name ? {} : { current }), profiles: rest });
}

function noProfile(out: Session['out'], name: string): Exit {
  out.fail(new Error(`there is no profile "${name}"`));
  return new Exit(EXIT.notFound);
}
