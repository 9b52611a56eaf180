import { createReadStream, existsSync } from 'node:fs';
import { open, readFile, stat, unlink } from 'node:fs/promises';
import { getRequest, type GatewayUnderTest, type Request } from '../lab/gateway.js';
import { fetchTo, send } from '../lab/http-client.js';
import { MIB, type Lab } from '../lab/lab.js';
import type { SftpTarget } from '../lab/target.js';
import type { HttpRival } from '../rivals/http-gateways.js';
import type { BenchCase, Contender, Goal } from '../scenario.js';
import { seed } from './transfers.js';

const SIZES: readonly number[] = [1, 50, 500];
const STEP = 3 * MIB;
/** The limit for JSON.parse and one string: Node.js has no longer strings. */
const NAIVE_MOST_MIB = 350;

export const base64: BenchCase = {
  name: 'base64',
  title: 'JSON uploads and downloads with base64 inside',
  about:
    'Rates count the file, not its base64. The naive gateway parses the whole body and so ends at 512 MiB of text.',
  async *scenarios(lab, { quick }) {
    const target = (await lab.target('sftp')) as SftpTarget;
    const gateway = await lab.gateway({ connections: { remote: target } });
    const naive = await lab.naiveGateway(target);
    const sizes = quick ? SIZES.slice(0, 2) : SIZES;
    for (const mebibytes of sizes) {
      const bytes = mebibytes * MIB;
      await seed(lab, target, bytes);
      const rivals = mebibytes <= NAIVE_MOST_MIB ? [naive] : [];
      const goals: readonly Goal[] = [{ kind: 'memory', atMostMiB: 100 }];
      yield {
        name: `sftp json up ${mebibytes} MiB`,
        unit: 'MB/s',
        contenders: [
          upload(lab, target, bytes, gateway),
          ...rivals.map((rival) => naiveUpload(lab, target, bytes, rival)),
        ],
        goals,
      };
      yield {
        name: `sftp json down ${mebibytes} MiB`,
        unit: 'MB/s',
        contenders: [
          download(
            lab,
            bytes,
            'gateway',
            gateway,
            getRequest({ gateway, connection: 'remote', target }, 'download', `seed-${bytes}`, { format: 'json' }),
          ),
          ...rivals.map((rival) => {
            const { method, url, headers } = rival.download(`seed-${bytes}`);
            return download(lab, bytes, rival.name, rival, { method, url: `${url}?json`, headers });
          }),
        ],
        goals,
      };
    }
  },
};

function upload(lab: Lab, target: SftpTarget, bytes: number, gateway: GatewayUnderTest): Contender {
  const headers = { ...gateway.headers, 'Content-Type': 'application/json' };
  const request = { method: 'POST', url: `${gateway.url}/api/upload/remote`, headers };
  return jsonUpload(lab, target, bytes, 'gateway', request, gateway);
}

function naiveUpload(lab: Lab, target: SftpTarget, bytes: number, rival: HttpRival): Contender {
  const url = new URL('/json', rival.upload('').url).href;
  return jsonUpload(lab, target, bytes, rival.name, { method: 'POST', url, headers: {} }, rival);
}

interface Watched {
  readonly pid: number;
  readonly loopDelayMs?: () => Promise<number>;
  readonly restMiB?: number;
}

const watched = ({ pid, loopDelayMs, restMiB }: Watched): Pick<Contender, 'pid' | 'restMiB' | 'loopDelayMs'> => ({
  pid,
  ...(loopDelayMs === undefined ? {} : { loopDelayMs }),
  ...(restMiB === undefined ? {} : { restMiB }),
});

function jsonUpload(
  lab: Lab,
  target: SftpTarget,
  bytes: number,
  name: string,
  request: Request,
  service: Watched,
): Contender {
  return {
    name,
    ...watched(service),
    run: async () => {
      await send(request, await jsonFile(lab, bytes));
      return { bytes, operations: 1 };
    },
    verify: async () => {
      await lab.expectStored(target, jsonName(bytes), await lab.source(bytes));
      await lab.removeStored(target, jsonName(bytes));
    },
  };
}

function download(lab: Lab, bytes: number, name: string, service: Watched, request: Request): Contender {
  return {
    name,
    ...watched(service),
    run: async () => {
      await fetchTo(request, await lab.destination('json'));
      return { bytes, operations: 1 };
    },
    verify: async () => {
      const file = await lab.destination('json');
      await expectContent(file, await lab.source(bytes));
      await unlink(file);
    },
  };
}

const jsonName = (bytes: number): string => `json-${bytes}`;

/** The body of an upload, made once. */
async function jsonFile(lab: Lab, bytes: number): Promise<string> {
  const path = await lab.destination(`body-${bytes}`);
  if (existsSync(path)) return path;
  const file = await open(path, 'w');
  await file.write(`{"filename":"${jsonName(bytes)}","content":"`);
  for await (const chunk of createReadStream(await lab.source(bytes), { highWaterMark: STEP })) {
    await file.write((chunk as Buffer).toString('base64'));
  }
  await file.write('"}');
  await file.close();
  return path;
}

/** @throws if the `content` of the JSON in `file` is not the base64 of `source` */
async function expectContent(file: string, source: string): Promise<void> {
  const { size } = await stat(source);
  const text = await readFile(file);
  const key = Buffer.from('"content":"');
  const start = text.indexOf(key) + key.length;
  const end = text.indexOf('"', start);
  if (start < key.length || end - start !== 4 * Math.ceil(size / 3)) throw new Error('the JSON holds no such content');
  let at = start;
  for await (const chunk of createReadStream(source, { highWaterMark: STEP })) {
    const expected = (chunk as Buffer).toString('base64');
    if (text.toString('latin1', at, at + expected.length) !== expected) throw new Error('the content differs');
    at += expected.length;
  }
}
