import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { showWhatHangs, treeOf } from './processes.js';

test('a process that runs for long is shown, with what it has started', async () => {
  let endShowing: () => void = () => undefined;
  const shown = new Promise<string>((resolve) => {
    endShowing = showWhatHangs(500, (program) => program === 'cat; true', resolve);
  });
  const others = spawn('sh', ['-c', 'cat; false']);
  const hanging = spawn('sh', ['-c', 'cat; true']);
  try {
    hanging.stdin.write('it runs');
    await once(hanging.stdout, 'data');
    const [shell = '', cat = '', ...more] = treeOf(hanging.pid ?? 0);
    assert.match(shell, new RegExp(`^  ${hanging.pid} S \\S+ sh -c cat; true `));
    assert.match(cat, /^ {4}\d+ S \S+ cat $/);
    assert.deepEqual(more, []);
    const [title, first = ''] = (await shown).split('\n');
    assert.equal(title, 'still running: cat; true');
    assert.match(first, new RegExp(`^  ${hanging.pid} `));
  } finally {
    endShowing();
    for (const { stdin } of [hanging, others]) stdin.end();
  }
});
