/**
 * Remote servers that lie, flood and never end. The gateway answers with the server's fault, in time, with bounded
 * memory, and the next request is served.
 */
import assert from 'node:assert/strict';
import net, { type AddressInfo } from 'node:net';
import { once } from 'node:events';
import { after, afterEach, before, describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { REPLY, REQUEST } from '../../src/remotes/sftp/wire/wire.js';
import { nameFields, startOddServer, type OddRequest, type OddServer } from '../servers/scripted-sftp.js';
import { startScripted, type Script, type ScriptedFtp } from '../servers/scripted-ftp.js';
import { listed, S3Stub, xml } from '../servers/scripted-s3.js';
import { memoryOf, resetPeakMemory, type ApiAnswer, type TestGateway } from '../support/gateway.js';
import { held } from '../support/reliability.js';
import { longestHold, MAX_HOLD_MS, startWatchedGateway } from './support/loop.js';
import { startTogether } from '../support/together.js';

const STALL_MS = 3_000;
const WITHIN_MS = 25_000;
/** Longer than any answer here takes, so that a vain wait for a session is noticed. */
const ACQUIRE_MS = 120_000;
const SOON_MS = 60_000;
const MAX_GROWTH = 48 * 1024 * 1024;
/** The names of a folder, as many as one answer may contain: 50,000,000 characters, with the facts of each file. */
const MAX_LISTING_GROWTH = 400 * 1024 * 1024;
const SIZE = 0x1;

let gateway: TestGateway;
let sftp: OddServer;
let ftp: ScriptedFtp;
let s3: S3Stub;
/** The current odd behaviour of the SFTP server. */
let odd: (request: OddRequest) => boolean = () => false;
const script: Script = {};

before(async () => {
  [sftp, ftp, s3] = await startTogether([
    startOddServer({ odd: (request) => odd(request) }),
    startScripted(script),
    S3Stub.start(),
  ]);
  const login = { username: 'u', password: 'p' };
  gateway = await startWatchedGateway({
    config: {
      // This tests the bound of a listing, not the share of the account.
      budgets: { memoryBytes: 1024 ** 3 },
      pools: { default: { stallTimeoutMs: STALL_MS, connectTimeoutMs: STALL_MS, acquireTimeoutMs: ACQUIRE_MS } },
    },
    connections: [
      { id: 'sftp', name: 'SFTP', type: 'sftp', host: '127.0.0.1', port: sftp.port, ...login },
      { id: 'ftp', name: 'FTP', type: 'ftp', host: '127.0.0.1', port: ftp.port, tls: 'none', ...login },
      {
        id: 's3',
        name: 'S3',
        type: 's3',
        endpoint: s3.endpoint,
        region: 'us-east-1',
        bucket: 'b',
        accessKeyId: 'a',
        secretAccessKey: 's',
        forcePathStyle: true,
      },
    ],
  });
});
after(async () => {
  await gateway?.stop();
  await Promise.all([sftp?.stop(), ftp?.stop(), s3?.stop()]);
});
afterEach(async () => {
  odd = () => false;
  for (const verb of Object.keys(script)) Reflect.deleteProperty(script, verb);
  s3.reset();
  sftp.files.set('/f', Buffer.from('fine'));
  ftp.files.set('/f', Buffer.from('fine'));
  s3.objects.set('f', Buffer.from('fine'));
  for (const connection of ['sftp', 'ftp', 's3']) {
    const { status, text } = await gateway.api.get(`/api/read/${connection}?path=/f`);
    assert.equal(status, 200, `the next request: ${text}`);
  }
});

/** Checks that the answer, its time, its use of the event loop and the growth of memory are within bounds. */
async function ask(target: string, maxGrowth = MAX_GROWTH): Promise<ApiAnswer> {
  resetPeakMemory(gateway.pid);
  const { now } = memoryOf(gateway.pid);
  const startedAt = performance.now();
  let answer!: ApiAnswer;
  const hold = await longestHold(gateway, async () => (answer = await gateway.api.get(target)));
  const elapsed = performance.now() - startedAt;
  const growth = memoryOf(gateway.pid).peak - now;
  assert.ok(elapsed < WITHIN_MS, `${target}: ${elapsed} ms`);
  assert.ok(hold < MAX_HOLD_MS, `${target}: the event loop was held for ${hold} ms`);
  assert.ok(growth < maxGrowth, `${target}: ${growth} bytes more`);
  return answer;
}

async function refused(target: string, ...codes: string[]): Promise<void> {
  const answer = await ask(target);
  const code = String(answer.headers['x-error-code']);
  assert.ok(codes.includes(code), `${answer.status} ${code}: ${answer.text.slice(0, 300)}`);
}

/** Each of several at once is refused long before the wait for a session would end. */
async function refusedSoon(target: string, code: string): Promise<void> {
  const startedAt = performance.now();
  const answers = await Promise.all(Array.from({ length: 6 }, () => gateway.api.get(target)));
  assert.deepEqual([...new Set(answers.map(({ headers }) => headers['x-error-code']))], [code], answers[0]?.text);
  const elapsed = performance.now() - startedAt;
  assert.ok(elapsed < SOON_MS, `${target}: ${elapsed} ms`);
}

/** A download may have begun: then it must not look complete. */
async function neverComplete(target: string): Promise<void> {
  await ask(target).then(
    // Found in another way, for example in the listing of its folder.
    ({ status, text }) => assert.ok(status >= 400 || text === 'fine', `answered ${status}`),
    (error: NodeJS.ErrnoException) => assert.equal(error.code, 'ECONNRESET'),
  );
}

const text = (value: string): Buffer => Buffer.from(value);

describe('SFTP', () => {
  /** Endless READDIR replies with the same names: made once, so that the flood costs the server nothing. */
  const flood = (names: readonly Buffer[]): void => {
    const fields = nameFields(names);
    odd = ({ type, reply }) => {
      if (type !== REQUEST.READDIR) return false;
      reply(REPLY.NAME, fields);
      return true;
    };
  };
  const answering =
    (wanted: number, type: number, fields: readonly (Buffer | number)[]): typeof odd =>
    (request) => {
      if (request.type !== wanted) return false;
      request.reply(type, fields);
      return true;
    };

  test('endless folders', async () => {
    flood(Array.from({ length: 9_000 }, () => text('..')));
    await refused('/api/list/sftp?path=/', 'protocol_error');
    flood(Array.from({ length: 450 }, (_, index) => text(`${index}`.padEnd(1000, 'x'))));
    const tooMuch = await ask('/api/list/sftp?path=/', MAX_LISTING_GROWTH);
    assert.equal(tooMuch.headers['x-error-code'], 'too_large', tooMuch.text);
    assert.ok(gateway.output().split('a listing is incomplete').length < 50, 'the log was flooded');
  });

  test('impossible packets and counts', async () => {
    odd = ({ type, channel }) => {
      if (type !== REQUEST.READDIR) return false;
      channel.write(Buffer.from('ffffffff68', 'hex'));
      return true;
    };
    await refused('/api/list/sftp?path=/', 'protocol_error');
    odd = answering(REQUEST.READDIR, REPLY.NAME, [0xffffffff]);
    await refused('/api/list/sftp?path=/', 'protocol_error');
    odd = answering(REQUEST.STAT, REPLY.ATTRS, [0x80000000, 0xffffffff]);
    await refused('/api/exists/sftp?path=/f', 'protocol_error');
  });

  test('a nonsense answer to the first request of a session', async () => {
    const oddities = [
      answering(REQUEST.REALPATH, REPLY.NAME, [1, 0xfffffff0]),
      answering(REQUEST.REALPATH, REPLY.NAME, [0]),
      answering(REQUEST.REALPATH, REPLY.DATA, [text('x')]),
    ];
    for (const oddity of oddities) {
      // On the session of the request before, and then on a new one.
      odd = oddity;
      await refusedSoon('/api/list/sftp', 'protocol_error');
      await refusedSoon('/api/list/sftp', 'protocol_error');
      odd = () => false;
      assert.equal((await ask('/api/read/sftp?path=/f')).status, 200);
    }
  });

  test('impossible sizes, and more bytes than requested', async () => {
    sftp.files.set('/f', Buffer.from('fine'));
    odd = ({ type, reply }) => {
      if (type !== REQUEST.STAT && type !== REQUEST.FSTAT) return false;
      reply(REPLY.ATTRS, [SIZE | 0x4, 0xffffffff, 0xffffffff, 0o100644]);
      return true;
    };
    await neverComplete('/api/download/sftp?path=/f');
    await refused('/api/read/sftp?path=/f', 'too_large');
    odd = ({ type, reply }) => {
      if (type !== REQUEST.READ) return false;
      reply(REPLY.DATA, [Buffer.alloc(300_000)]);
      return true;
    };
    sftp.files.set('/f', Buffer.alloc(400_000));
    await neverComplete('/api/download/sftp?path=/f');
  });

  after(() =>
    held({
      area: 'Attacks',
      what: 'Hostile SFTP servers',
      done: 'folders without end, packets, counts and sizes that cannot be, more data than asked for, nonsense as the first reply',
      held: 'the fault is reported as the server’s, within 25 s; memory bounded, no short or wrong file looks complete, the next request is served',
      tries: 13,
    }),
  );
});

describe('FTP', () => {
  test('endless replies and listings', async () => {
    script['SIZE'] = (_path, { socket }) => {
      const line = `213-${'x'.repeat(1000)}\r\n`.repeat(64);
      const more = (): void => {
        while (!socket.destroyed && socket.write(line));
        if (!socket.destroyed) socket.once('drain', more);
      };
      more();
    };
    await refused('/api/read/ftp?path=/f', 'protocol_error');
    Reflect.deleteProperty(script, 'SIZE');
    script['LIST'] = async (_argument, { say, data }) => {
      say('150 go');
      const socket = await data();
      const lines = `-rw-r--r-- 1 a a 1 Feb 03 2026 ../${'x'.repeat(20)}\r\n`.repeat(1000);
      const more = (): void => {
        while (!socket.destroyed && socket.write(lines));
        if (!socket.destroyed) socket.once('drain', more);
      };
      more();
    };
    await refused('/api/list/ftp?path=/', 'protocol_error');
  });

  test('passive replies that point to another machine', async () => {
    let knocks = 0;
    const other = net.createServer((socket) => {
      knocks++;
      socket.destroy();
    });
    other.listen(0, '127.0.0.3');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    script['EPSV'] = `229 ok (|1|127.0.0.3|${port}|)`;
    script['PASV'] = `227 ok (127,0,0,3,${port >> 8},${port & 255})`;
    const answer = await ask('/api/read/ftp?path=/f');
    assert.equal(answer.status, 502, answer.text);
    script['EPSV'] = '502 unknown';
    assert.equal((await ask('/api/read/ftp?path=/f')).status, 502);
    assert.equal(knocks, 0);
    other.close();
  });

  test('impossible sizes', async () => {
    ftp.files.set('/f', Buffer.from('fine'));
    for (const size of ['99999999999999999999999', '-1', '1e3', '0x10', '']) {
      script['SIZE'] = `213 ${size}`;
      await neverComplete('/api/download/ftp?path=/f');
    }
  });

  test('text that is not a reply, from the greeting on', async () => {
    for (const verb of ['GREETING', 'USER', 'FEAT', 'PWD']) {
      for (const words of ['hello there', '\u0000\u00ff\u0085']) {
        for (const socket of ftp.sessions) socket.destroy();
        script[verb] = words;
        await refusedSoon('/api/list/ftp', 'protocol_error');
        Reflect.deleteProperty(script, verb);
        assert.equal((await ask('/api/read/ftp?path=/f')).status, 200);
      }
    }
  });

  after(() =>
    held({
      area: 'Attacks',
      what: 'Hostile FTP servers',
      done: 'replies and listings without end, passive replies that point to another machine, sizes that cannot be, text that is no reply',
      held: 'the fault is reported as the server’s, within 25 s; no connection to the other machine, memory bounded, the next request is served',
      tries: 17,
    }),
  );
});

describe('S3', () => {
  const answering = (answer: ReturnType<typeof xml>): void => {
    s3.late = ({ key }) => (key === '' ? answer : undefined);
  };

  test('XML bombs', async () => {
    const laughs = Array.from({ length: 12 }, (_, level) => {
      const inner = level === 0 ? 'ha' : `&l${level - 1};`.repeat(10);
      return `<!ENTITY l${level} "${inner}">`;
    }).join('');
    const result =
      '<ListBucketResult><IsTruncated>false</IsTruncated><Contents><Key>&l11;</Key></Contents></ListBucketResult>';
    answering({ ...xml(''), body: `<?xml version="1.0"?><!DOCTYPE x [${laughs}]>${result}` });
    const laughed = await ask('/api/list/s3?path=/');
    assert.ok(laughed.bytes.length < 2_000, `${laughed.bytes.length} bytes: entities were expanded`);
    const outside = '<!DOCTYPE x [<!ENTITY l11 SYSTEM "file:///etc/passwd">]>';
    answering({ ...xml(''), body: `<?xml version="1.0"?>${outside}${result}` });
    assert.doesNotMatch((await ask('/api/list/s3?path=/')).text, /root:/);
    answering(xml('<a>'.repeat(200_000)));
    await refused('/api/list/s3?path=/', 'protocol_error');
  });

  test('endless answers', async () => {
    s3.late = ({ key }, response) => {
      if (key !== '') return undefined;
      response.writeHead(200, { 'content-type': 'application/xml' });
      const block = Buffer.alloc(1 << 20, '<Contents><Key>k</Key></Contents>');
      const more = (): void => {
        while (!response.destroyed && response.write(block));
        if (!response.destroyed) response.once('drain', more);
      };
      more();
      return 'taken';
    };
    await refused('/api/list/s3?path=/', 'protocol_error');
    answering(listed(['a'], '<IsTruncated>true</IsTruncated><NextContinuationToken>again</NextContinuationToken>'));
    await refused('/api/list/s3?path=/', 'protocol_error');
  });

  test('compressed answers are not inflated', async () => {
    const bomb = gzipSync(Buffer.alloc(64 << 20, ' '));
    answering({ status: 200, headers: { 'content-type': 'application/xml', 'content-encoding': 'gzip' }, body: bomb });
    await refused('/api/list/s3?path=/', 'protocol_error');
  });

  after(() =>
    held({
      area: 'Attacks',
      what: 'Hostile S3 stores',
      done: 'entity bombs, external entities, deep nesting, answers and pages without end, compressed bombs',
      held: 'the fault is reported as the store’s, within 25 s; nothing is expanded or inflated, memory bounded, the next request is served',
      tries: 6,
    }),
  );
});

test('names that are paths, commands or escapes are never listed as such', async () => {
  const names = ['..', '.', '../up', '/etc/passwd', 'a/b', 'a\r\nb', '\u001b[2J', 'a\0b', '\u0085', 'good'];
  const fields = nameFields(names.map(text));
  let isAnswered = false;
  odd = ({ type, reply, status }) => {
    if (type === REQUEST.OPENDIR) isAnswered = false;
    if (type !== REQUEST.READDIR) return false;
    if (isAnswered) status(1);
    else reply(REPLY.NAME, fields);
    isAnswered = true;
    return true;
  };
  script['LIST'] = async (_argument, { say, data }) => {
    say('150 go');
    (await data()).end(names.map((name) => `-rw-r--r-- 1 a a 1 Feb 03 2026 ${name}\r\n`).join(''));
    say('226 done');
  };
  s3.late = ({ key }) =>
    key === ''
      ? listed(
          names.map((name) => encodeURIComponent(name)),
          '<EncodingType>url</EncodingType><IsTruncated>false</IsTruncated>',
        )
      : undefined;
  for (const connection of ['sftp', 'ftp', 's3']) {
    const { json, status, text: body } = await ask(`/api/list/${connection}?path=/`);
    assert.equal(status, 200, body);
    const files = json['files'] as { name: string; path: string }[];
    assert.ok(
      files.some(({ name }) => name === 'good'),
      `${connection}: ${body}`,
    );
    for (const { name, path } of files) {
      // eslint-disable-next-line no-control-regex
      assert.doesNotMatch(name, /[/\u0000-\u001f\u007f-\u009f]|^\.{1,2}$/, connection);
      assert.equal(path, `/${name}`);
    }
  }
  held({
    area: 'Attacks',
    what: 'Names on a remote server that are paths, commands or escapes',
    done: '"..", "/", control characters and line ends in the listings of all three protocols',
    held: 'left out; what is listed is one name in the folder that was asked for',
    tries: names.length * 3,
  });
});
