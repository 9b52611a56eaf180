/** Contenders that move large files through a gateway or directly to the remote, checked after each round. */
import { unlink } from 'node:fs/promises';
import { getRequest, uploadRequest, type GatewayUnderTest, type Request } from '../lab/gateway.js';
import { fetchAll, fetchTo, send, sendAll } from '../lab/http-client.js';
import type { Lab } from '../lab/lab.js';
import type { Target } from '../lab/target.js';
import type { FileClient } from '../rivals/command-line.js';
import type { Contender } from '../scenario.js';

export type Direction = 'up' | 'down';

/** What is moved: `files` files of `bytes` bytes each, at once. */
export interface Load {
  readonly target: Target;
  readonly direction: Direction;
  readonly bytes: number;
  readonly files: number;
}

/** An HTTP service in front of the target. */
export interface Front {
  readonly name: string;
  readonly pid: number;
  upload(name: string): Request;
  download(name: string): Request;
  stop(): Promise<void>;
  readonly databasePid?: number;
  readonly loopDelayMs?: () => Promise<number>;
  readonly restMiB?: number;
}

export function gatewayFront(gateway: GatewayUnderTest, connection: string, target: Target, name = 'gateway'): Front {
  const place = { gateway, connection, target };
  return {
    name,
    pid: gateway.pid,
    databasePid: gateway.databasePid,
    upload: (name) => uploadRequest(place, name),
    download: (name) => getRequest(place, 'download', name),
    stop: () => gateway.stop(),
    loopDelayMs: gateway.loopDelayMs,
    restMiB: gateway.restMiB,
  };
}

export function throughFront(lab: Lab, load: Load, front: Front): Contender {
  return contender(lab, load, front.name, {
    ...front,
    upload: async (file, names) => {
      if (names.length === 1) await send(front.upload(names[0] ?? ''), file);
      else await sendAll(names.map((name) => ({ request: front.upload(name), file })));
    },
    download: async (name, files) => {
      if (files.length === 1) await fetchTo(front.download(name), files[0] ?? '');
      else await fetchAll(files.map((file) => ({ request: front.download(name), file })));
    },
  });
}

export function throughClient(lab: Lab, load: Load, client: FileClient): Contender {
  return contender(lab, load, client.name, {
    upload: async (file, names) => {
      await Promise.all(names.map((name) => client.upload(file, name)));
    },
    download: async (name, files) => {
      await Promise.all(files.map((file) => client.download(name, file)));
    },
  });
}

interface Mover {
  readonly pid?: number;
  readonly databasePid?: number;
  upload(file: string, names: readonly string[]): Promise<void>;
  download(name: string, files: readonly string[]): Promise<void>;
  readonly loopDelayMs?: () => Promise<number>;
  readonly restMiB?: number;
}

function contender(lab: Lab, load: Load, name: string, mover: Mover): Contender {
  const { target, direction, bytes, files } = load;
  const slug = name.replaceAll(' ', '-');
  const names = Array.from({ length: files }, (_, index) => `${slug}-${index}`);
  const work = { bytes: bytes * files, operations: files };
  const common = {
    name,
    ...(mover.pid === undefined ? {} : { pid: mover.pid }),
    ...(mover.databasePid === undefined ? {} : { databasePid: mover.databasePid }),
    ...(mover.restMiB === undefined ? {} : { restMiB: mover.restMiB }),
    ...(mover.loopDelayMs === undefined ? {} : { loopDelayMs: mover.loopDelayMs }),
  };
  if (direction === 'up') {
    return {
      ...common,
      run: async () => {
        await mover.upload(await lab.source(bytes), names);
        return work;
      },
      verify: async () => {
        const source = await lab.source(bytes);
        for (const stored of names) {
          await lab.expectStored(target, stored, source);
          await lab.removeStored(target, stored);
        }
      },
    };
  }
  return {
    ...common,
    run: async () => {
      const copies = await Promise.all(names.map((copy) => lab.destination(copy)));
      await mover.download(seedName(bytes), copies);
      return work;
    },
    verify: async () => {
      const source = await lab.source(bytes);
      for (const each of names) {
        const copy = await lab.destination(each);
        await lab.expectSame(copy, source);
        await unlink(copy);
      }
    },
  };
}

const seedName = (bytes: number): string => `seed-${bytes}`;

/** Stores the file that downloads fetch on the target. */
export async function seed(lab: Lab, target: Target, bytes: number): Promise<void> {
  await lab.store(target, seedName(bytes), await lab.source(bytes));
}
