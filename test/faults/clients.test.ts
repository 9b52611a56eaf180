/**
 * Clients that vanish, are slow, or send less or more than announced: nothing of it is left on the remote or in the
 * gateway.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { after, before, describe, test } from 'node:test';
import { newest, uploadRaw, type HistoryItem } from '../api/support.js';
import { curl } from '../http/support/curl.js';
import { RawClient } from '../http/support/raw-client.js';
import { KEY, type TestGateway } from '../support/gateway.js';
import { held } from '../support/reliability.js';
import {
  contentOf,
  KIB,
  leavesNothing,
  MIB,
  nothingPending,
  overRemotes,
  PROTOCOLS,
  startRemotes,
  TITLES,
  answerText,
  warmUp,
  type ProtocolName,
} from './rig.js';
import { eventually } from '../support/eventually.js';

const UPLOAD_LIMIT = 8 * MIB;
const IDLE_MS = 2_000;
const AUTHORIZATION = `Authorization: Bearer ${KEY}`;

/** Forms of an upload, each as a head and the beginning of a body that continues. */
const FORMS: Readonly<Record<string, (name: string) => { query: string; type: string; begin: string }>> = {
  raw: (name) => ({ query: `?path=/vanish&filename=${name}`, type: 'application/octet-stream', begin: '' }),
  multipart: (name) => ({
    query: '?path=/vanish',
    type: 'multipart/form-data; boundary=edge',
    begin: `--edge\r\nContent-Disposition: form-data; name="file"; filename="${name}"\r\n\r\n`,
  }),
  json: (name) => ({
    query: '',
    type: 'application/json',
    begin: `{"path":"/vanish","filename":"${name}","content":"`,
  }),
};

describe('clients that fail', () => {
  let remotes: Awaited<ReturnType<typeof startRemotes>>;
  let gateway: TestGateway;
  let atRest: number;
  let number = 0;

  before(async () => {
    remotes = await startRemotes();
    gateway = await overRemotes(remotes, {
      config: {
        server: { idleTimeoutMs: IDLE_MS },
        limits: { uploadBytes: UPLOAD_LIMIT },
        pools: { default: { idleTimeoutMs: 2_000 } },
      },
    });
    atRest = await warmUp(gateway);
    for (const protocol of PROTOCOLS) {
      await remotes[protocol].server.disk.write('/large.bin', contentOf('large', 32 * MIB));
    }
  });

  after(async () => {
    await gateway?.stop();
    await remotes?.stop();
  });

  const itemNamed = async (filename: string): Promise<HistoryItem | undefined> =>
    (await newest(gateway.api, 100)).find((item) => item.filename === filename);
  const failsAs = async (filename: string, text: RegExp): Promise<void> => {
    await eventually(async () => (await itemNamed(filename))?.status === 'failed', `${filename} has failed`);
    assert.match((await itemNamed(filename))?.errorMessage ?? '', text);
  };
  const holdsNothingOf = (protocol: ProtocolName, folder: string): Promise<void> =>
    eventually(async () => {
      const files = await remotes[protocol].server.disk.files('/');
      return !files.some((file) => file.startsWith(folder));
    }, `${folder} is empty on ${protocol}`);
  /**
   * In the end there is only the file, or no file and no success in the history: it may not even have begun. The
   * request has the name of its file, and its log line is written when its operation has ended.
   */
  const agrees = async (protocol: ProtocolName, folder: string, filename: string): Promise<void> => {
    const line = new RegExp(`"requestId":"${filename.replaceAll('.', '\\.')}".*"msg":"request"`);
    await eventually(() => line.test(gateway.output()), `the request of ${filename} has ended`);
    return eventually(async () => {
      const item = await itemNamed(filename);
      if (item?.status === 'pending') return false;
      const files = (await remotes[protocol].server.disk.files('/')).filter((file) => file.startsWith(`${folder}/`));
      return files.join() === (item?.status === 'success' ? `${folder}/${filename}` : '');
    }, 'file and history agree');
  };
  const head = (protocol: ProtocolName, form: { query: string; type: string }, ...more: string[]): string =>
    [
      `POST /api/upload/${protocol}${form.query} HTTP/1.1`,
      'Host: x',
      AUTHORIZATION,
      `Content-Type: ${form.type}`,
      ...more,
      '\r\n',
    ].join('\r\n');

  describe('each', { concurrency: 4 }, () => {
    for (const protocol of PROTOCOLS) {
      describe(protocol, { concurrency: 1 }, () => {
        for (const [name, form] of Object.entries(FORMS)) {
          for (const leave of ['reset', 'end'] as const) {
            test(`${protocol}: a ${name} upload whose client leaves half way (${leave})`, async () => {
              const filename = `vanish-${++number}.bin`;
              const { begin, ...rest } = form(filename);
              const client = await RawClient.open(gateway.port);
              client.send(head(protocol, rest, 'Content-Length: 4000000'), begin, 'A'.repeat(2 * MIB));
              await eventually(async () => (await itemNamed(filename))?.status === 'pending', 'the upload runs');
              if (leave === 'reset') client.socket.resetAndDestroy();
              else client.socket.end();
              await failsAs(filename, /client/);
              client.socket.destroy();
              await holdsNothingOf(protocol, '/vanish');
              held({
                area: 'Faults',
                what: `the client of an upload to ${TITLES[protocol]} leaves half way`,
                done: 'raw, multipart and JSON bodies; the connection reset, or its sending half closed',
                held: 'no file, hidden or whole; the item is failed and says that the client left',
                tries: 1,
              });
            });
          }
        }

        test(`${protocol}: a download whose client leaves half way`, async () => {
          const client = await RawClient.open(gateway.port);
          client.send(`GET /api/download/${protocol}?path=/large.bin HTTP/1.1\r\nHost: x\r\n${AUTHORIZATION}\r\n\r\n`);
          await client.until((received) => received.length > MIB);
          client.socket.resetAndDestroy();
          const download = async (): Promise<HistoryItem | undefined> =>
            (await newest(gateway.api, 100)).find((item) => item.type === 'download' && item.connectionId === protocol);
          await eventually(async () => (await download())?.status === 'failed', 'the download has failed');
          assert.match((await download())?.errorMessage ?? '', /client/);
          held({
            area: 'Faults',
            what: `the client of a download from ${TITLES[protocol]} leaves half way`,
            done: 'the connection reset after 1 MiB of 32',
            held: 'the transfer ends; the item is failed and says that the client left',
            tries: 1,
          });
        });

        test(`${protocol}: a copy whose client leaves is stopped`, async () => {
          const name = `${++number}.bin`;
          const target = PROTOCOLS[(PROTOCOLS.indexOf(protocol) + 1) % 3] ?? 'sftp';
          const body = JSON.stringify({
            source_connection_id: protocol,
            source_path: '/large.bin',
            dest_connection_id: target,
            dest_path: `/left/${name}`,
          });
          const client = await RawClient.open(gateway.port);
          client.send(
            `POST /api/copy HTTP/1.1\r\nHost: x\r\n${AUTHORIZATION}\r\nContent-Type: application/json\r\n`,
            `Content-Length: ${body.length}\r\n\r\n${body}`,
          );
          const isDone = client.until((received) => received.length > 0);
          await Promise.race([isDone, eventually(async () => (await itemNamed(name)) !== undefined, 'the copy runs')]);
          client.socket.resetAndDestroy();
          await eventually(async () => (await itemNamed(name))?.status !== 'pending', 'the copy ends');
          const item = await itemNamed(name);
          const files = (await remotes[target].server.disk.files('/')).filter((file) => file.startsWith('/left/'));
          // It may have finished before its client left; then it is complete.
          assert.equal(files.includes(`/left/${name}`), item?.status === 'success');
          held({
            area: 'Faults',
            what: `the client of a copy from ${TITLES[protocol]} leaves`,
            done: 'the connection reset while the copy runs',
            held: 'the copy ends, failed and without a file, or whole where it was through already',
            tries: 1,
          });
        });

        test(`${protocol}: an endless body ends at the limit`, async () => {
          const query = { path: '/endless', filename: `endless-${++number}.bin` };
          const endless = async function* (): AsyncGenerator<Buffer> {
            for (;;) yield Buffer.alloc(256 * KIB);
          };
          const answer = await gateway.api.send(`/api/upload/${protocol}`, {
            method: 'POST',
            query,
            body: Readable.from(endless()),
            headers: { 'Content-Type': 'application/octet-stream' },
          });
          assert.equal(answer.status, 413, answerText(answer));
          await failsAs(query.filename, /8388608/);
          await holdsNothingOf(protocol, '/endless');
          held({
            area: 'Faults',
            what: `the body of an upload to ${TITLES[protocol]} never ends`,
            done: 'a chunked body without end, against an uploadBytes of 8 MiB',
            held: '413 at the limit, no file',
            tries: 1,
          });
        });
      });
    }

    describe('any', { concurrency: 2 }, () => {
      test('a stalled body is cut after the idle time, its file with it', async () => {
        const filename = `still-${++number}.bin`;
        const client = await RawClient.open(gateway.port);
        const form = { query: `?path=/still&filename=${filename}`, type: 'application/octet-stream' };
        client.send(head('sftp', form, 'Content-Length: 1000'), 'half');
        await client.closed;
        await failsAs(filename, /client/);
        await holdsNothingOf('sftp', '/still');
        held({
          area: 'Faults',
          what: 'the client stops in the middle of a body',
          done: 'half of the declared bytes, then nothing for the idle time',
          held: 'the connection is cut, the upload failed, no file',
          tries: 1,
        });
      });

      test('a body of one byte at a time arrives completely', async () => {
        const filename = `slow-${++number}.bin`;
        const client = await RawClient.open(gateway.port);
        const form = { query: `?path=/&filename=${filename}`, type: 'application/octet-stream' };
        client.send(head('ftp', form, 'Content-Length: 200'));
        for (let sent = 0; sent < 200; sent++) {
          client.send('x');
          await new Promise((next) => setImmediate(next));
        }
        assert.equal((await client.answer()).status, 200);
        assert.equal((await remotes.ftp.server.disk.read(`/${filename}`)).toString(), 'x'.repeat(200));
        client.socket.destroy();
        held({
          area: 'Faults',
          what: 'the client sends slowly',
          done: 'a body of 200 bytes, one byte a packet',
          held: 'the file is whole',
          tries: 1,
        });
      });

      test('a chunked body that is cut never becomes a complete file', async () => {
        const filename = `chunks-${++number}.bin`;
        const client = await RawClient.open(gateway.port);
        const form = { query: `?path=/chunks&filename=${filename}`, type: 'application/octet-stream' };
        client.send(head('s3', form, 'Transfer-Encoding: chunked'), '5\r\nhello\r\n');
        await eventually(async () => (await itemNamed(filename)) !== undefined, 'the upload runs');
        client.socket.resetAndDestroy();
        await failsAs(filename, /client/);
        await holdsNothingOf('s3', '/chunks');
        held({
          area: 'Faults',
          what: 'a chunked body is cut',
          done: 'the connection reset after a whole chunk, before the last one',
          held: 'failed, no file',
          tries: 1,
        });
      });

      test('100-continue: curl waits for it and sends', async () => {
        const folder = mkdtempSync(join(tmpdir(), 'ftg-continue-'));
        const content = contentOf('continue', 2 * MIB);
        writeFileSync(`${folder}/file`, content);
        const fields = [AUTHORIZATION, 'Expect: 100-continue', 'Content-Type: application/octet-stream'];
        const { exitCode, stdout } = await curl([
          ...fields.flatMap((field) => ['-H', field]),
          ...['--data-binary', `@${folder}/file`, `${gateway.url}/api/upload/sftp?path=/&filename=continue.bin`],
        ]);
        assert.equal(exitCode, 0);
        assert.match(stdout, /"success":true/);
        assert.ok((await remotes.sftp.server.disk.read('/continue.bin')).equals(content));
        rmSync(folder, { recursive: true });
        held({
          area: 'Faults',
          what: 'the client expects 100-continue',
          done: 'curl sends 2 MiB with Expect: 100-continue',
          held: 'gets 100 Continue; the file is whole',
          tries: 1,
        });
      });

      test('pipelined requests are refused, and not mixed up', async () => {
        const filename = `pipelined-${++number}.bin`;
        const client = await RawClient.open(gateway.port);
        const form = { query: `?path=/pipelined&filename=${filename}`, type: 'application/octet-stream' };
        const second = `GET /api/list/ftp HTTP/1.1\r\nHost: x\r\n${AUTHORIZATION}\r\n\r\n`;
        client.send(`${head('ftp', form, 'Content-Length: 5', `X-Request-Id: ${filename}`)}hello${second}`);
        await client.closed;
        assert.equal(client.received.length, 0, client.received.toString());
        await agrees('ftp', '/pipelined', filename);
        held({
          area: 'Faults',
          what: 'the client pipelines',
          done: 'an upload and a listing in one packet',
          held: 'the connection is closed without an answer to either; file and history agree',
          tries: 1,
        });
      });

      test('a client that closes its sending half after a whole request counts as gone; file and history agree', async () => {
        const filename = `half-closed-${++number}.bin`;
        const client = await RawClient.open(gateway.port, { allowHalfOpen: true });
        const form = { query: `?path=/half-closed&filename=${filename}`, type: 'application/octet-stream' };
        client.send(`${head('sftp', form, 'Content-Length: 5', `X-Request-Id: ${filename}`)}hello`);
        client.socket.end();
        await client.closed;
        await agrees('sftp', '/half-closed', filename);
        held({
          area: 'Faults',
          what: 'the client half-closes',
          done: 'its sending half closed right after a whole upload',
          held: 'taken as gone; file and history agree, no hidden file stays',
          tries: 1,
        });
      });
    });
  });

  test('nothing is left, and the next requests work', async () => {
    assert.ok(await nothingPending(gateway));
    await leavesNothing(gateway, atRest);
    for (const protocol of PROTOCOLS) {
      const answer = await uploadRaw(gateway.api, protocol, { path: '/', filename: 'last' }, 'good');
      assert.equal(answer.status, 200, answerText(answer));
    }
  });
});
