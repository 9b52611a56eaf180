/**
 * One client without a key, or one tenant, against all others, through the front end: what they make the gateway hold
 * in memory, and what they occupy of it. It failed once with 400 readers who did not read (the process died), with
 * bodies that were sent to the login one byte at a time, and with stalled uploads.
 */
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { openCrowd, type CrowdOptions } from './support/crowd.js';
import {
  A,
  ADDRESSES,
  assertIsolated,
  CONNECTION,
  scaled,
  settle,
  startTenants,
  type Attack,
  type Tenants,
  type TenantsOptions,
} from './support/tenants.js';

const MiB = 1024 * 1024;
const SECONDS = scaled(30, 4);
const LOOK_EVERY_MS = 500;
/** Consecutive checks with the same result: then nothing changes any more. */
const SAME_LOOKS = 4;
const MOST_LOOKS = 60;

async function withTenants(options: TenantsOptions, work: (tenants: Tenants) => Promise<void>): Promise<void> {
  const tenants = await startTenants(options);
  try {
    await work(tenants);
  } finally {
    await tenants.stop();
  }
}

/** Opens the crowd, waits until nothing changes any more, and reports its state when it stops. */
function crowded(
  t: { diagnostic(text: string): void },
  { gateway }: Tenants,
  count: number,
  options: CrowdOptions,
): () => Promise<Attack> {
  return async () => {
    const crowd = await openCrowd(gateway.port, count, options);
    // Opening sessions to A's own server also uses this machine, on which that server runs: B is measured afterwards.
    let [before, same] = ['', 0];
    for (let looks = 0; looks < MOST_LOOKS && same < SAME_LOOKS; looks++) {
      await settle(LOOK_EVERY_MS);
      const now = JSON.stringify(crowd.statuses());
      same = now === before ? same + 1 : 0;
      before = now;
    }
    t.diagnostic(`the crowd: ${crowd.open} of ${count} open, answers ${JSON.stringify(crowd.statuses())}`);
    return {
      stop: async () => {
        t.diagnostic(`at the end: ${crowd.open} open, answers ${JSON.stringify(crowd.statuses())}`);
        await crowd.close();
      },
    };
  };
}

const get = (path: string, key: string): string =>
  `GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n\r\n`;

describe('one tenant, and the others', () => {
  test('readers of large files who do not read', async (t) => {
    await withTenants({}, async (tenants) => {
      writeFileSync(
        join(tenants.aServer.files, 'large'),
        randomBytes(7 * MiB)
          .toString('base64')
          .slice(0, 9 * MiB),
      );
      const text = (): string => get(`/api/read/${CONNECTION}?path=/large&encoding=text`, A.key);
      const attack = crowded(t, tenants, scaled(400, 120), { address: ADDRESSES.a, text, isDeaf: true });
      assertIsolated(await tenants.measure(t, { seconds: SECONDS, attack }));
    });
  });

  test('unread downloads', async (t) => {
    const sessions = scaled(64, 24);
    await withTenants({ config: { pools: { default: { maxSessions: sessions } } } }, async (tenants) => {
      writeFileSync(join(tenants.aServer.files, 'large'), Buffer.alloc(32 * MiB, 'x'));
      const text = (): string => get(`/api/download/${CONNECTION}?path=/large`, A.key);
      const attack = crowded(t, tenants, sessions * 8, { address: ADDRESSES.a, text, isDeaf: true });
      assertIsolated(await tenants.measure(t, { seconds: SECONDS, attack }));
    });
  });

  test('stalled uploads', async (t) => {
    await withTenants({}, async (tenants) => {
      const text = (index: number): Buffer =>
        Buffer.concat([
          Buffer.from(
            `POST /api/upload/${CONNECTION}?filename=stalled${index} HTTP/1.1\r\nHost: x\r\n` +
              `Authorization: Bearer ${A.key}\r\nContent-Type: application/octet-stream\r\n` +
              `Content-Length: ${100 * MiB}\r\n\r\n`,
          ),
          Buffer.alloc(scaled(8, 2) * MiB),
        ]);
      const attack = crowded(t, tenants, 250, { address: ADDRESSES.a, text });
      assertIsolated(await tenants.measure(t, { seconds: SECONDS, attack }));
    });
  });
});

describe('a client without a key, and all others', () => {
  const head = 'POST /manage/login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n';
  /** Too large, just large enough, and endless in chunks. */
  const texts = [
    Buffer.concat([Buffer.from(`${head}Content-Length: ${MiB}\r\n\r\n`), Buffer.alloc(MiB - 4_096, ' ')]),
    Buffer.concat([Buffer.from(`${head}Content-Length: 16000\r\n\r\n`), Buffer.alloc(15_000, ' ')]),
    Buffer.from(`${head}Transfer-Encoding: chunked\r\n\r\n3800\r\n${' '.repeat(14_000)}`),
  ] as const;
  const text = (index: number): Buffer => texts[index % texts.length] ?? texts[0];
  const trickle = { everyMs: 500, piece: Buffer.from(' ') };

  test('bodies to the login, one byte at a time', async (t) => {
    await withTenants({}, async (tenants) => {
      const attack = crowded(t, tenants, scaled(1_500, 400), { address: ADDRESSES.nobody, text, trickle });
      assertIsolated(await tenants.measure(t, { seconds: SECONDS, attack }));
    });
  });
});
