import assert from 'node:assert/strict';
import { test } from 'node:test';
import { partsOf, type CpuProfile } from '../../bench/report/profile.js';

const node = (id: number, functionName: string, url: string, children: number[] = []): CpuProfile['nodes'][number] => ({
  id,
  callFrame: { functionName, url },
  children,
});

/** 10 µs idle, 30 in a parser, of which 10 in what it calls natively, 40 writing, 10 collecting, 20 opaque. */
const profile: CpuProfile = {
  nodes: [
    node(1, '(root)', '', [2, 3, 5, 6, 7]),
    node(2, '(idle)', ''),
    node(3, 'parse', 'file:///app/node_modules/ssh2/lib/protocol/Protocol.js', [4, 8]),
    node(4, 'copy', ''),
    node(5, '(garbage collector)', ''),
    node(6, '(program)', ''),
    node(7, 'route', 'file:///app/dist/src/http/router.js'),
    node(8, 'writev', ''),
  ],
  samples: [2, 3, 4, 8, 5, 6],
  timeDeltas: [10, 20, 10, 40, 10, 20],
};

test('busy time is counted by parts, native time for its caller, and idle time not at all', () => {
  const parts = partsOf([profile, profile]);
  assert.deepEqual(
    parts.map(({ name, share }) => [name.split(/[ :]/)[0], share]),
    [
      ['the', 0.4],
      ['ssh2', 0.3],
      ['native', 0.2],
      ['garbage', 0.1],
    ],
  );
});

test('without a profile there are no parts', () => {
  assert.deepEqual(partsOf([]), []);
});
