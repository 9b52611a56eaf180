import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { suite, test } from 'node:test';
import { measure, medianFigure } from '../../bench/measure.js';
import type { Contender, Scenario } from '../../bench/scenario.js';

const MB = 1e6;
const silent = (): void => undefined;

/** Moves one MB in each round, in the seconds given for it. */
function mover(name: string, seconds: readonly number[], order: string[] = []): Contender {
  return {
    name,
    run: async (round) => {
      order.push(`${name}${round}`);
      return { bytes: MB, operations: 1, seconds: seconds[round] ?? NaN, latenciesMs: [3, 1, 2] };
    },
  };
}

const scenario = (contenders: Contender[], goals: Scenario['goals'] = []): Scenario => {
  return { name: 'a scenario', unit: 'MB/s', contenders, goals };
};

suite('measuring', () => {
  test('contenders take turns, in the opposite order every other round', async () => {
    const order: string[] = [];
    await measure(scenario([mover('a', [1, 1], order), mover('b', [1, 1], order)]), 2, silent);
    assert.deepEqual(order, ['a0', 'b0', 'b1', 'a1']);
  });

  test('the ratio is the median of the ratios of each round, not the ratio of the medians', async () => {
    const { contenders } = await measure(scenario([mover('a', [1, 2, 4]), mover('b', [2, 2, 1])]), 3, silent);
    assert.equal(contenders[1]?.ratio, 1);
    assert.deepEqual(contenders[1]?.ratioSpread, [0.25, 2]);
    assert.equal(contenders[0]?.ratio, undefined);
    assert.equal(contenders[0]?.samples[0]?.p50Ms, 2);
  });

  test('a goal is met or missed by that ratio', async () => {
    const goals = [
      { kind: 'ratio', against: 'b', atLeast: 1.9 },
      { kind: 'ratio', against: 'b', atLeast: 2.1 },
      { kind: 'ratio', against: 'nobody', atLeast: 0.1 },
    ] as const;
    const result = await measure(scenario([mover('a', [1]), mover('b', [2])], goals), 1, silent);
    assert.deepEqual(
      result.goals.map(({ isMet }) => isMet),
      [true, false, false],
    );
  });

  test('a rate is a goal of its own, and further figures are kept', async () => {
    const one: Contender = {
      name: 'a',
      run: async () => ({ bytes: 0, operations: 1000, seconds: 1, figures: { connections: 7 } }),
    };
    const goals = [
      { kind: 'rate', atLeast: 1000 },
      { kind: 'rate', atLeast: 1001 },
    ] as const;
    const result = await measure({ ...scenario([one], goals), unit: 'ops/s' }, 1, silent);
    assert.deepEqual(
      result.goals.map(({ text, reached, isMet }) => [text, reached, isMet]),
      [
        ['at least 1,000 a second', '1,000', true],
        ['at least 1,001 a second', '1,000', false],
      ],
    );
    assert.equal(medianFigure(result.contenders[0], 'connections'), 7);
  });

  test('a wrong result is a failure at any speed, and the others continue', async () => {
    const wrong: Contender = {
      ...mover('a', [1, 1]),
      verify: async () => {
        throw new Error('differs after byte 7');
      },
    };
    const { contenders } = await measure(scenario([wrong, mover('b', [1, 1])]), 2, silent);
    assert.equal(contenders[0]?.failure, 'differs after byte 7');
    assert.equal(contenders[0]?.samples.length, 0);
    assert.equal(contenders[1]?.samples.length, 2);
  });

  test('the processor time and the peak memory of a process in the middle are read', async () => {
    const busy: Contender = {
      name: 'a',
      pid: process.pid,
      loopDelayMs: async () => 10,
      run: async () => {
        // By its own clock: on a busy machine time passes without a turn.
        const before = process.cpuUsage();
        while (process.cpuUsage(before).user < 200_000) Math.sqrt(before.user);
        return { bytes: MB, operations: 1 };
      },
    };
    const { contenders } = await measure(scenario([busy]), 1, silent);
    const [sample] = contenders[0]?.samples ?? [];
    assert.ok((sample?.cpuSeconds ?? 0) >= 0.15, `${sample?.cpuSeconds} s`);
    const { cpuSeconds = NaN, kernelSeconds = NaN, waited = NaN } = sample ?? {};
    assert.ok(kernelSeconds >= 0 && kernelSeconds < cpuSeconds, `${kernelSeconds} s in the kernel`);
    assert.ok(waited >= 0 && waited < 1, `waited for ${waited}`);
    assert.ok((sample?.peakMiB ?? 0) > 10, `${sample?.peakMiB} MiB`);
  });

  test('the processor time of a database is that of all its processes, also of those that have ended', async () => {
    const burn = 'const until = () => process.cpuUsage().user < 200_000; while (until()) Math.sqrt(2);';
    const shell = `${process.execPath} -e '${burn}'; true`;
    const own: Contender = {
      name: 'a',
      databasePid: process.pid,
      run: async () => {
        execFileSync('sh', ['-c', shell]);
        return { bytes: MB, operations: 1 };
      },
    };
    const { contenders } = await measure(scenario([own]), 1, silent);
    const [sample] = contenders[0]?.samples ?? [];
    assert.ok((sample?.databaseSeconds ?? 0) >= 0.15, `${sample?.databaseSeconds} s`);
    assert.equal(sample?.cpuSeconds, undefined);
  });

  test('only the window counts: neither the warm-up nor the end of a process', async () => {
    const burn = (ms: number): void => {
      const before = process.cpuUsage();
      for (let spent = 0; spent < ms * 1000;) {
        const { user, system } = process.cpuUsage(before);
        spent = user + system;
      }
    };
    let made = 0;
    const warmed: Contender = {
      name: 'a',
      pid: process.pid,
      allocatedBytes: () => (made += 100),
      run: async (_, window) => {
        burn(150);
        window.begin();
        burn(50);
        window.end();
        burn(150);
        return { bytes: MB, operations: 1 };
      },
    };
    const { contenders } = await measure(scenario([warmed]), 1, silent);
    const [sample] = contenders[0]?.samples ?? [];
    assert.ok((sample?.cpuSeconds ?? NaN) < 0.15, `${sample?.cpuSeconds} s`);
    assert.equal(sample?.allocatedBytes, 100);
  });
});
