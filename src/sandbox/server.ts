import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { chmod, link, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import net from 'node:net';
import { dirname } from 'node:path';
import ssh2, { type AuthContext, type Connection, type ParsedKey } from 'ssh2';
import { serveChannel } from './channel.js';
import { FailingFiles } from './fail.js';
import type { Files } from './files.js';
import { Folder } from './folder.js';
import { withFailures } from './tree.js';

/** A login without success is cut after this time, or after this many tries. */
const LOGIN_MS = 20_000;
const MAX_TRIES = 6;

interface SandboxOptions {
  /** Shown as "/"; made if it is missing. */
  readonly folder: string;
  readonly host: string;
  /** 0 = any free one. */
  readonly port: number;
  readonly username: string;
  readonly password: string;
  /** Generated at the first start and kept, readable by its owner only. */
  readonly hostKeyFile: string;
}

interface Sandbox {
  readonly port: number;
  /** `SHA256:…` */
  readonly hostKeyFingerprint: string;
  /** Stops listening and cuts the sessions. */
  close(): Promise<void>;
}

/**
 * A small SFTP server over one folder, to try the gateway: one login, no shell, nothing outside the folder. Rejects if
 * the folder, the key file or the port cannot be used.
 */
export async function startSandbox(options: SandboxOptions): Promise<Sandbox> {
  await mkdir(options.folder, { recursive: true });
  // Only its owner may read it: others may have logins on this machine.
  await chmod(options.folder, 0o700);
  const folder = await Folder.at(options.folder);
  const hostKey = await readHostKey(options.hostKeyFile);
  const sockets = new Set<net.Socket>();
  const cutAll = (): void => sockets.forEach((socket) => socket.destroy());
  let isNextOther = false;
  const failing = new FailingFiles(() => {
    isNextOther = true;
    cutAll();
  });
  const files = withFailures(folder, failing);
  const [known, other] = [hostKey.text, newHostKey()].map((key) => {
    const ssh = new ssh2.Server({ hostKeys: [key], ident: 'sandbox' });
    return ssh.on('connection', (connection) => serve(connection, options, files));
  }) as [ssh2.Server, ssh2.Server];
  const listener = net.createServer({ noDelay: true }, (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    (isNextOther ? other : known).injectSocket(socket);
    isNextOther = false;
  });
  listener.listen(options.port, options.host);
  await once(listener, 'listening');
  return {
    port: (listener.address() as net.AddressInfo).port,
    hostKeyFingerprint: hostKey.fingerprint,
    close: async () => {
      const closed = listener.listening ? once(listener, 'close') : undefined;
      listener.close();
      cutAll();
      await closed;
    },
  };
}

function serve(connection: Connection, options: SandboxOptions, files: Files): void {
  let tries = 0;
  const loginTimer = setTimeout(() => connection.end(), LOGIN_MS);
  connection.on('error', () => undefined);
  connection.on('close', () => clearTimeout(loginTimer));
  connection.on('authentication', (context) => {
    if (isRightLogin(context, options)) {
      clearTimeout(loginTimer);
      context.accept();
      return;
    }
    tries += 1;
    if (tries > MAX_TRIES) connection.end();
    else context.reject(['password']);
  });
  connection.on('ready', () => {
    connection.on('session', (acceptSession) => {
      // Only SFTP has a listener: ssh2 refuses shells, commands and forwarding by itself.
      acceptSession().on('sftp', (acceptSftp) => serveChannel(acceptSftp(), files));
    });
  });
}

/** Compares digests, so that the time does not reveal the length or the first wrong character. */
function isRightLogin(context: AuthContext, { username, password }: SandboxOptions): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  const given = context.method === 'password' ? context.password : '';
  const isUser = timingSafeEqual(digest(context.username), digest(username));
  const isPassword = timingSafeEqual(digest(given), digest(password));
  return context.method === 'password' && isUser && isPassword;
}

async function readHostKey(file: string): Promise<{ readonly text: string; readonly fingerprint: string }> {
  let text = await readFile(file, 'utf8').catch(unlessMissing);
  if (text === undefined) {
    await mkdir(dirname(file), { recursive: true });
    const draft = `${file}.${randomBytes(6).toString('hex')}`;
    await writeFile(draft, newHostKey(), { mode: 0o600, flag: 'wx' });
    try {
      // Linking creates a complete file or nothing, and keeps the key of another process that was faster.
      await link(draft, file).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== 'EEXIST') throw error;
      });
    } finally {
      await rm(draft, { force: true });
    }
    text = await readFile(file, 'utf8');
  }
  const key = ssh2.utils.parseKey(text) as ParsedKey | ParsedKey[] | Error;
  if (key instanceof Error) throw new Error(`${file} holds no usable host key`, { cause: key });
  const blob = (Array.isArray(key) ? key[0]! : key).getPublicSSH();
  const hash = createHash('sha256').update(blob).digest('base64').replace(/=+$/, '');
  return { text, fingerprint: `SHA256:${hash}` };
}

function newHostKey(): string {
  // The library drops the first byte of a key if it is zero: one key of 256 is unusable.
  for (;;) {
    const { private: text } = ssh2.utils.generateKeyPairSync('ed25519');
    if (!(ssh2.utils.parseKey(text) instanceof Error)) return text;
  }
}

function unlessMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}
