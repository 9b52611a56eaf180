import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { createLogger, type Logger } from '../../src/observe/log.js';

/** A logger and the lines it wrote. */
function recorder(settings: { level?: 'info' | 'silent'; pretty?: boolean } = {}): {
  logger: Logger;
  text: () => string;
} {
  const written: string[] = [];
  const output = { write: (line: string) => void written.push(line) };
  const { level = 'info', pretty = false } = settings;
  return { logger: createLogger({ level, pretty }, output), text: () => written.join('') };
}

const SECRET = 'hunter2';

/** Authors of a field or an error text must not have to think of the log: a leak shows as the planted word. */
suite('no planted secret reaches a line', () => {
  const cases: Record<string, (logger: Logger) => void> = {
    'fields by name': (logger) => {
      const names = ['password', 'passphrase', 'privateKey', 'secretAccessKey', 'sessionToken', 'authorization', 'key'];
      const more = [
        'apiKey',
        'x-api-key',
        'token',
        'cookie',
        'set-cookie',
        'webhookSecret',
        'webhook_secret',
        'MASTER_KEY',
      ];
      for (const name of [...names, ...more]) logger.info({ [name]: SECRET, inside: [{ [name]: [SECRET] }] });
    },
    'fields at a depth': (logger) =>
      logger.info({
        a: { b: [{ c: { d: { e: { password: SECRET } } } }] },
        config: { accounts: [{ password: SECRET }] },
      }),
    'fields below the depth that is shown': (logger) => {
      let facts: Record<string, unknown> = { password: SECRET, other: SECRET };
      for (let i = 0; i < 20; i++) facts = { facts };
      logger.info(facts);
    },
    'bindings of children and their children': (logger) => {
      logger.child({ token: SECRET }).child({ apiKey: SECRET }).info('x');
    },
    'fields of a child': (logger) => logger.child({ a: 1 }).info({ password: SECRET }),
    'fields of errors, their causes and parts': (logger) => {
      const cause = Object.assign(new Error('inner'), { password: SECRET });
      logger.error(new AggregateError([cause], 'outer', { cause }));
      logger.error({ err: Object.assign(new Error('x'), { options: { passphrase: SECRET } }) }, 'failed');
      logger.error({ error: cause }, 'under another name');
    },
    'what toJSON yields': (logger) => logger.info({ item: { toJSON: () => ({ password: SECRET }) } }),
    'URLs in messages, arguments, fields and errors': (logger) => {
      const url = `postgres://user:${SECRET}@db.example.com/x`;
      logger.info(`connecting to ${url}`);
      logger.info('connecting to %s', url);
      logger.info({ url, urls: [url] });
      logger.error(new Error(`no answer from ${url}`));
      logger.child({ at: url }).info('x');
    },
    'credentials that show by their form': (logger) => {
      logger.info(`Authorization: Bearer ${SECRET}`);
      logger.info(`key ftg_k1_${SECRET.repeat(5)} used, secret whsec_${SECRET}`);
      logger.info({ text: `-----BEGIN OPENSSH PRIVATE KEY-----\n${SECRET}\n-----END OPENSSH PRIVATE KEY-----` });
      logger.info({ text: `ftg_${'"\\'.repeat(12)}${SECRET}` });
    },
    'buffers and maps': (logger) => logger.info({ body: Buffer.from(SECRET), map: new Map([['password', SECRET]]) }),
  };
  for (const [name, log] of Object.entries(cases)) {
    for (const pretty of [false, true]) {
      test(`${name}${pretty ? ', on a terminal' : ''}`, () => {
        const { logger, text } = recorder({ pretty });
        log(logger);
        assert.notEqual(text(), '');
        assert.doesNotMatch(text(), new RegExp(SECRET));
      });
    }
  }
});

suite('other text is unchanged', () => {
  test('a line is JSON with level, time and message; dates, names and ids are complete', () => {
    const { logger, text } = recorder();
    const at = new Date(0);
    logger.child({ requestId: 'r1' }).warn(
      {
        at,
        keyId: 'k',
        hostKey: 'SHA256:x',
        keyFile: '/f',
        idempotencyKey: 'i',
        size: 5n,
        isSecret: true,
        password: undefined,
      },
      'slow',
    );
    const { time, pid, ...line } = JSON.parse(text()) as Record<string, unknown>;
    assert.ok(!Number.isNaN(Date.parse(String(time))));
    assert.equal(pid, process.pid);
    assert.deepEqual(line, {
      level: 'warn',
      requestId: 'r1',
      at: at.toISOString(),
      keyId: 'k',
      hostKey: 'SHA256:x',
      keyFile: '/f',
      idempotencyKey: 'i',
      size: '5',
      isSecret: true,
      msg: 'slow',
    });
  });

  test('an error keeps type, message, stack and cause', () => {
    const { logger, text } = recorder();
    logger.error(new TypeError('outer', { cause: Object.assign(new Error('inner'), { code: 'ECONNRESET' }) }));
    const { err, msg } = JSON.parse(text()) as {
      msg: string;
      err: Record<string, unknown> & { cause: { code: string } };
    };
    assert.deepEqual([msg, err['type'], err['message'], err.cause.code], ['outer', 'TypeError', 'outer', 'ECONNRESET']);
    assert.match(String(err['stack']), /log\.test/);
  });

  test('URLs without password and host keys in messages are unchanged', () => {
    const { logger, text } = recorder();
    const message = 'GET https://example.com:8080/a?mail=a@b.c from sftp://user@host, ftg_request_total';
    logger.info(message);
    assert.equal((JSON.parse(text()) as { msg: string }).msg, message);
  });
});

test('objects that contain themselves or thousands of fields make one short line', () => {
  const { logger, text } = recorder();
  const circle: Record<string, unknown> = { name: 'circle' };
  circle['self'] = circle;
  const wide = Object.fromEntries(Array.from({ length: 100_000 }, (_, index) => [`field${index}`, index]));
  logger.info({ circle, wide });
  assert.match(text(), /"circle":\{"name":"circle","self":"\[circular\]"\}/);
  assert.ok(text().length < 20_000, `${text().length} characters`);
});

test('the input is not changed', () => {
  const { logger } = recorder();
  const facts = { password: SECRET, inner: { token: SECRET } };
  logger.info(facts);
  assert.deepEqual(facts, { password: SECRET, inner: { token: SECRET } });
});

test('levels below the one set write nothing', () => {
  const quiet = recorder({ level: 'silent' });
  quiet.logger.fatal('x');
  const normal = recorder();
  normal.logger.debug('x');
  assert.equal(quiet.text() + normal.text(), '');
});

test('a long hostile text takes no time', () => {
  const { logger, text } = recorder();
  const before = process.cpuUsage();
  for (const part of ['a.', 'a://', 'a://b:', '-----BEGIN ', 'Bearer ', 'ftg_']) logger.info(part.repeat(100_000));
  // Patterns that search every beginning of a URL again take tens of seconds here.
  const { user, system } = process.cpuUsage(before);
  assert.ok(user + system < 2_000_000, `${(user + system) / 1000} ms of processor time`);
  assert.notEqual(text(), '');
});
