/** Real FTP servers as processes of the test: on loopback, with their own free port, folder and login. */
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, chownSync, copyFileSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { freeHundred, freePort } from '../support/ports.js';
import { unpacked } from './packages.js';

export interface FtpServer {
  readonly name: string;
  readonly port: number;
  readonly username: string;
  readonly password: string;
  readonly tls: 'none' | 'explicit' | 'implicit';
  /** PEM of the authority that signed the server's certificate. */
  readonly ca: string | undefined;
  /** The login's root on this machine's disk. */
  readonly folder: string;
  stop(): Promise<void>;
}

export interface ServerOptions {
  readonly tls?: 'none' | 'explicit' | 'implicit';
  /** Lines added to the server's configuration (vsftpd, proftpd). */
  readonly extra?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Names that differ only in case are equal (proftpd). */
  readonly ignoresCase?: boolean;
}

const USERNAME = 'tester';
const PASSWORD = 'S3cret pass-wörd';
const NOBODY = 65_534;
/** vsftpd enters the user's home first, so the user must exist. */
const DAEMON = 1;
const STARTUP_MS = 120_000;

export async function startVsftpd({ tls = 'none', extra = [], env = {} }: ServerOptions = {}): Promise<FtpServer> {
  const place = makePlace('vsftpd', DAEMON);
  const port = await freePort();
  const service = `ftg-test-${randomBytes(6).toString('hex')}`;
  const pamFile = `/etc/pam.d/${service}`;
  // vsftpd knows users only through PAM; here any password is accepted, but only this name.
  const names = path.join(place.base, 'names-allowed');
  writeFileSync(names, `${USERNAME}\n`);
  writeFileSync(
    pamFile,
    `auth required pam_listfile.so item=user sense=allow file=${names} onerr=fail quiet\naccount required pam_permit.so\n`,
  );
  const empty = path.join(place.base, 'empty');
  mkdirSync(empty);
  const certificate = tls === 'none' ? undefined : makeCertificate(place.base);
  const config = path.join(place.base, 'vsftpd.conf');
  writeFileSync(
    config,
    [
      'listen=YES',
      'listen_address=127.0.0.1',
      `listen_port=${port}`,
      'background=NO',
      'anonymous_enable=NO',
      'local_enable=YES',
      'write_enable=YES',
      'guest_enable=YES',
      'guest_username=daemon',
      'virtual_use_local_privs=YES',
      `local_root=${place.folder}`,
      'chroot_local_user=YES',
      'allow_writeable_chroot=YES',
      'seccomp_sandbox=NO',
      'isolate=NO',
      'isolate_network=NO',
      `secure_chroot_dir=${empty}`,
      `pam_service_name=${service}`,
      'pasv_address=127.0.0.1',
      'local_umask=022',
      ...(certificate === undefined
        ? []
        : [
            'ssl_enable=YES',
            'force_local_data_ssl=YES',
            'force_local_logins_ssl=YES',
            'require_ssl_reuse=YES',
            'ssl_tlsv1=YES',
            `implicit_ssl=${tls === 'implicit' ? 'YES' : 'NO'}`,
            `rsa_cert_file=${certificate.chainFile}`,
            `rsa_private_key_file=${certificate.keyFile}`,
          ]),
      ...extra,
      '',
    ].join('\n'),
  );
  const child = run('/usr/sbin/vsftpd', [config], env);
  await answering(child, port);
  return {
    ...login(`vsftpd${tls === 'none' ? '' : ` (${tls} TLS, require_ssl_reuse)`}`, port, tls, certificate, place.folder),
    stop: () => end(child, place.base, pamFile),
  };
}

export async function startPureFtpd({ tls = 'none', env = {} }: ServerOptions = {}): Promise<FtpServer> {
  const root = unpacked(['pure-ftpd', 'pure-ftpd-common']);
  const place = makePlace('pure-ftpd');
  const port = await freePort();
  const hash = execFileSync('openssl', ['passwd', '-5', PASSWORD], { encoding: 'utf8' }).trim();
  const users = path.join(place.base, 'users');
  writeFileSync(users, `${USERNAME}:${hash}:${NOBODY}:${NOBODY}::${place.folder}/./::::::::::::\n`);
  const database = path.join(place.base, 'users.pdb');
  execFileSync(path.join(root, 'usr/bin/pure-pw'), ['mkdb', database, '-f', users]);
  const certificate = tls === 'none' ? undefined : makeCertificate(place.base);
  const firstPassive = freeHundred();
  const child = run(
    path.join(root, 'usr/sbin/pure-ftpd'),
    [
      ...['-4', '-E', '-H', '-A', '-z', '-D', '-u', '1', '-c', '40', '-C', '40'],
      ...['-S', `127.0.0.1,${port}`, '-l', `puredb:${database}`, '-p', `${firstPassive}:${firstPassive + 99}`],
      ...['-g', path.join(place.base, 'pid'), '-f', 'none'],
      ...(certificate === undefined ? ['-Y', '0'] : ['-Y', '3', '-2', certificate.bundleFile]),
    ],
    env,
  );
  await answering(child, port);
  return {
    ...login(`pure-ftpd${tls === 'none' ? '' : ` (${tls} TLS)`}`, port, tls, certificate, place.folder),
    stop: () => end(child, place.base),
  };
}

export async function startProftpd({
  tls = 'none',
  extra = [],
  env = {},
  ignoresCase = false,
}: ServerOptions = {}): Promise<FtpServer> {
  const root = unpacked([
    ...['proftpd-core', 'proftpd-mod-crypto', 'libhiredis0.14', 'libmemcached11', 'libmemcachedutil2', 'libhashkit2'],
    'libpcre2-posix3',
  ]);
  const modules = path.join(root, 'usr/lib/proftpd');
  if (ignoresCase) {
    // Overwriting it in place would crash a server that has it loaded.
    const copy = `${modules}/mod_case.${randomBytes(6).toString('hex')}`;
    copyFileSync(path.join(unpacked(['proftpd-mod-case']), 'usr/lib/proftpd/mod_case.so'), copy);
    renameSync(copy, `${modules}/mod_case.so`);
  }
  const place = makePlace('proftpd');
  const port = await freePort();
  const hash = execFileSync('openssl', ['passwd', '-5', PASSWORD], { encoding: 'utf8' }).trim();
  const users = path.join(place.base, 'users');
  writeFileSync(users, `${USERNAME}:${hash}:${NOBODY}:${NOBODY}::${place.folder}:/bin/sh\n`, { mode: 0o600 });
  const certificate = tls === 'none' ? undefined : makeCertificate(place.base);
  const config = path.join(place.base, 'proftpd.conf');
  writeFileSync(
    config,
    [
      'ServerName test',
      'ServerType standalone',
      'DefaultAddress 127.0.0.1',
      'SocketBindTight on',
      `Port ${port}`,
      'UseIPv6 off',
      'User nobody',
      'Group nogroup',
      'RequireValidShell off',
      'DefaultRoot ~',
      'AuthPAM off',
      'AuthOrder mod_auth_file.c',
      `AuthUserFile ${users}`,
      'AllowOverwrite on',
      'AllowStoreRestart on',
      'Umask 022 022',
      `PidFile ${place.base}/pid`,
      `ScoreboardFile ${place.base}/scoreboard`,
      `DelayEngine off`,
      'WtmpLog off',
      `TransferLog none`,
      `SystemLog none`,
      `ModulePath ${modules}`,
      ...(ignoresCase ? ['LoadModule mod_case.c', 'CaseEngine on', 'CaseIgnore on'] : []),
      ...(certificate === undefined
        ? []
        : [
            'LoadModule mod_tls.c',
            'TLSEngine on',
            'TLSRequired on',
            `TLSRSACertificateFile ${certificate.chainFile}`,
            `TLSRSACertificateKeyFile ${certificate.keyFile}`,
            `TLSLog ${place.base}/tls.log`,
            ...(tls === 'implicit' ? ['TLSOptions UseImplicitSSL'] : []),
          ]),
      ...extra,
      '',
    ].join('\n'),
  );
  const libraries = path.join(root, 'usr/lib/x86_64-linux-gnu');
  const child = run(path.join(root, 'usr/sbin/proftpd'), ['-n', '-c', config], { ...env, LD_LIBRARY_PATH: libraries });
  await answering(child, port);
  return {
    ...login(`proftpd${tls === 'none' ? '' : ` (${tls} TLS)`}`, port, tls, certificate, place.folder),
    stop: () => end(child, place.base),
  };
}

/** The SFTP server of ProFTPD: SSH and file protocol by another maker than OpenSSH. Offers no commands. */
export async function startProftpdSftp(): Promise<Omit<FtpServer, 'tls' | 'ca'>> {
  const keys = mkdtempSync(path.join(os.tmpdir(), 'ftg-mod-sftp-'));
  const hostKey = path.join(keys, 'host-key');
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', hostKey]);
  const server = await startProftpd({
    extra: ['LoadModule mod_sftp.c', 'SFTPEngine on', `SFTPHostKey ${hostKey}`, 'SFTPAuthMethods password'],
  });
  return {
    ...server,
    stop: async () => {
      await server.stop();
      rmSync(keys, { recursive: true, force: true });
    },
  };
}

interface Certificate {
  readonly ca: string;
  readonly chainFile: string;
  readonly keyFile: string;
  readonly bundleFile: string;
}

/** A new authority, and a certificate for `localhost` and 127.0.0.1 signed by it. */
export function makeCertificate(base: string): Certificate {
  const at = (name: string): string => path.join(base, name);
  const openssl = (...args: string[]): string => execFileSync('openssl', args, { encoding: 'utf8', stdio: 'pipe' });
  const keyOf = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
  openssl('req', '-x509', ...keyOf, '-subj', '/CN=test authority', '-keyout', at('ca.key'), '-out', at('ca.pem'));
  openssl(
    'req',
    ...keyOf.slice(0, 4),
    '-nodes',
    '-subj',
    '/CN=localhost',
    '-keyout',
    at('key.pem'),
    '-out',
    at('csr.pem'),
  );
  writeFileSync(at('names'), 'subjectAltName=DNS:localhost,IP:127.0.0.1\n');
  openssl(
    ...['x509', '-req', '-in', at('csr.pem'), '-CA', at('ca.pem'), '-CAkey', at('ca.key'), '-CAcreateserial'],
    ...['-days', '2', '-extfile', at('names'), '-out', at('cert.pem')],
  );
  const read = (name: string): string => execFileSync('cat', [at(name)], { encoding: 'utf8' });
  writeFileSync(at('bundle.pem'), read('key.pem') + read('cert.pem'), { mode: 0o600 });
  return { ca: read('ca.pem'), chainFile: at('cert.pem'), keyFile: at('key.pem'), bundleFile: at('bundle.pem') };
}

function makePlace(name: string, owner = NOBODY): { readonly base: string; readonly folder: string } {
  const base = mkdtempSync(path.join(os.tmpdir(), `ftg-${name}-`));
  chmodSync(base, 0o755);
  const folder = path.join(base, 'files');
  mkdirSync(folder, { mode: 0o755 });
  chownSync(folder, owner, owner);
  return { base, folder };
}

function login(
  name: string,
  port: number,
  tls: FtpServer['tls'],
  certificate: Certificate | undefined,
  folder: string,
): Omit<FtpServer, 'stop'> {
  return { name, port, username: USERNAME, password: PASSWORD, tls, ca: certificate?.ca, folder };
}

function run(command: string, args: readonly string[], env: Readonly<Record<string, string>>): ChildProcess {
  return spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, ...env } });
}

async function answering(child: ChildProcess, port: number): Promise<void> {
  let said = '';
  child.stdout?.on('data', (chunk: Buffer) => (said += chunk.toString()));
  child.stderr?.on('data', (chunk: Buffer) => (said += chunk.toString()));
  const until = Date.now() + STARTUP_MS;
  while (Date.now() < until) {
    if (child.exitCode !== null) throw new Error(`the server ended at once: ${said}`);
    if (await canConnect(port)) return;
    await new Promise((done) => setTimeout(done, 20));
  }
  throw new Error(`the server does not answer on port ${port}: ${said}`);
}

function canConnect(port: number): Promise<boolean> {
  return new Promise((done) => {
    const socket = net.connect({ host: '127.0.0.1', port });
    socket.once('data', () => finish(true));
    socket.once('connect', () => setTimeout(() => finish(true), 50));
    socket.once('error', () => finish(false));
    const finish = (answers: boolean): void => {
      socket.destroy();
      done(answers);
    };
  });
}

async function end(child: ChildProcess, base: string, ...files: string[]): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) {
    const gone = once(child, 'exit');
    child.kill('SIGTERM');
    const hard = setTimeout(() => child.kill('SIGKILL'), 2_000);
    await gone;
    clearTimeout(hard);
  }
  for (const file of [base, ...files]) rmSync(file, { recursive: true, force: true });
}
