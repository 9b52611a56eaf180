/** The commands of the page work as written. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { OPENSSH } from '../../servers/catalogue.js';
import { snippetsOf } from '../../docs/snippets.js';
import { openPlace, type Place } from './place.js';

const SNIPPETS = snippetsOf('docs/integrate/s3-front.md');

let place: Place;

before(async () => {
  const [first = assert.fail()] = OPENSSH;
  place = await openPlace(first, 'warehouse');
});
after(() => place.close());

for (const { language, line, code } of SNIPPETS) {
  test(`line ${line}`, async () => {
    const env = { S3: place.pathEndpoint, S3_ROOT: place.endpoint };
    const program = language === 'python' ? '/usr/bin/python3' : 'bash';
    const args = language === 'python' ? ['-c', code] : ['-euo', 'pipefail', '-c', code];
    await place.run(program, args, env);
  });
}
