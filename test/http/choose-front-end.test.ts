import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { chooseFrontEnd } from '../../src/http/choose-front-end.js';
import { startGateway } from '../support/gateway.js';

const loads = (): void => undefined;
const fails = (): never => {
  throw new Error('no build runs here: use another Node.js');
};

describe('the choice of a front end', () => {
  test('auto takes uWebSockets.js if a build of it loads, without a warning', () => {
    assert.deepEqual(chooseFrontEnd('auto', 4, loads), { frontEnd: 'uws', threads: 4, warning: undefined });
  });

  test('auto takes node:http if none does, and one line says so and what would be faster', () => {
    const { frontEnd, threads, warning = '' } = chooseFrontEnd('auto', 1, fails);
    assert.deepEqual([frontEnd, threads], ['node', 1]);
    assert.match(warning, /^HTTP is served by node:http.*; no build runs here: use another Node\.js$/);
  });

  test('node is used on request, without a warning unless several event loops were requested', () => {
    assert.deepEqual(chooseFrontEnd('node', 1, fails), { frontEnd: 'node', threads: 1, warning: undefined });
    const { threads, warning = '' } = chooseFrontEnd('node', 4, loads);
    assert.equal(threads, 1);
    assert.match(warning, /^node:http serves with one event loop, not with the 4 of server\.threads$/);
  });

  test('only uws is refused if no build loads', () => {
    assert.throws(() => chooseFrontEnd('uws', 1, fails), /^Error: server\.frontEnd: no build runs here: .*node:http/);
  });

  test('idle connections that are kept longer than uWebSockets.js can are served by node:http', () => {
    assert.equal(chooseFrontEnd('auto', 1, loads, 6).frontEnd, 'uws');
    const { frontEnd, warning = '' } = chooseFrontEnd('auto', 1, loads, 65);
    assert.equal(frontEnd, 'node');
    assert.match(warning, /^HTTP is served by node:http: uWebSockets\.js keeps idle connections for 6 seconds at most/);
    assert.deepEqual(chooseFrontEnd('node', 1, loads, 65), { frontEnd: 'node', threads: 1, warning: undefined });
    assert.throws(
      () => chooseFrontEnd('uws', 1, loads, 65),
      /^Error: server\.keepAliveSeconds: .*frontEnd to auto or node$/,
    );
  });

  test('auto loads only a binary of known checksum; uws takes any', () => {
    const asked: string[] = [];
    const load = (trust: string): number => asked.push(trust);
    chooseFrontEnd('auto', 1, load);
    chooseFrontEnd('uws', 1, load);
    assert.deepEqual(asked, ['known', 'any']);
  });

  test('a gateway that must use node:http serves with it, and says what server.threads cannot have', async (t) => {
    const gateway = await startGateway({ config: { server: { frontEnd: 'node', threads: 2 } } });
    t.after(() => gateway.stop());
    assert.match(gateway.output(), /"build":"node:http v\d+/);
    const warnings = gateway.output().match(/"level":"warn".*node:http serves with one event loop/g);
    assert.equal(warnings?.length, 1);
    assert.equal((await gateway.api.get('/api/me')).status, 200);
  });
});
