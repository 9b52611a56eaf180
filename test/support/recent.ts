import assert from 'node:assert/strict';

/**
 * The time is between `since` and now, up to the difference and rounding of clocks, however long a busy machine took in
 * between.
 */
export function assertRecent(time: Date | number | string, since: number, apartMs = 2_000): void {
  const at = new Date(time).getTime();
  const now = Date.now();
  const [from, to] = [new Date(since - apartMs), new Date(now + apartMs)];
  assert.ok(
    at >= from.getTime() && at <= to.getTime(),
    `${String(time)} is not between ${from.toISOString()} and ${to.toISOString()}`,
  );
}
