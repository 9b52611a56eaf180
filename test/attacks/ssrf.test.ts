/**
 * The gateway as an attacker's way into the network behind it: url uploads, redirects, webhooks and connections to
 * forbidden addresses. A listener at the forbidden address must never see a connection.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import net, { type AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { hasCode } from '../../src/base/errors.js';
import { createDialer } from '../../src/remotes/dial/dial.js';
import type { Lookup } from '../../src/resolver/resolver.js';
import { createUrlFetcher } from '../../src/operations/fetch-url.js';
import { createSender } from '../../src/events/send.js';
import { startGateway, type TestGateway } from '../support/gateway.js';
import { held } from '../support/reliability.js';
import { startTogether } from '../support/together.js';

/**
 * The one address that url uploads and webhooks of these tests may reach; also loopback, so that nothing leaves this
 * machine.
 */
const ALLOWED = '127.0.0.2';

/** The listener's address, in all spellings that some resolver or parser understands. */
const LOOPBACK = [
  '127.0.0.1',
  'localhost',
  'localhost.',
  'LOCALHOST',
  '127.1',
  '127.0.1',
  '0',
  '0.0.0.0',
  '0x7f.0.0.1',
  '0x7f000001',
  '0177.0.0.1',
  '017700000001',
  '2130706433',
  '127.0.0.1.',
  '127.000.000.001',
  '127.0.0.3',
  '①②⑦.⓪.⓪.①',
  '127。0。0。1',
  '[::1]',
  '[::]',
  '[0:0:0:0:0:0:0:1]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[::127.0.0.1]',
  '[64:ff9b::127.0.0.1]',
  '[64:ff9b:1::7f00:1]',
  '[2002:7f00:1::]',
  '[2001:0:7f00:1::]',
  '[::ffff:0:127.0.0.1]',
];
const ELSEWHERE = [
  '169.254.169.254',
  '[::ffff:169.254.169.254]',
  '[64:ff9b::a9fe:a9fe]',
  '0xa9fea9fe',
  '2852039166',
  '0251.0376.0251.0376',
  '[fd00:ec2::254]',
  '[fd20:ce::254]',
  '[fd00:c1::a9fe:a9fe]',
  '100.100.100.200',
  '168.63.129.16',
  '10.0.0.1',
  '172.16.0.1',
  '192.168.1.1',
  '100.64.0.1',
  '198.18.0.1',
  '192.0.0.8',
  '224.0.0.1',
  '255.255.255.255',
  '240.0.0.1',
  '[fe80::1]',
  '[fc00::1]',
  '[ff02::1]',
  '[fec0::1]',
];
/** Also denied to registered connections, although private addresses are allowed to them. */
const NEVER = ELSEWHERE.filter((host) => !/^(10|172|192\.168|100\.64|198|192\.0)\.|fc00|fec0/.test(host));

/** A connection's host is ASCII. */
const LOOPBACK_HOSTS = LOOPBACK.filter((host) => /^[!-~]+$/.test(host));

let forbidden: net.Server;
let origin: http.Server;
let gateway: TestGateway;
let strict: TestGateway;
let knocks = 0;
let port = 0;
let originUrl = '';

before(async () => {
  // All local addresses of both families except the allowed one, which the origin uses.
  forbidden = net.createServer((socket) => {
    knocks++;
    socket.destroy();
  });
  origin = http.createServer((request, response) => {
    const target = new URL(request.url ?? '/', 'http://origin').searchParams.get('to');
    if (target === null) response.end('content');
    else response.writeHead(302, { Location: Buffer.from(target).toString('latin1') }).end();
  });
  origin.listen(0, ALLOWED);
  await once(origin, 'listening');
  originUrl = `http://${ALLOWED}:${(origin.address() as AddressInfo).port}`;
  forbidden.listen(0, '::');
  await once(forbidden, 'listening');
  port = (forbidden.address() as AddressInfo).port;
  const network = { urlFetch: { allow: [`${ALLOWED}/32`] }, webhooks: { allow: [`${ALLOWED}/32`] } };
  [gateway, strict] = await startTogether([
    startGateway({ config: { sandbox: true, network }, connections: connectionsTo(NEVER) }),
    startGateway({
      config: { network: { connections: { allowPrivate: false } } },
      connections: connectionsTo(LOOPBACK_HOSTS),
    }),
  ]);
});
after(async () => {
  await Promise.all([gateway.stop(), strict.stop()]);
  forbidden.close();
  origin.close();
});

function connectionsTo(hosts: readonly string[]): object[] {
  return hosts.flatMap((written, index) => {
    const host = written.replace(/^\[|\]$/g, '');
    const login = { host, port, username: 'u', password: 'p' };
    return [
      { id: `sftp-${index}`, name: `SFTP ${written}`, type: 'sftp', ...login },
      { id: `ftp-${index}`, name: `FTP ${written}`, type: 'ftp', tls: 'none', ...login },
      {
        id: `s3-${index}`,
        name: `S3 ${written}`,
        type: 's3',
        endpoint: `http://${written}:${port}`,
        region: 'us-east-1',
        bucket: 'b',
        accessKeyId: 'a',
        secretAccessKey: 's',
        forcePathStyle: true,
      },
    ];
  });
}

/** Refused by the network rules, or as an invalid address; in any case there was no connection. */
function assertRefused(answer: { readonly status: number; readonly text: string }, what: string): void {
  assert.ok(answer.status === 403 || answer.status === 400 || isUnknownName(answer), `${what}: ${answer.text}`);
  assert.equal(knocks, 0, `${what} reached the listener`);
}

/**
 * A text that the system's resolver does not take for an address is an unknown name; a Location in other letters is not
 * a URL.
 */
function isUnknownName({ status, text }: { readonly status: number; readonly text: string }): boolean {
  return status === 502 && /cannot be resolved|something that is no URL/.test(text);
}

describe('through the gateway', () => {
  const all = [...LOOPBACK, ...ELSEWHERE];

  test('url uploads and redirects', async () => {
    const fetched = await gateway.api.post('/api/upload/sandbox', { url: `${originUrl}/file`, filename: 'allowed' });
    assert.equal(fetched.status, 200, fetched.text);
    for (const host of all) {
      const url = `http://${host}:${port}/latest/meta-data`;
      assertRefused(await gateway.api.post('/api/upload/sandbox', { url, filename: 'f' }), url);
      const redirect = `${originUrl}/?to=${encodeURIComponent(url)}`;
      assertRefused(await gateway.api.post('/api/upload/sandbox', { url: redirect, filename: 'f' }), redirect);
    }
    for (const url of [
      `http://${ALLOWED}@127.0.0.1:${port}/`,
      `http://127.0.0.1:${port}\\@${ALLOWED}/`,
      `http://127.0.0.1:${port}#@${ALLOWED}/`,
      `http:127.0.0.1:${port}`,
      `https://127.0.0.1:${port}/`,
      'file:///etc/passwd',
      'gopher://127.0.0.1:1/_x',
      'ftp://127.0.0.1/x',
      `${originUrl}/?to=${encodeURIComponent('file:///etc/passwd')}`,
    ]) {
      assertRefused(await gateway.api.post('/api/upload/sandbox', { url, filename: 'f' }), url);
    }
    assert.equal((await gateway.api.get('/api/exists/sandbox?path=f')).json['exists'], false);
    held({
      area: 'Attacks',
      what: 'SSRF by url uploads and redirects',
      done: 'loopback, private, link-local, metadata, mapped, NAT64 and 6to4 addresses in decimal, octal, hexadecimal and Unicode',
      held: 'refused without a packet; a listener at the address saw no connection',
      tries: all.length * 2,
    });
  });

  test('webhooks', async () => {
    // An unknown name may be set; it is looked up, and checked, again at every delivery.
    const hosts = all.filter((host) => host !== 'localhost.');
    for (const host of hosts) {
      const webhookUrl = `http://${host}:${port}/hook`;
      const answer = await gateway.api.post('/api/watched-folders', { connectionId: 'sandbox', path: '/', webhookUrl });
      assertRefused(answer, webhookUrl);
    }
    held({
      area: 'Attacks',
      what: 'SSRF by webhook targets',
      done: 'the same addresses in the same notations',
      held: 'refused when the watched folder is made; a listener at the address saw no connection',
      tries: hosts.length,
    });
  });

  test('connections of every type', async () => {
    for (const [from, hosts] of [
      [gateway, NEVER],
      [strict, LOOPBACK_HOSTS],
    ] as const) {
      for (const [index, host] of hosts.entries()) {
        for (const type of ['sftp', 'ftp', 's3']) {
          const answer = await from.api.get(`/api/list/${type}-${index}?path=/`);
          assertRefused(answer, `${type} ${host}`);
        }
      }
    }
    held({
      area: 'Attacks',
      what: 'SSRF by hosts and endpoints of connections',
      done: 'metadata, link-local and other never-allowed addresses; with allowPrivate false loopback in every notation, for SFTP, FTP and S3',
      held: 'refused; a listener at the address saw no connection',
      tries: (NEVER.length + LOOPBACK_HOSTS.length) * 3,
    });
  });
});

describe('a name that changes its address between check and use', () => {
  const rules: Parameters<typeof createDialer>[0] = {
    localAddress: '',
    connections: { allowPrivate: true, deny: ['127.0.0.1/32'] },
    urlFetch: { allow: [`${ALLOWED}/32`] },
    webhooks: { allow: [`${ALLOWED}/32`] },
  };
  const TRIES = 60;

  /** Right, then wrong, then both at once, in turn. */
  function rebinding(): Lookup {
    const answers = [[ALLOWED], ['127.0.0.1'], ['127.0.0.1', ALLOWED], ['::1', ALLOWED], ['::ffff:127.0.0.1']];
    let turn = 0;
    return async () => (answers[turn++ % answers.length] ?? []).map((address) => ({ address }));
  }

  test('url uploads and webhooks go to the address that was checked, or nowhere', async () => {
    const dialer = createDialer(rules, () => [], rebinding());
    const fetcher = createUrlFetcher({ dialer, connectTimeoutMs: 5_000, stallTimeoutMs: 5_000 });
    const sender = createSender({ dialer, timeoutMs: 5_000, requireHttps: false });
    const { port: originPort } = origin.address() as AddressInfo;
    const outcomes = { reached: 0, denied: 0 };
    const count = async (use: () => Promise<unknown>): Promise<void> => {
      await use().then(
        () => outcomes.reached++,
        (error: unknown) => {
          assert.ok(hasCode(error, 'address_denied'), String(error));
          outcomes.denied++;
        },
      );
    };
    const asked = { owner: 'account', signal: new AbortController().signal };
    for (let turn = 0; turn < TRIES; turn++) {
      await count(async () => {
        const target = `http://rebind.example:${originPort}/?to=http://again.example:${originPort}/file`;
        const { body } = await fetcher.fetch(new URL(target), asked);
        body.destroy();
      });
      await count(() => sender.send(`http://rebind.example:${originPort}/`, {}, '{}', asked));
      await count(async () => {
        const options = { purpose: 'connection', ...asked, timeoutMs: 5_000 } as const;
        (await dialer.connect('rebind.example', originPort, options)).destroy();
      });
    }
    fetcher.close();
    sender.close();
    assert.equal(knocks, 0);
    assert.ok(outcomes.reached > 0 && outcomes.denied > 0, JSON.stringify(outcomes));
    held({
      area: 'Attacks',
      what: 'DNS answers that change between check and use',
      done: 'a name that is now an allowed, now a forbidden address, now both, for url uploads with redirects, webhooks and connections',
      held: 'every socket went to the address that was checked; the others were refused',
      tries: TRIES * 3,
    });
  });
});
