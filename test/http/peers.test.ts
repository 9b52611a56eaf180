/**
 * Which clients have left while nothing is read from their sockets, if the front end knows their ports and if it does
 * not.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PeerChecks } from '../../src/http/peers.js';

const ADDRESS = '192.0.2.7';
/** In the kernel's notation. */
const KEY = '070200C0';
const OTHER = '080200C0';
const [ESTABLISHED, CLOSE_WAIT] = ['01', '08'];

type Table = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** Checks one table after the other; resolves with what each shows about a client at ADDRESS. */
async function looksAt(
  tables: readonly Table[],
  { lingering = 0, port }: { readonly lingering?: number; readonly port?: number } = {},
): Promise<boolean[]> {
  let next = 0;
  const looks = new PeerChecks(() => {
    const table = Object.entries(tables[next++] ?? {});
    return Promise.resolve(new Map(table.map(([key, states]) => [key, new Map(Object.entries(states))])));
  });
  const peer = { address: ADDRESS, ...(port === undefined ? {} : { port }) };
  for (let count = 0; count < lingering; count++) looks.lingers(peer);
  const found: boolean[] = [];
  while (next < tables.length) found.push((await looks.gone(8080, [peer]))(peer));
  return found;
}

test('with its port: it has left when its own connection is closing', async () => {
  const table = { [KEY]: { '1F40': CLOSE_WAIT, '1F41': ESTABLISHED } };
  assert.deepEqual(await looksAt([table], { port: 0x1f40 }), [true]);
  assert.deepEqual(await looksAt([table], { port: 0x1f41 }), [false]);
});

test('without: it has left when two checks have seen a closing connection that is not one of those answered before', async () => {
  const closing = { [KEY]: { '1F40': CLOSE_WAIT, '1F41': ESTABLISHED } };
  assert.deepEqual(await looksAt([closing, closing]), [false, true]);
  assert.deepEqual(await looksAt([closing, closing], { lingering: 1 }), [false, false]);
});

test('without: connections that close between two requests do not count', async () => {
  const closing = (remote: string): Table => ({ [KEY]: { [remote]: CLOSE_WAIT, '1F41': ESTABLISHED } });
  assert.deepEqual(await looksAt(['1F50', '1F51', '1F52', '1F53'].map(closing)), [false, false, false, false]);
});

test('without: it has left when its address has no open connection', async () => {
  const gone = { [OTHER]: { '1F60': ESTABLISHED } };
  assert.deepEqual(await looksAt([{ [KEY]: { '1F41': ESTABLISHED } }, gone, gone]), [false, false, true]);
});

test('no client has left if there is no table', async () => {
  assert.deepEqual(await looksAt([{}, {}]), [false, false]);
});
