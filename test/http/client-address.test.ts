/** The client of a request, with and without load balancers. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clientAddress } from '../../src/http/client-address.js';
import { startFrontEnd } from './support/front-end.js';

const TRUSTED = ['10.0.0.0/8', '2001:db8::1'];

for (const [what, peer, forwardedFor, expected] of [
  ['no proxy: the claim of the client does not count', '192.0.2.7', '198.51.100.1', '192.0.2.7'],
  ['one proxy', '10.0.0.1', '198.51.100.1', '198.51.100.1'],
  ['a proxy behind a proxy', '10.0.0.1', '198.51.100.1, 10.0.0.2', '198.51.100.1'],
  ['a client that invents hops', '10.0.0.1', '10.9.9.9, 203.0.113.5, 198.51.100.1', '198.51.100.1'],
  ['a proxy that asks for itself', '10.0.0.1', undefined, '10.0.0.1'],
  ['nothing but proxies', '10.0.0.1', '10.0.0.3,10.0.0.2', '10.0.0.3'],
  ['a hop that is no address', '10.0.0.1', '198.51.100.1, unknown', '10.0.0.1'],
  ['IPv6', '2001:db8::1', '2001:db8::2', '2001:db8::2'],
  ['an IPv4 address in the dress of IPv6', '::ffff:10.0.0.1', '::ffff:198.51.100.1', '198.51.100.1'],
] as const) {
  test(`the client's address: ${what}`, () => {
    assert.equal(clientAddress(peer, forwardedFor, TRUSTED), expected);
  });
}

test('the front end trusts the configured proxies, and no others', async (t) => {
  const answer = async () => ({ status: 204 });
  for (const [trustedProxies, expected] of [
    [['127.0.0.1'], '198.51.100.1'],
    [[], '127.0.0.1'],
  ] as const) {
    const frontEnd = await startFrontEnd(t, answer, { trustedProxies });
    await fetch(`http://127.0.0.1:${frontEnd.port}/`, { headers: { 'X-Forwarded-For': '198.51.100.1' } });
    assert.equal((await frontEnd.over(1)).remoteAddress, expected);
  }
});
