/** One column of a Parquet file on a server that is far away: the S3 front beside sshfs. */
import { open } from 'node:fs/promises';
import http from 'node:http';
import { join } from 'node:path';
import { MIB, type Lab } from '../lab/lab.js';
import { presignedRequest, type Request } from '../lab/gateway.js';
import { mount } from '../lab/sshfs.js';
import type { CaseOptions, Contender, Scenario, Work } from '../scenario.js';
import { gatewayFront } from './transfers.js';

const ROUND_TRIP_MS = 50;
const BYTES = { quick: 64 * MIB, full: 1024 * MIB } as const;
const FILE = 'table.parquet';
const COLUMNS = 10;
const COLUMN = 4;
const ROW_GROUPS = 16;
const TAIL_BYTES = 64 * 1024;
/** As many as pyarrow asks for on two cores, in each way. */
const AT_ONCE = 3;
const SSHFS = 'sshfs';

interface Part {
  readonly start: number;
  readonly length: number;
}

interface Reader {
  look(): Promise<void>;
  read(part: Part): Promise<Buffer>;
}

export async function* oneColumn(lab: Lab, { quick }: CaseOptions): AsyncGenerator<Scenario> {
  const bytes = quick ? BYTES.quick : BYTES.full;
  const source = await lab.source(bytes);
  await lab.store(await lab.target('sftp'), FILE, source);
  const target = await lab.farTarget('sftp', ROUND_TRIP_MS, 0);
  if (target.protocol !== 'sftp') throw new Error('sshfs needs an SFTP server');
  const gateway = await lab.gateway({ connections: { remote: target }, hasS3: true });
  await lab.warmUp(gatewayFront(gateway, 'remote', target));
  const front: Reader = storeReader((method) =>
    presignedRequest(method, { gateway, connection: 'remote', target }, FILE),
  );
  yield {
    name: `one column of ${bytes / MIB} MiB at ${ROUND_TRIP_MS} ms`,
    unit: 'MB/s',
    contenders: [
      {
        ...contender('S3 front', bytes, source, (work) => work(front)),
        pid: gateway.pid,
        databasePid: gateway.databasePid,
      },
      contender(SSHFS, bytes, source, async (work) => {
        const mounted = await mount(target, lab.scratch);
        try {
          return await work(await fileReader(join(mounted.folder, FILE)));
        } finally {
          await mounted.unmount();
        }
      }),
    ],
    goals: [{ kind: 'ratio', against: SSHFS, atLeast: 5 }],
  };
  await gateway.stop();
}

type Timed = (reader: Reader & { close?(): Promise<void> }) => Promise<Work>;

function contender(name: string, bytes: number, source: string, use: (work: Timed) => Promise<Work>): Contender {
  let read: readonly Buffer[] = [];
  const parts = [{ start: bytes - TAIL_BYTES, length: TAIL_BYTES }, ...chunksOf(bytes)];
  return {
    name,
    run: (_, window) =>
      use(async (reader) => {
        window.begin();
        read = await readColumn(reader, parts);
        window.end();
        await reader.close?.();
        return { operations: 1, bytes: read.reduce((sum, { length }) => sum + length, 0) };
      }),
    verify: () => expectParts(source, parts, read),
  };
}

/** The chunks of one column: one in each row group. */
function chunksOf(bytes: number): Part[] {
  const group = Math.floor((bytes - TAIL_BYTES) / ROW_GROUPS);
  const length = Math.floor(group / COLUMNS);
  return Array.from({ length: ROW_GROUPS }, (_, index) => ({ start: index * group + COLUMN * length, length }));
}

/** As pyarrow 25 asks a store for a column: the file is looked at twice, its tail is read, a look again, the chunks. */
async function readColumn(reader: Reader, [tail, ...chunks]: readonly Part[]): Promise<Buffer[]> {
  await reader.look();
  await reader.look();
  const read = tail === undefined ? [] : [await reader.read(tail)];
  await reader.look();
  let next = 0;
  const work = async (): Promise<void> => {
    for (let index = next++; index < chunks.length; index = next++) {
      const chunk = chunks[index];
      if (chunk !== undefined) read[index + 1] = await reader.read(chunk);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return read;
}

/** @throws if what was read is not what the file has there */
async function expectParts(source: string, parts: readonly Part[], read: readonly Buffer[]): Promise<void> {
  const file = await open(source);
  try {
    for (const [index, { start, length }] of parts.entries()) {
      const { buffer } = await file.read(Buffer.allocUnsafe(length), 0, length, start);
      if (read[index]?.equals(buffer) !== true) throw new Error(`the bytes from ${start} on are not those of the file`);
    }
  } finally {
    await file.close();
  }
}

async function fileReader(path: string): Promise<Reader & { close(): Promise<void> }> {
  const file = await open(path);
  return {
    look: async () => void (await file.stat()),
    read: async ({ start, length }) => {
      const bytes = Buffer.allocUnsafe(length);
      const { bytesRead } = await file.read(bytes, 0, length, start);
      return bytes.subarray(0, bytesRead);
    },
    close: () => file.close(),
  };
}

function storeReader(presigned: (method: string) => Request): Reader {
  const agent = new http.Agent({ keepAlive: true });
  const [head, get] = [presigned('HEAD'), presigned('GET')];
  return {
    look: async () => void (await ask(agent, head, {})),
    read: ({ start, length }) => ask(agent, get, { Range: `bytes=${start}-${start + length - 1}` }),
  };
}

function ask(agent: http.Agent, { method, url }: Request, headers: Record<string, string>): Promise<Buffer> {
  return new Promise((done, failed) => {
    const request = http.request(url, { agent, method, headers }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.on('error', failed);
      answer.on('end', () => {
        const { statusCode = 0 } = answer;
        if (statusCode >= 300) failed(new Error(`${method} answered ${statusCode}`));
        else done(Buffer.concat(chunks));
      });
    });
    request.on('error', failed).end();
  });
}
