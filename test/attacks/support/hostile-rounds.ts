/** One random round: a server is made to lie in some way, and the gateway gets a request for it. */
import assert from 'node:assert/strict';
import { REPLY, REQUEST } from '../../../src/remotes/sftp/wire/wire.js';
import type { OddRequest, OddServer } from '../../servers/scripted-sftp.js';
import type { Script, ScriptedFtp } from '../../servers/scripted-ftp.js';
import { type S3Stub, xml } from '../../servers/scripted-s3.js';
import type { ApiAnswer, TestGateway } from '../../support/gateway.js';
import { Liar } from './liar.js';

export interface Servers {
  readonly liar: Liar;
  readonly sftp: OddServer;
  readonly ftp: ScriptedFtp;
  readonly s3: S3Stub;
  readonly script: Script;
  setOdd(odd: (request: OddRequest) => boolean): void;
}

/** Pseudo-random numbers: the same seed gives the same ones (mulberry32). */
export class Chance {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** From 0 to below `end`. */
  below(end: number): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % end;
  }

  of<T>(...choices: readonly T[]): T {
    return choices[this.below(choices.length)] as T;
  }

  bytes(most: number): Buffer {
    return Buffer.from(Array.from({ length: this.below(most) }, () => this.below(256)));
  }
}

export async function hostileRound(gateway: TestGateway, servers: Servers, chance: Chance): Promise<void> {
  const connection = chance.of('sftp', 'ftp', 's3', 'ssh-liar', 'ftp-liar', 's3-liar', 'url');
  servers.sftp.files.set('/f', Buffer.from('fine'));
  servers.ftp.files.set('/f', Buffer.from('fine'));
  servers.s3.objects.set('f', Buffer.from('fine'));
  if (connection === 'sftp') servers.setOdd(oddSftp(chance));
  else if (connection === 'ftp') scriptFtp(servers, chance);
  else if (connection === 's3') oddS3(servers.s3, chance);
  else servers.liar.behave = lie(connection, chance);
  try {
    const answer = await ask(gateway, servers, connection, chance);
    assert.notEqual(answer?.headers['x-error-code'], 'internal', answer?.text.slice(0, 300));
  } finally {
    servers.setOdd(() => false);
    for (const verb of Object.keys(servers.script)) Reflect.deleteProperty(servers.script, verb);
    servers.s3.reset();
  }
}

/** Undefined for a download that was cut, as it must be. */
async function ask(
  { api }: TestGateway,
  { liar }: Servers,
  connection: string,
  chance: Chance,
): Promise<ApiAnswer | undefined> {
  if (connection === 'url') {
    const url = `http://127.0.0.1:${liar.port}/f.bin`;
    return api.post('/api/upload/sftp', { url, path: '/', filename: 'u.bin' });
  }
  const raw = { 'Content-Type': 'application/octet-stream' };
  const operations: readonly (() => Promise<ApiAnswer>)[] = [
    () => api.get(`/api/list/${connection}?path=/`),
    () => api.get(`/api/list/${connection}`),
    () => api.get(`/api/exists/${connection}?path=/f`),
    () => api.get(`/api/read/${connection}?path=/f`),
    () => api.get(`/api/download/${connection}?path=/f`),
    () => api.send(`/api/upload/${connection}?path=/&filename=n`, { method: 'POST', headers: raw, body: 'content' }),
    () => api.post(`/api/append/${connection}`, { path: '/f', content: 'more' }),
    () => api.post(`/api/move/${connection}`, { from: '/f', to: '/g' }),
    () => api.post(`/api/mkdir/${connection}`, { path: '/d/e' }),
    () => api.post(`/api/delete/${connection}`, { path: '/f' }),
  ];
  return chance
    .of(...operations)()
    .catch((error: NodeJS.ErrnoException) => {
      assert.equal(error.code, 'ECONNRESET');
      return undefined;
    });
}

function oddSftp(chance: Chance): (request: OddRequest) => boolean {
  const wanted = chance.of(...Object.values(REQUEST));
  let answered = 0;
  return (request) => {
    // Some lie once, others always; then a listing must come to an end by the gateway's own bounds.
    if (request.type !== wanted || answered > chance.of(0, 0, 50, 2_000)) return false;
    answered += 1;
    const field = (): Buffer | number =>
      chance.of<Buffer | number>(0, 1, 0xffffffff, chance.below(2 ** 31), chance.bytes(40));
    switch (chance.below(4)) {
      case 0:
        request.reply(chance.of(...Object.values(REPLY)), Array.from({ length: chance.below(8) }, field));
        break;
      case 1:
        request.status(chance.of(0, 1, 2, 3, 4, 5, 8, 11, 99, 0xffffffff), chance.bytes(60).toString());
        break;
      case 2:
        request.reply(REPLY.NAME, [chance.of(1, 3, 0xffff), ...Array.from({ length: 9 }, field)]);
        break;
      default:
        request.channel.write(chance.bytes(400));
    }
    return true;
  };
}

function scriptFtp({ script, ftp }: Servers, chance: Chance): void {
  if (chance.below(3) === 0) for (const socket of ftp.sessions) socket.destroy();
  const reply = (): string => {
    const code =
      chance.of('1', '2', '3', '4', '5', '9', 'x') + chance.of('00', '13', '20', '26', '27', '29', '50', '57', '');
    const words = chance.of(
      '',
      ' ',
      '-',
      ' (|||0|)',
      ' (1,2,3,4,5,6)',
      ' "/',
      ' 99999999999999999999',
      ` ${'w'.repeat(3_000)}`,
    );
    return code + words + (chance.below(3) === 0 ? chance.bytes(40).toString('latin1') : '');
  };
  const line = (): string =>
    chance.of('-rw-r--r-- 1 a a ', 'drwx', 'type=file;size=', '01-01-20  12:00AM ', '+i1,', '') +
    chance.of('1', '-1', '99999999999999999999', '') +
    chance.of(' Feb 30 2020 ', ';modify=99999999999999; ', ' Jan  1 00:61 ', ' '.repeat(2_000), ' ') +
    chance.bytes(30).toString('latin1');
  for (let lies = 1 + chance.below(2); lies > 0; lies--) {
    const verb = chance.of(
      'GREETING',
      'USER',
      'PASS',
      'FEAT',
      'PWD',
      'CWD',
      'TYPE',
      'EPSV',
      'SIZE',
      'MDTM',
      'MLST',
      'RETR',
      'STOR',
      'RNFR',
      'DELE',
      'MKD',
    );
    script[verb] = reply();
  }
  for (const verb of ['LIST', 'MLSD']) {
    if (chance.below(2) === 0) continue;
    const lines = Array.from({ length: chance.of(1, 10, 1_000) }, line).join('\r\n');
    script[verb] = async (_argument, { say, data }) => {
      say('150 go');
      (await data()).end(lines);
      say(chance.of('226 done', '426 no', '226 done\r\n226 again'));
    };
  }
}

function oddS3(s3: S3Stub, chance: Chance): void {
  const tag = (): string =>
    chance.of(
      '<Key>',
      '</Key>',
      '<Contents>',
      '</Contents>',
      '<Size>',
      '<IsTruncated>true',
      '<a',
      '&',
      '<!--',
      ']]>',
      '<![CDATA[',
      '<NextContinuationToken>t',
      '<CommonPrefixes><Prefix>',
    );
  const body = Array.from({ length: chance.of(1, 20, 3_000) }, () => tag() + chance.bytes(8).toString('latin1')).join(
    '',
  );
  const answer = {
    ...xml(chance.below(2) === 0 ? body : `<ListBucketResult>${body}</ListBucketResult>`),
    status: chance.of(200, 204, 206, 301, 400, 403, 404, 416, 500, 503),
  };
  const headers = chance.of<Record<string, string>>(
    {},
    { 'content-length': '3' },
    { etag: '"'.repeat(500) },
    { 'last-modified': 'never' },
    { 'content-encoding': 'gzip' },
  );
  s3.late = () => (chance.below(4) === 0 ? undefined : { ...answer, headers: { ...answer.headers, ...headers } });
}

function lie(connection: string, chance: Chance): Liar['behave'] {
  const first = {
    'ssh-liar': 'SSH-2.0-x\r\n',
    'ftp-liar': '220 x\r\n',
    's3-liar': 'HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n',
    url: 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n',
  }[connection];
  const start = Buffer.from(chance.of(first ?? '', first ?? '', ''));
  const noise = Buffer.concat([start, chance.bytes(600)]);
  return chance.of<Liar['behave']>(
    Liar.flood(Buffer.concat([chance.bytes(3_000), Buffer.alloc(1)]), start),
    Liar.flood(Buffer.alloc(8_192, chance.below(256)), start),
    Liar.once(noise, true),
    Liar.once(noise, true),
    Liar.each(noise),
    (socket) => void socket.end(noise),
    (socket) => void socket.resetAndDestroy(),
    (socket) => void socket.end(),
  );
}
