/** A gateway with a proxy of its own: its password is in a file, and changes. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { startTinyproxy } from '../servers/network-proxies.js';
import { eventually } from '../support/eventually.js';
import { KEY, startGateway } from '../support/gateway.js';

test('url uploads and webhooks go through network.proxy, the sandbox does not', async (t) => {
  const proxy = await startTinyproxy();
  t.after(() => proxy.stop());
  const place = mkdtempSync(join(tmpdir(), 'ftg-through-proxy-'));
  t.after(() => rmSync(place, { recursive: true }));
  const secret = join(place, 'password');
  writeFileSync(secret, 'another password');
  let messages = 0;
  const server = http
    .createServer((request, response) => {
      if (request.method === 'POST') messages += 1;
      response.end('content');
    })
    .listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const origin = `http://localhost:${(server.address() as AddressInfo).port}`;
  const gateway = await startGateway({
    env: { GATEWAY_PROXY_URL: proxy.url },
    config: {
      sandbox: true,
      network: {
        proxy: { username: proxy.username, password: { from: `file:${secret}` } },
        urlFetch: { allow: ['127.0.0.1'] },
        webhooks: { allow: ['127.0.0.1'] },
      },
      accounts: [{ email: 'test@example.com', plan: 'pro', apiKeys: [{ name: 'test', key: KEY }], connections: [] }],
    },
  });
  t.after(() => gateway.stop());
  const upload = () => gateway.api.post('/api/upload/sandbox', { url: `${origin}/a.txt`, path: '/' });
  const deliver = async (url: string): Promise<{ status: number | null; errorMessage: string | null }> => {
    const made = await gateway.api.post('/api/webhooks', { url, events: ['job.finished'] });
    const { id } = made.json['webhook'] as { id: string };
    const tried = (await gateway.api.post(`/api/webhooks/${id}/test`, {})).json;
    return tried['test'] as { status: number | null; errorMessage: string | null };
  };

  const refused = await upload();
  assert.deepEqual([refused.status, refused.headers['x-error-code']], [502, 'unreachable'], refused.text);
  assert.match(refused.text, /the proxy http:\/\/\S+ gets no valid login from this gateway/);
  assert.match((await deliver(`${origin}/hook`)).errorMessage ?? '', /the proxy \S+ gets no valid login/);
  assert.ok(!refused.text.includes(secret), 'no path of the machine');
  assert.ok(!gateway.output().includes('another password'));

  writeFileSync(secret, proxy.password);
  // A refused secret is read again at most once a second.
  await eventually(async () => (await upload()).status < 300, 'the new password is read');
  assert.equal((await deliver(`${origin}/hook`)).status, 200);
  assert.equal(messages, 1);
  await eventually(
    () => proxy.log().includes(`CONNECT ${new URL(origin).host}`),
    'a line of it in the log of the proxy',
  );

  const { json } = await gateway.api.get('/api/sandbox/webhooks');
  const [receiver] = json['receivers'] as { url: string }[];
  const inside = new URL('/200', receiver?.url).href;
  assert.equal((await deliver(inside)).status, 200);
  assert.ok(!proxy.log().includes(new URL(inside).host));

  const denied = await gateway.api.post('/api/upload/sandbox', { url: 'http://10.1.2.3/x', path: '/' });
  assert.deepEqual([denied.status, denied.headers['x-error-code']], [403, 'address_denied']);
});
