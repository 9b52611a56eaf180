/**
 * Recognisable secrets everywhere, operations that succeed and fail: none may appear in output, answers, metrics,
 * database.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, suite, test } from 'node:test';
import { startScripted, type ScriptedFtp } from '../servers/scripted-ftp.js';
import { startSshd, type TestSshd } from '../servers/sshd.js';
import { startPostgres, type PostgresServer } from '../servers/postgres.js';
import { withSql } from '../storage/databases.js';
import { startGateway, type ApiAnswer } from '../support/gateway.js';
import { startTogether } from '../support/together.js';

/** Each with characters that percent-encoding and base64 change. */
const PLANTS = {
  apiKey: 'ftg_planted/api+key-0123456789',
  unknownKey: 'ftg_planted/unknown+key-0123456789',
  dashboardPassword: 'planted dashboard/pass+1',
  ftpPassword: 'planted ftp/pass+2',
  wrongFtpPassword: 'planted wrong/ftp+3',
  sshPassword: 'planted ssh/pass+4',
  passphrase: 'planted passphrase/+5',
  s3Secret: 'planted-s3/secret+6',
  s3Token: 'planted-s3/token+7',
  urlPassword: 'planted-url/pass+8',
  urlToken: 'planted-url/token+9',
  commandPassword: 'planted-command/pass+10',
  metricsToken: 'planted-metrics/token+11',
  masterKey: 'c0ffee'.repeat(10) + 'abcd',
};

const API = PLANTS.apiKey;

suite('no planted secret appears anywhere', () => {
  let folder: string;
  let server: ScriptedFtp;
  let sshd: TestSshd;
  let postgres: PostgresServer;
  let origin: http.Server;
  let originUrl: string;
  let encryptedKey: string;

  before(async () => {
    folder = mkdtempSync(path.join(tmpdir(), 'ftg-secrets-'));
    const file = path.join(folder, 'key');
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', PLANTS.passphrase, '-f', file]);
    encryptedKey = readFileSync(file, 'utf8');
    [server, sshd, postgres] = await startTogether([
      startScripted({
        PASS: (password, { say }) => say(password === PLANTS.ftpPassword ? '230 in' : '530 Login incorrect.'),
      }),
      startSshd(),
      startPostgres(),
    ]);
    server.files.set('/f', Buffer.from('text'));
    origin = http.createServer((request, response) => {
      if (request.url?.startsWith('/redirect') === true)
        response.writeHead(302, { Location: `/missing?token=${encodeURIComponent(PLANTS.urlToken)}` }).end();
      else response.writeHead(request.url?.startsWith('/good') === true ? 200 : 404).end('body');
    });
    origin.listen(0, '127.0.0.1');
    await once(origin, 'listening');
    originUrl = `127.0.0.1:${(origin.address() as AddressInfo).port}`;
  });
  after(async () => {
    origin.close();
    await Promise.all([server.stop(), sshd.stop(), postgres.stop()]);
    rmSync(folder, { recursive: true });
  });

  for (const level of ['debug', 'trace']) {
    test(`log level ${level}`, async () => {
      const ftp = {
        type: 'ftp',
        host: '127.0.0.1',
        port: server.port,
        username: 'tester',
        password: PLANTS.ftpPassword,
      };
      const ssh = { type: 'sftp', host: '127.0.0.1', port: sshd.port, username: 'root' };
      const s3 = {
        type: 's3',
        bucket: 'b',
        accessKeyId: 'id',
        secretAccessKey: PLANTS.s3Secret,
        sessionToken: PLANTS.s3Token,
      };
      const gateway = await startGateway({
        env: { GATEWAY_MASTER_KEY: PLANTS.masterKey },
        config: {
          database: { url: postgres.url },
          log: { level },
          pools: { default: { connectTimeoutMs: 1500 } },
          metrics: { token: PLANTS.metricsToken },
          network: { urlFetch: { allow: ['127.0.0.1/32'] } },
          accounts: [
            {
              email: 'secrets@example.com',
              plan: 'pro',
              password: PLANTS.dashboardPassword,
              apiKeys: [{ name: 'k', key: API }],
              connections: [
                { id: 'ftp', name: 'FTP', ...ftp },
                { id: 'ftp-wrong', name: 'FTP, wrong', ...ftp, password: PLANTS.wrongFtpPassword },
                { id: 'ftp-away', name: 'FTP, away', ...ftp, port: 1 },
                { id: 'ssh', name: 'SSH', ...ssh, privateKey: readFileSync(sshd.clientKeyFile, 'utf8') },
                { id: 'ssh-wrong', name: 'SSH, wrong', ...ssh, password: PLANTS.sshPassword },
                {
                  id: 'ssh-key',
                  name: 'SSH, refused key',
                  ...ssh,
                  privateKey: encryptedKey,
                  passphrase: PLANTS.passphrase,
                },
                {
                  id: 'ssh-phrase',
                  name: 'SSH, wrong phrase',
                  ...ssh,
                  privateKey: encryptedKey,
                  passphrase: `${PLANTS.sshPassword}!`,
                },
                { id: 's3-odd', name: 'S3, no store', ...s3, endpoint: `http://${originUrl}` },
                { id: 's3-away', name: 'S3, away', ...s3, endpoint: 'http://127.0.0.1:1' },
              ],
            },
          ],
        },
      });
      const { api } = gateway;
      const answers: string[] = [];
      const ask = async (answer: Promise<ApiAnswer>): Promise<void> => {
        const { status, headers, text } = await answer;
        answers.push(`${status} ${JSON.stringify(headers)} ${text}`);
      };
      const key = API;
      try {
        for (const id of [
          'ftp',
          'ftp-wrong',
          'ftp-away',
          'ssh',
          'ssh-wrong',
          'ssh-key',
          'ssh-phrase',
          's3-odd',
          's3-away',
        ]) {
          await ask(api.get(`/api/list/${id}`, { key }));
          await ask(api.post(`/api/write/${id}`, { path: `${sshd.files}/w`, content: 'x' }, { key }));
        }
        const login = `user:${encodeURIComponent(PLANTS.urlPassword)}@`;
        const token = `?token=${encodeURIComponent(PLANTS.urlToken)}&raw=${PLANTS.urlToken}`;
        for (const place of ['good/f', 'missing', 'redirect']) {
          await ask(api.post('/api/upload/ftp', { url: `http://${login}${originUrl}/${place}${token}` }, { key }));
        }
        for (const host of ['127.0.0.1:1', '10.255.255.1', 'no-such-host.invalid']) {
          await ask(api.post('/api/upload/ftp', { url: `http://${login}${host}/f${token}`, filename: 'f' }, { key }));
        }
        for (const command of [
          `PASSWORD=${PLANTS.commandPassword} true`,
          `true --password=${PLANTS.commandPassword}`,
          `no-such-program ${PLANTS.commandPassword}`,
          `"${PLANTS.commandPassword}"`,
          `sleep 5 # ${PLANTS.commandPassword}`,
        ]) {
          // The shell's own text about a command goes only to the caller who sent it.
          await api.post('/api/exec/ssh', { command, timeout: 300 }, { key });
        }
        await ask(api.get('/api/me', { key: PLANTS.unknownKey }));
        await ask(api.send('/api/me', { method: 'PUT', key }));
        await ask(api.get('/api/transfers', { key, query: { limit: '100' } }));
        await ask(api.get('/metrics', { key: PLANTS.metricsToken }));
        await ask(api.get('/metrics', { key }));
        await ask(api.get('/api/connections', { key }));
        assert.ok(
          answers.some((answer) => /"total":[2-9]\d/.test(answer)),
          'the history holds what was done',
        );
        expectNone(await wholeDatabase(postgres.url), 'the database', encryptedKey);
      } finally {
        await gateway.stop();
      }
      expectNone(answers.join('\n'), 'an answer', encryptedKey);
      expectNone(gateway.output(), 'the output', encryptedKey);
    });
  }

  test('a bad configuration that contains secrets', async () => {
    const bad = {
      metrics: { token: `${PLANTS.metricsToken}\n` },
      database: { url: `mysql://user:${encodeURIComponent(PLANTS.urlPassword)}@host/db` },
      accounts: [
        {
          email: 'x',
          plan: 'none',
          password: [PLANTS.dashboardPassword],
          apiKeys: [
            { name: 'k', key: `not_${API}` },
            { name: 'l', key: 'ftg_ planted/api+key-0123456789' },
          ],
          connections: [
            {
              type: 'sftp',
              name: 'n',
              host: 'h',
              username: 'u',
              pasword: PLANTS.sshPassword,
              privateKey: encryptedKey,
            },
            { type: 's3', name: 'm', bucket: 7, accessKeyId: 'i', secretAccessKey: { a: PLANTS.s3Secret } },
          ],
        },
      ],
    };
    let message = '';
    await assert.rejects(
      startGateway({ config: bad, env: { GATEWAY_MASTER_KEY: `${PLANTS.masterKey}!` } }),
      (error) => {
        message = String(error);
        return true;
      },
    );
    assert.match(message, /accounts\[0\]/);
    expectNone(message, 'the messages', encryptedKey);
  });
});

/** Every row of every table as text; bytes unchanged, so that they are searched like text. */
async function wholeDatabase(url: string): Promise<string> {
  return withSql(url, async (sql) => {
    const tables = await sql<{ name: string }[]>`
      select quote_ident(table_schema) || '.' || quote_ident(table_name) as name from information_schema.tables
      where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema')`;
    assert.ok(tables.length >= 10);
    const rows: string[] = [];
    for (const { name } of tables) {
      for (const row of await sql.unsafe(`select * from ${name}`)) {
        for (const value of Object.values(row as Record<string, unknown>)) {
          rows.push(Buffer.isBuffer(value) ? value.toString('latin1') : (JSON.stringify(value) ?? ''));
        }
      }
    }
    return rows.join('\n');
  });
}

function expectNone(text: string, where: string, privateKey: string): void {
  const keyBody = privateKey.split('\n').slice(2, 4);
  for (const [name, secret] of [...Object.entries(PLANTS), ...keyBody.map((line) => ['private key', line] as const)]) {
    const base64 = Buffer.from(secret).toString('base64').replace(/=+$/, '').slice(0, -1);
    const forms = [secret, base64, encodeURIComponent(secret), Buffer.from(secret).toString('hex')];
    for (const form of forms) {
      const at = text.indexOf(form);
      const around = text.slice(Math.max(0, at - 200), at + 100);
      assert.ok(at < 0, `${name} shows in ${where}: ${around}`);
    }
  }
}
