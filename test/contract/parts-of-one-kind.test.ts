/** Parts of an object that belong to one value of its first part: the key of an encryption. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formSchema } from '../../src/contract/connection/schemas.js';
import { s3 } from '../../src/contract/connection/s3.js';
import { formFieldsIn } from '../../src/contract/form.js';

test('the form knows the kind that each key of an encryption belongs to', () => {
  const { encryption } = formSchema(s3)['properties'] as { readonly encryption: Parameters<typeof formFieldsIn>[1] };
  assert.deepEqual(
    formFieldsIn('encryption', encryption).map(({ name, onlyFor }) => [name, onlyFor]),
    [
      ['encryption.type', undefined],
      ['encryption.keyId', 'kms'],
      ['encryption.key', 'customer'],
    ],
  );
});
