/** Ceph's object gateway over a cluster of one monitor and one memory store: S3 as many private clouds have it. */
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chown, mkdir, mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import http from 'node:http';
import { randomBytes, randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from '../support/ports.js';
import { useShared, type Stoppable } from '../support/shared.js';
import { unpacked } from './packages.js';

export interface RadosgwServer extends Stoppable {
  readonly endpoint: string;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

/** Unpacked, not installed: as packages they bring services, and programs for disks. */
const PACKAGES = ['radosgw', 'ceph-mon', 'ceph-osd'];
/** A key of its own key management. */
export const KMS_KEY = 'lake';
/** The daemons refuse to run as root, or warn; an unprivileged user has all rights that they need. */
const NOBODY = 65_534;
const START_TIMEOUT_MS = 240_000;
const run = promisify(execFile);

/** The shared one of the run: each test makes its own bucket in it. */
export function shareRadosgw(): Promise<RadosgwServer> {
  return useShared<RadosgwServer>('radosgw', startRadosgw);
}

/** Resolves when it answers, and knows a user. All ports are on loopback, all files in one folder. */
export async function startRadosgw(): Promise<RadosgwServer> {
  const root = unpacked(PACKAGES, { needs: true });
  const folder = await mkdtemp('/var/tmp/ftg-ceph-');
  const [monitor, port] = await Promise.all([freePort(), freePort()]);
  const libraries = join(root, 'usr/lib/x86_64-linux-gnu');
  const env = {
    PATH: `${join(root, 'usr/bin')}:${process.env['PATH'] ?? ''}`,
    LD_LIBRARY_PATH: [join(root, 'lib/x86_64-linux-gnu'), libraries, join(libraries, 'ceph')].join(':'),
    PYTHONPATH: join(root, 'usr/lib/python3/dist-packages'),
    CEPH_CONF: join(folder, 'ceph.conf'),
  };
  const ids = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
  const ceph = async (program: string, ...args: readonly string[]): Promise<void> => {
    await run(program, args, { env, cwd: folder, timeout: START_TIMEOUT_MS, ...ids });
  };
  const servers: ChildProcess[] = [];
  const serve = async (name: string, program: string, ...args: readonly string[]): Promise<ChildProcess> => {
    const output = await open(join(folder, `${name}.out`), 'w');
    // They end with this process, even if it is killed.
    const server = spawn('setpriv', ['--pdeathsig', 'KILL', program, ...args, '-f'], {
      env,
      cwd: folder,
      stdio: ['ignore', output.fd, output.fd],
      ...ids,
    });
    await output.close();
    servers.push(server);
    return server;
  };
  const stop = async (): Promise<void> => {
    const running = servers.filter(({ exitCode, signalCode }) => exitCode === null && signalCode === null);
    const ended = running.map((server) => once(server, 'exit'));
    for (const server of running) server.kill('SIGKILL');
    await Promise.all(ended);
    await rm(folder, { recursive: true, force: true });
  };
  const [fsid, disk] = [randomUUID(), randomUUID()];
  const login = { accessKeyId: 'tester', secretAccessKey: randomBytes(12).toString('hex') };
  try {
    await mkdir(join(folder, 'osd'));
    await writeFile(env.CEPH_CONF, configuration(folder, root, fsid, monitor, port));
    if ('uid' in ids) for (const file of ['', 'osd']) await chown(join(folder, file), NOBODY, NOBODY);
    const all = ['--cap', 'mon', 'allow *', '--cap', 'osd', 'allow *'];
    await ceph('ceph-authtool', '-C', '-n', 'mon.', '--gen-key', '--cap', 'mon', 'allow *', 'keyring');
    for (const name of ['client.admin', 'osd.0'])
      await ceph('ceph-authtool', '-n', name, '--gen-key', ...all, 'keyring');
    await ceph('monmaptool', '--create', '--fsid', fsid, '--addv', 'a', `[v2:127.0.0.1:${monitor}]`, 'monmap');
    await ceph('ceph-mon', '-i', 'a', '--mkfs', '--monmap', 'monmap', '--keyring', 'keyring');
    await serve('mon', 'ceph-mon', '-i', 'a');
    await ceph('python3', join(root, 'usr/bin/ceph'), 'osd', 'new', disk);
    await ceph('ceph-osd', '-i', '0', '--mkfs', '--osd-uuid', disk);
    await serve('osd', 'ceph-osd', '-i', '0');
    const gateway = await serve('rgw', 'radosgw', '-n', 'client.admin');
    await untilItAnswers(port, gateway);
    const { accessKeyId, secretAccessKey } = login;
    const keys = ['--access-key', accessKeyId, '--secret-key', secretAccessKey];
    await ceph('radosgw-admin', 'user', 'create', '--uid', 'tester', '--display-name', 'Tester', ...keys);
  } catch (error) {
    await stop();
    throw error;
  }
  return { endpoint: `http://127.0.0.1:${port}`, region: 'us-east-1', ...login, stop };
}

function configuration(folder: string, root: string, fsid: string, monitor: number, port: number): string {
  const libraries = join(root, 'usr/lib/x86_64-linux-gnu');
  return `[global]
fsid = ${fsid}
mon host = v2:127.0.0.1:${monitor}
mon initial members = a
public addr = 127.0.0.1
cluster addr = 127.0.0.1
ms bind ipv6 = false
ms bind msgr1 = false
keyring = ${folder}/keyring
run dir = ${folder}
admin socket = ${folder}/$name.asok
log file = ${folder}/$name.log
pid file =
plugin dir = ${libraries}/ceph
erasure code dir = ${libraries}/ceph/erasure-code
osd class dir = ${libraries}/rados-classes
osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 1
osd pool default pgp num = 1
osd pool default pg autoscale mode = off
osd crush chooseleaf type = 0
mon allow pool size one = true
mon data = ${folder}/mon
mon data avail crit = 1
osd data = ${folder}/osd
osd objectstore = memstore
memstore device bytes = 4294967296
rgw data = ${folder}/rgw
rgw frontends = beast endpoint=127.0.0.1:${port}
rgw run sync thread = false
rgw thread pool size = 64
rgw crypt require ssl = false
rgw crypt s3 kms backend = testing
rgw crypt s3 kms encryption keys = ${KMS_KEY}=${Buffer.alloc(32, 'kms').toString('base64')}
`;
}

async function untilItAnswers(port: number, gateway: ChildProcess): Promise<void> {
  const deadline = Date.now() + START_TIMEOUT_MS;
  while (Date.now() < deadline) {
    if (gateway.exitCode !== null) throw new Error(`radosgw ended with ${gateway.exitCode}`);
    if (await answers(port)) return;
    await new Promise((done) => setTimeout(done, 50));
  }
  throw new Error('radosgw did not start');
}

function answers(port: number): Promise<boolean> {
  return new Promise((done) => {
    http
      .get({ port, host: '127.0.0.1', path: '/', agent: false, timeout: 5000 }, (response) => {
        response.resume();
        done(response.statusCode === 200);
      })
      .once('error', () => done(false));
  });
}
