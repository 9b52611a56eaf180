import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import http from 'node:http';
import net from 'node:net';
import { join } from 'node:path';
import { freePort } from '../support/ports.js';
import { useShared } from '../support/shared.js';

/** OpenStack Swift, all in one, with its S3 interface: a store of real objects, multiparts included. */
export interface SwiftServer extends SharedSwift {
  /** Only if it has its own disk. */
  resize(diskBytes: number): void;
}

export interface SharedSwift {
  readonly endpoint: string;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** A login without any rights. */
  readonly guest: { readonly accessKeyId: string; readonly secretAccessKey: string };
  stop(): Promise<void>;
}

const PYTHON = '/usr/bin/python3';
const START_TIMEOUT_MS = 240_000;
/** With the default half a second and few seconds, its servers give each other up on a machine that is merely busy. */
const PATIENCE = 'conn_timeout = 60\nnode_timeout = 60';

/** The shared one of the run: each test makes its own bucket in it. */
export function shareSwift(): Promise<SharedSwift> {
  return useShared<SharedSwift>('swift', startSwift);
}

/**
 * Starts proxy, account, container and object server and a memcached (tempauth requires one) on free loopback ports,
 * over its own folder, or a disk of this many bytes; resolves when a proxy with a login answers.
 */
export async function startSwift(diskBytes?: number): Promise<SwiftServer> {
  // It stores its facts about an object in extended attributes, which not every memory file system has.
  const folder = await mkdtemp('/var/tmp/ftg-swift-');
  const [proxy, account, container, object, cache] = await Promise.all([
    freePort(),
    freePort(),
    freePort(),
    freePort(),
    freePort(),
  ]);
  const devices = join(folder, 'devices');
  await mkdir(devices);
  if (diskBytes !== undefined) execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${diskBytes}`, 'tmpfs', devices]);
  await mkdir(join(devices, 'd1'));
  await writeFile(
    join(folder, 'swift.conf'),
    '[swift-hash]\nswift_hash_path_suffix = t\n[storage-policy:0]\nname = p\ndefault = yes\n',
  );
  await writeFile(join(folder, 'proxy-server.conf'), proxyConf(folder, proxy, cache));
  for (const [name, port] of [
    ['account', account],
    ['container', container],
    ['object', object],
  ] as const) {
    await writeFile(join(folder, `${name}-server.conf`), storageConf(folder, name, port));
  }
  await writeFile(join(folder, 'start.py'), LAUNCHER);
  // Its standard input is the tie: when that ends, with us or before us, the launcher ends what it started.
  const launcher = spawn(
    PYTHON,
    [join(folder, 'start.py'), folder, ...[cache, account, container, object].map(String)],
    {
      stdio: ['pipe', 'ignore', 'inherit'],
    },
  );
  const stop = async (): Promise<void> => {
    const ended = once(launcher, 'exit');
    launcher.stdin.end();
    if (launcher.exitCode === null && launcher.signalCode === null) await ended;
    if (diskBytes !== undefined) execFileSync('umount', ['--lazy', devices]);
    await rm(folder, { recursive: true, force: true });
  };
  try {
    await untilHealthy(proxy, [account, container, object, cache], launcher);
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    endpoint: `http://127.0.0.1:${proxy}`,
    region: 'us-east-1',
    accessKeyId: 'test:tester',
    secretAccessKey: 'testing',
    guest: { accessKeyId: 'test:guest', secretAccessKey: 'guesting' },
    resize: (bytes) => execFileSync('mount', ['-o', `remount,size=${bytes}`, devices]),
    stop,
  };
}

function proxyConf(folder: string, port: number, cachePort: number): string {
  return `[DEFAULT]
bind_ip = 127.0.0.1
bind_port = ${port}
workers = 0
user = root
swift_dir = ${folder}
log_level = ERROR
[pipeline:main]
pipeline = catch_errors healthcheck cache listing_formats s3api tempauth copy slo dlo proxy-server
[app:proxy-server]
use = egg:swift#proxy
allow_account_management = true
account_autocreate = true
# Otherwise it leaves a full disk alone for a minute, and there is no other.
error_suppression_interval = 1
${PATIENCE}
[filter:catch_errors]
use = egg:swift#catch_errors
[filter:healthcheck]
use = egg:swift#healthcheck
[filter:cache]
use = egg:swift#memcache
memcache_servers = 127.0.0.1:${cachePort}
[filter:listing_formats]
use = egg:swift#listing_formats
[filter:s3api]
use = egg:swift#s3api
s3_acl = false
location = us-east-1
# Small pages, so that few files make many of them.
max_bucket_listing = 40
[filter:tempauth]
use = egg:swift#tempauth
user_test_tester = testing .admin
user_test_guest = guesting
[filter:copy]
use = egg:swift#copy
[filter:slo]
use = egg:swift#slo
[filter:dlo]
use = egg:swift#dlo
`;
}

function storageConf(folder: string, name: string, port: number): string {
  return `[DEFAULT]
bind_ip = 127.0.0.1
bind_port = ${port}
workers = 0
user = root
swift_dir = ${folder}
devices = ${join(folder, 'devices')}
mount_check = false
log_level = ERROR
[pipeline:main]
pipeline = ${name}-server
[app:${name}-server]
use = egg:swift#${name}
${PATIENCE}
# In vain, it would leave the file out of listings until it is repaired.
container_update_timeout = 60
`;
}

/**
 * Builds the three rings, loads the modules once and forks one server each; ends them, and the cache, when its standard
 * input ends. (The servers make their own process groups, so a signal to ours would not reach them.)
 */
const LAUNCHER = `
import os, signal, subprocess, sys
# What it keeps ends with the run: no answer waits for the disk.
os.fsync = os.fdatasync = lambda descriptor: None
import swift.common.db
connect = swift.common.db.get_db_connection
def connect_without_sync(*args, **options):
    connection = connect(*args, **options)
    connection.execute('PRAGMA synchronous = OFF')
    return connection
swift.common.db.get_db_connection = connect_without_sync
from swift.common import utils
# Later, each server would look through all that is loaded for locks: most of a second of processor time.
utils.eventlet_monkey_patch()
folder, cache, ports = sys.argv[1], sys.argv[2], dict(zip(('account', 'container', 'object'), map(int, sys.argv[3:])))
utils.set_swift_dir(folder)
from swift.common.ring import RingBuilder
from swift.common.wsgi import run_wsgi
import swift.proxy.server, swift.account.server, swift.container.server, swift.obj.server
for name, port in ports.items():
    builder = RingBuilder(4, 1, 1)
    builder.add_dev({'region': 1, 'zone': 1, 'ip': '127.0.0.1', 'port': port, 'device': 'd1', 'weight': 1})
    builder.rebalance()
    builder.get_ring().save(os.path.join(folder, name + '.ring.gz'))
tie = os.dup(0)
os.set_inheritable(tie, False)
memcached = subprocess.Popen(['memcached', '-u', 'root', '-l', '127.0.0.1', '-p', cache, '-m', '16'], stdin=subprocess.DEVNULL)
servers = [memcached.pid]
for name in ('account', 'container', 'object', 'proxy'):
    pid = os.fork()
    if pid == 0:
        os.close(tie)
        extra = {'global_conf_callback': swift.obj.server.global_conf_callback} if name == 'object' else {}
        os._exit(run_wsgi(os.path.join(folder, name + '-server.conf'), name + '-server', **extra) or 0)
    servers.append(pid)
while os.read(tie, 1):
    pass
for pid in servers:
    os.kill(pid, signal.SIGKILL)
`;

/**
 * The proxy answers its health check before the servers behind it listen; it would then treat them as broken for a
 * minute.
 */
async function untilHealthy(port: number, behind: readonly number[], launcher: ChildProcess): Promise<void> {
  const deadline = Date.now() + START_TIMEOUT_MS;
  while (Date.now() < deadline) {
    if (launcher.exitCode !== null) throw new Error(`the launcher of Swift ended with ${launcher.exitCode}`);
    const listening = await Promise.all(behind.map(listens));
    if (listening.every(Boolean) && (await answersOk(port))) return;
    await new Promise((done) => setTimeout(done, 50));
  }
  throw new Error('Swift did not start');
}

function listens(port: number): Promise<boolean> {
  return new Promise((done) => {
    const socket = net.connect(port, '127.0.0.1');
    socket.once('connect', () => done(true)).once('error', () => done(false));
    socket.once('connect', () => socket.destroy());
  });
}

function answersOk(port: number): Promise<boolean> {
  return new Promise((done) => {
    http
      .get({ port, host: '127.0.0.1', path: '/healthcheck', agent: false, timeout: 2000 }, (response) => {
        response.resume();
        done(response.statusCode === 200);
      })
      .once('error', () => done(false));
  });
}
