/**
 * The names of servers and connections are shown to holders of metrics.token, and on the machine itself; not to all
 * others.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemRoutes } from '../../src/api/endpoints.js';
import type { HttpRequest, RequestContext } from '../../src/http/types.js';
import { withoutNames } from '../../src/observe/unnamed-metrics.js';

const TEXT = [
  '# TYPE ftg_pool_leases gauge',
  'ftg_pool_leases{host="sftp.example.com:22"} 2',
  'ftg_pool_leases{host="a \\"quoted\\" one:22"} 3',
  'ftg_connection_bytes_total{connection="warehouse",direction="inbound"} 5',
  'ftg_connection_bytes_total{direction="inbound",connection="legacy"} 7',
  'ftg_connection_bytes_total{connection="legacy",direction="outbound"} 1',
  'ftg_budget_used{budget="hosts"} 4',
  'ftg_ready 1',
  '',
].join('\n');
const UNNAMED = [
  '# TYPE ftg_pool_leases gauge',
  'ftg_pool_leases 5',
  'ftg_connection_bytes_total{direction="inbound"} 12',
  'ftg_connection_bytes_total{direction="outbound"} 1',
  'ftg_budget_used{budget="hosts"} 4',
  'ftg_ready 1',
  '',
].join('\n');

test('series that differ only in a name are added up', () => {
  assert.equal(withoutNames(TEXT), UNNAMED);
});

async function asked(metricsToken: string, remoteAddress: string, headers: Record<string, string> = {}) {
  const routes = systemRoutes({
    storage: { ready: async () => undefined },
    metrics: { contentType: 'text/plain', text: async () => TEXT },
    metricsToken,
    isDraining: () => false,
    onReadyAsked: () => undefined,
  });
  const request = { remoteAddress, headers: new Map(Object.entries(headers)) } as unknown as HttpRequest;
  const route = routes.find(({ path }) => path === '/metrics');
  return (await route?.handle({ request } as RequestContext))?.body;
}

test('without a token only the machine itself sees hosts and connections', async () => {
  for (const address of ['127.0.0.1', '127.1.2.3', '::1']) assert.equal(await asked('', address), TEXT, address);
  for (const address of ['192.0.2.1', '10.0.0.1', '::ffff:192.0.2.1', '']) {
    assert.equal(await asked('', address), UNNAMED, address);
  }
  const throughProxy = { 'x-forwarded-for': '127.0.0.1' };
  assert.equal(await asked('', '127.0.0.1', throughProxy), UNNAMED, 'a proxy on this machine asks for others');
});

test('holders of the token see them from anywhere', async () => {
  assert.equal(await asked('secret', '192.0.2.1', { authorization: 'Bearer secret' }), TEXT);
  await assert.rejects(asked('secret', '127.0.0.1'), { code: 'unauthenticated' });
});
