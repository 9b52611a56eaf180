/** Only ssh2, with the remote calls that the gateway makes, and the same ones concurrently. */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import net from 'node:net';
import { Client, type SFTPWrapper, type Stats } from 'ssh2';
import { pathOn, type SftpTarget } from '../lab/target.js';
import { ownName, type BareCall, type Driver } from './spec.js';

export async function sftpDriver(target: SftpTarget, call: BareCall, clients: number): Promise<Driver> {
  const sessions = await Promise.all(Array.from({ length: Math.min(call.sessions, clients) }, () => logIn(target)));
  const channels: SFTPWrapper[] = [];
  for (let client = 0; client < clients; client += 1) {
    const session = sessions[client % sessions.length];
    if (session !== undefined) channels.push(await promised<SFTPWrapper>((done) => session.sftp(done)));
  }
  const body = readFileSync(call.bodyFile);
  return {
    call: async (client, turn) => {
      const sftp = channels[client];
      if (sftp === undefined) throw new Error(`there is no channel ${client}`);
      const path = pathOn(target, call.name);
      if (call.operation === 'upload') await upload(sftp, `${path}${ownName(client, turn)}`, body);
      else if (call.operation === 'download') await download(sftp, path, body.length);
      else if (call.operation === 'exists') await promised<Stats>((done) => sftp.stat(path, done));
      else await promised((done) => sftp.readdir(path, done));
    },
    close: () => sessions.forEach((session) => session.end()),
  };
}

async function logIn(target: SftpTarget): Promise<Client> {
  const client = new Client();
  const ready = once(client, 'ready');
  const { host, port, username } = target;
  const sock = net.connect({ host, port, noDelay: true });
  client.connect({ sock, username, privateKey: readFileSync(target.keyFile) });
  await ready;
  return client;
}

async function upload(sftp: SFTPWrapper, path: string, body: Buffer): Promise<void> {
  const hidden = `${path}.part`;
  const [handle] = await Promise.all([
    promised<Buffer>((done) => sftp.open(hidden, 'w', done)),
    promised<Stats>((done) => sftp.stat(path, done)).catch(() => undefined),
  ]);
  await settled((done) => sftp.write(handle, body, 0, body.length, 0, done));
  const [{ size }] = await Promise.all([
    promised<Stats>((done) => sftp.fstat(handle, done)),
    settled((done) => sftp.close(handle, done)),
  ]);
  if (size !== body.length) throw new Error(`${hidden} has ${size} bytes`);
  await settled((done) => sftp.ext_openssh_rename(hidden, path, done));
}

async function download(sftp: SFTPWrapper, path: string, bytes: number): Promise<void> {
  const handle = await promised<Buffer>((done) => sftp.open(path, 'r', done));
  const into = Buffer.allocUnsafe(32 * 1024);
  const [, got] = await Promise.all([
    promised<Stats>((done) => sftp.fstat(handle, done)),
    promised<number>((done) => sftp.read(handle, into, 0, into.length, 0, done)),
  ]);
  await settled((done) => sftp.close(handle, done));
  if (got !== bytes) throw new Error(`${path} has ${got} bytes`);
}

type Failure = Error | null | undefined;

function promised<T>(start: (done: (error: Failure, value: T) => void) => void): Promise<T> {
  return new Promise((resolve, reject) => {
    start((error, value) => {
      if (error === null || error === undefined) resolve(value);
      else reject(error);
    });
  });
}

const settled = (start: (done: (error?: Failure) => void) => void): Promise<void> =>
  promised<void>((done) => start((error) => done(error)));
