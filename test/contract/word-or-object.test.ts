/** A field that is one of some words, or an object: the algorithms of an SFTP connection. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GatewayError } from '../../src/base/errors.js';
import { createChecker } from '../../src/base/schema-check.js';
import { formSchema, inputSchema } from '../../src/contract/connection/schemas.js';
import { sftp } from '../../src/contract/connection/sftp.js';
import { formFieldsIn } from '../../src/contract/form.js';
import type { TSchema } from 'typebox';

const check = createChecker(inputSchema(sftp) as TSchema, 'the connection');
const connection = (algorithms: unknown): object => ({ type: 'sftp', name: 'a', host: 'h', username: 'u', algorithms });

test('both forms are admitted', () => {
  for (const algorithms of [
    'default',
    'legacy',
    { kex: ['curve25519-sha256'] },
    { ciphers: ['3des-cbc'], macs: ['hmac-md5'] },
  ]) {
    assert.doesNotThrow(() => check(connection(algorithms)));
  }
});

test('a mistake is reported for the form that is there', () => {
  const cases: [unknown, RegExp][] = [
    ['modern', /^algorithms must be one of default, legacy$/],
    [{ ciphers: ['rot13'] }, /^algorithms\.ciphers\.0 must be one of aes128-gcm@openssh\.com, /],
    [{ kex: [] }, /^algorithms\.kex must NOT have fewer than 1 items$/],
    [{ kex: ['curve25519-sha256', 'curve25519-sha256'] }, /^algorithms\.kex must NOT have duplicate items/],
    [{ kex: ['diffie-hellman-group-exchange-sha256'] }, /^algorithms\.kex\.0 must be one of /],
    [{ compression: ['zlib'] }, /^compression is not a known field$/],
    [12, /^algorithms must be one of default, legacy$/],
  ];
  for (const [algorithms, words] of cases) {
    assert.throws(
      () => check(connection(algorithms)),
      (error) => error instanceof GatewayError && error.code === 'bad_request' && words.test(error.clientText),
      JSON.stringify(algorithms),
    );
  }
});

test('a form asks for the word and for the parts', () => {
  const { algorithms } = formSchema(sftp)['properties'] as { readonly algorithms: Parameters<typeof formFieldsIn>[1] };
  const fields = formFieldsIn('algorithms', algorithms, { default: 'default' });
  assert.deepEqual(
    fields.map(({ name, input, isNeeded }) => [name, input, isNeeded]),
    [
      ['algorithms', 'choice', false],
      ...['kex', 'ciphers', 'macs', 'hostKeys'].map((kind) => [`algorithms.${kind}`, 'words', false]),
    ],
  );
});
