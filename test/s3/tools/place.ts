/** Where a tool runs: a gateway with one server as the bucket `partner`, files to send, and a folder of the tool's own. */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { ServerEntry, TestServer } from '../../servers/catalogue.js';
import { startGateway, type TestGateway } from '../../support/gateway.js';
import { freePort } from '../../support/ports.js';

export const BUCKET = 'partner';
export const KEY_ID = 'FTGATESTTESTTESTTEST';
export const SECRET = 'test-secret-of-forty-characters-0123456789';
const MIB = 1024 * 1024;
/** Two parts of the largest size that a tool has by default, and a shorter one. */
const IN_PARTS_BYTES = 32 * MIB + 7;
const TOOL_MS = 120_000;

/** Older than what is uploaded, although some servers list only the minute. */
const AN_HOUR_AGO = Date.now() / 1_000 - 3_600;

/** Names that tools encode in different ways. */
const FILES: Readonly<Record<string, number>> = {
  'plain.txt': 1_000,
  'empty.bin': 0,
  'large.bin': 3 * MIB,
  'folder/with space & more.txt': 10,
  'folder/ünï-日本.txt': 20,
  'folder/deeper/a+b.csv': 30,
};

export interface Place {
  readonly server: TestServer;
  /** The front on its own port, for tools that take no path in an endpoint. */
  readonly endpoint: string;
  /** The front at `/s3` of the main listener. */
  readonly pathEndpoint: string;
  readonly folder: string;
  /** The folder of the files to send. */
  readonly source: string;
  /** A file that every tool sends in parts; it is not in `source`. */
  readonly inParts: string;
  /** Runs a program and gives what it has written. It fails if the program does. */
  run(program: string, args: readonly string[], env?: NodeJS.ProcessEnv): Promise<string>;
  close(): Promise<void>;
}

export async function openPlace(entry: ServerEntry, bucket = BUCKET): Promise<Place> {
  const server = await entry.start();
  const port = await freePort();
  const gateway: TestGateway = await startGateway({
    connections: [{ id: bucket, name: 'Server', ...server.connection }],
    apiKeys: [
      { name: 'tools', key: 'ftg_tools-key-0123456789-abcdefgh', s3: { accessKeyId: KEY_ID, secretAccessKey: SECRET } },
    ],
    config: { s3: { enabled: true, port } },
  });
  const folder = mkdtempSync(path.join(tmpdir(), 'ftg-s3-tools-'));
  const source = path.join(folder, 'source');
  for (const [name, size] of Object.entries(FILES)) {
    await mkdir(path.dirname(path.join(source, name)), { recursive: true });
    await writeFile(path.join(source, name), randomBytes(size));
    await utimes(path.join(source, name), AN_HOUR_AGO, AN_HOUR_AGO);
  }
  const inParts = path.join(folder, 'in-parts.bin');
  await writeFile(inParts, randomBytes(IN_PARTS_BYTES));
  // Nothing of the user's own settings, as of the machine's certificates.
  const env = {
    PATH: '/usr/local/bin:/usr/bin:/bin',
    HOME: folder,
    LANG: 'C.UTF-8',
    AWS_ACCESS_KEY_ID: KEY_ID,
    AWS_SECRET_ACCESS_KEY: SECRET,
    AWS_DEFAULT_REGION: 'us-east-1',
    AWS_EC2_METADATA_DISABLED: 'true',
  };
  return {
    server,
    endpoint: `http://127.0.0.1:${port}`,
    pathEndpoint: `${gateway.url}/s3`,
    folder,
    source,
    inParts,
    run: (program, args, more = {}) => outputOf(program, args, { ...env, ...more }, folder),
    close: async () => {
      await gateway.stop();
      await server.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function outputOf(program: string, args: readonly string[], env: NodeJS.ProcessEnv, cwd: string): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(program, args, { env, cwd, timeout: TOOL_MS, maxBuffer: 16 * MIB }, (error, stdout, stderr) => {
      if (error === null) resolve(stdout + stderr);
      else reject(new Error(`${program} ${args.join(' ')} failed:\n${stdout}${stderr}`, { cause: error }));
    });
  });
}

/** The files below a folder of this machine, by their paths there. */
export async function filesIn(folder: string): Promise<Map<string, Buffer>> {
  const found = new Map<string, Buffer>();
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const file = path.join(entry.parentPath, entry.name);
    found.set(path.relative(folder, file), await readFile(file));
  }
  return new Map([...found].sort());
}

/** The files below a folder of the server, read there. */
export async function filesOnServer({ server }: Place, folder: string): Promise<Map<string, Buffer>> {
  const found = new Map<string, Buffer>();
  for (const file of await server.disk.files(folder)) {
    found.set(file.slice(folder.length + 1), await server.disk.read(file));
  }
  return new Map([...found].sort());
}
