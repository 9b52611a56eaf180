import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { parse } from 'yaml';
import { exampleFile } from '../../src/config/example.js';
import { configSchema } from '../../src/config/schema.js';
import { CONNECTION_TYPES } from '../../src/contract/connection/types.js';
import { defaults, load } from './support.js';

/** The example file, the schema and the defaults describe one and the same program. */
suite('config/gateway.example.yaml', () => {
  const text = exampleFile();
  /** The same, with the commented-out account. */
  const [settings = '', sample = ''] = text.split(/^accounts: \[\]\n/m);
  const withSample = `${settings}${sample.replace(/^# ?/gm, '')}`;
  const environment = {
    OPS_PASSWORD: 'a',
    CI_KEY: 'ftg_abcdefghijklmnopqrstuvwxyz',
    CI_S3_SECRET: '0123456789abcdef',
    WAREHOUSE_PASSWORD: 'b',
    LEGACY_PASSWORD: 'c',
    LAKE_ACCESS_KEY_ID: 'd',
    LAKE_SECRET_ACCESS_KEY: 'e',
  };

  test('unchanged, it sets the defaults', async () => assert.deepEqual(await load(text), defaults()));

  test('writes every default out', () => {
    const { masterKey: _, ...config } = defaults();
    assert.deepEqual(parse(text), config);
  });

  test('its account is valid and holds one connection of each type', async () => {
    const [account] = (await load(withSample, environment)).accounts;
    assert.deepEqual(
      account?.connections.map((connection) => connection.type),
      ['sftp', 'ftp', 's3'],
    );
  });

  test('its account needs its secrets from the environment', async () => {
    for (const name of Object.keys(environment)) {
      const { [name]: _, ...others } = environment as Record<string, string>;
      await assert.rejects(load(withSample, others), { name: 'ConfigError', message: new RegExp(`\\$\\{${name}\\}`) });
    }
  });

  test('shows every key of the schema, each with a comment', () => {
    const missing = missingKeys(configSchema(CONNECTION_TYPES) as Node, parse(withSample) as Tree, []);
    assert.deepEqual(missing, []);
    const bare = settings.split('\n').filter((line) => /^ *[A-Za-z]+: *[^ #{]/.test(line) && !line.includes(' # '));
    assert.deepEqual(bare, []);
  });
});

type Tree = Readonly<Record<string, unknown>>;
interface Node {
  readonly properties?: Readonly<Record<string, Node>>;
  readonly items?: Node;
  readonly oneOf?: readonly Node[];
  readonly const?: unknown;
}

/** Paths of keys that are in the schema and not in the example. */
function missingKeys(schema: Node, shown: unknown, path: readonly string[]): string[] {
  if (schema.oneOf !== undefined) {
    const type = (shown as Tree)['type'];
    const variant = schema.oneOf.find(({ properties }) => properties?.['type']?.const === type);
    return missingKeys(variant ?? {}, shown, [...path, String(type)]);
  }
  if (schema.items !== undefined && Array.isArray(shown)) {
    return shown.flatMap((item) => missingKeys(schema.items ?? {}, item, [...path, '[]']));
  }
  // For a secret, the example shows the text, not the reference that may take its place.
  if (typeof shown === 'string') return [];
  // The pool of one host or connection shows only its changes; pools.default shows all keys. A proxy is none.
  if (['pool', 'proxy', 'algorithms', 'encryption', 'role'].includes(path.at(-1) ?? '')) return [];
  return Object.entries(schema.properties ?? {}).flatMap(([name, property]) =>
    Object.hasOwn(shown as Tree, name)
      ? missingKeys(property, (shown as Tree)[name], [...path, name])
      : [[...path, name].join('.')],
  );
}
