/** A server that shows something else at a later check: connection.changed says what, once. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startSshd } from '../../servers/sshd.js';
import { eventually } from '../../support/eventually.js';
import { KEY, startGateway } from '../../support/gateway.js';

interface ChangedEvent {
  readonly type: string;
  readonly data: { readonly connection: { readonly id: string }; readonly changes: readonly Change[] };
}
interface Change {
  readonly what: string;
  readonly before: readonly string[];
  readonly after: readonly string[];
}

test('other ciphers of a server are an event', async (t) => {
  const extra = ['Ciphers aes256-ctr'];
  const ssh = await startSshd(extra);
  t.after(() => ssh.stop());
  const { port, username, clientKeyFile: privateKeyFile } = ssh;
  const login = { name: 'SSH', type: 'sftp', host: '127.0.0.1', port, username, privateKeyFile };
  // No session outlives the time between two checks.
  const gateway = await startGateway({
    connections: [{ id: 'ssh', ...login, pool: { idleTimeoutMs: 300 } }],
    apiKeys: [{ name: 'test', key: KEY, scopes: ['read', 'watch', 'admin'] }],
    config: { health: { everySeconds: 1 } },
  });
  t.after(() => gateway.stop());
  const changes = async (): Promise<readonly Change[]> => {
    const { json } = await gateway.api.get('/api/events', { query: { limit: '1000' } });
    const events = json['events'] as readonly ChangedEvent[];
    return events.filter(({ type }) => type === 'connection.changed').flatMap(({ data }) => data.changes);
  };
  const checks = async (): Promise<number> => {
    const { json } = await gateway.api.get('/manage/connections/ssh/health');
    return (json['last24Hours'] as { readonly checks: number }).checks;
  };
  const checked = async (more: number): Promise<void> => {
    const before = await checks();
    await eventually(async () => (await checks()) >= before + more, `${more} checks`);
  };
  await checked(2);
  assert.deepEqual(await changes(), []);
  extra[0] = 'Ciphers aes128-ctr';
  await ssh.restart([ssh.hostKeyFile]);
  await eventually(async () => (await changes()).length > 0, 'the change is reported');
  await checked(2);
  const found = await changes();
  assert.deepEqual(
    found.map(({ what }) => what),
    ['algorithms'],
  );
  assert.ok(found[0]?.before.includes('aes256-ctr') && found[0].after.includes('aes128-ctr'));
});
