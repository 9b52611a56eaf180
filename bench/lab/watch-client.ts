/** The bench's calls of a gateway's watched folders, over its public and its management API. */
import { setTimeout as delay } from 'node:timers/promises';
import { ask } from './api.js';
import type { GatewayUnderTest } from './gateway.js';

export interface Watched {
  readonly connectionId: string;
  readonly path: string;
  readonly webhookUrl?: string;
  readonly scheduleMinutes?: number;
}

/** Checks so far by the upper bound of their lag in ms; each bound includes those below it. */
export type Lags = ReadonlyMap<number, number>;

interface CheckView {
  readonly id: string;
  readonly kind: string;
  readonly outcome: string;
  readonly errorMessage: string | null;
}

const LOOK_MS = 250;

export class WatchClient {
  readonly #gateway: GatewayUnderTest;

  constructor(gateway: GatewayUnderTest) {
    this.#gateway = gateway;
  }

  /** Resolves with the folder's id; its first check follows at once. */
  async watch(folder: Watched): Promise<string> {
    return ((await this.#ask('POST', '/api/watched-folders', folder)) as { id: string }).id;
  }

  async remove(id: string): Promise<void> {
    await this.#ask('DELETE', `/api/watched-folders/${id}`);
  }

  /** Requests a check until one is granted: the former one may be about to end. */
  async requestCheck(id: string): Promise<void> {
    const path = `/manage/watched-folders/${id}/check`;
    while (!((await this.#ask('POST', path)) as { queued: boolean }).queued) await delay(LOOK_MS);
  }

  /** Requests a check and waits for its end. */
  async check(id: string, withinMs: number): Promise<void> {
    const [former] = await this.#checks(id);
    await this.requestCheck(id);
    await this.#until(id, withinMs, ([latest]) => latest?.id !== former?.id && latest?.kind === 'manual');
  }

  /** Waits for a folder's first check. */
  async firstCheck(id: string, withinMs: number): Promise<void> {
    await this.#until(id, withinMs, (checks) => checks.length > 0);
  }

  async lags(): Promise<Lags> {
    const text = await (await fetch(`${this.#gateway.url}/metrics`)).text();
    const buckets = text.matchAll(/^ftg_watch_check_lag_seconds_bucket\{le="([^"]+)"\} (\d+)$/gm);
    return new Map(
      [...buckets].map(([, bound, count]) => [bound === '+Inf' ? Infinity : Number(bound) * 1000, Number(count)]),
    );
  }

  /** @throws if one of the checks failed */
  async #until(id: string, withinMs: number, holds: (checks: readonly CheckView[]) => boolean): Promise<void> {
    for (const end = Date.now() + withinMs; Date.now() < end; await delay(LOOK_MS)) {
      const checks = await this.#checks(id);
      const failed = checks.find(({ outcome }) => outcome === 'failed');
      if (failed !== undefined) throw new Error(`a check failed: ${failed.errorMessage}`);
      if (holds(checks)) return;
    }
    throw new Error(`a folder was not checked within ${withinMs} ms`);
  }

  async #checks(id: string): Promise<readonly CheckView[]> {
    const answer = await this.#ask('GET', `/manage/watched-folders/${id}/checks`);
    return (answer as { readonly checks: readonly CheckView[] }).checks;
  }

  #ask(method: string, path: string, body?: object): Promise<unknown> {
    return ask(this.#gateway, method, path, body);
  }
}

/** The lag of each check between two readings, as the upper bound of its bucket. */
export function lagsBetween(before: Lags, after: Lags): number[] {
  const lags: number[] = [];
  for (const [bound, count] of after) {
    const inside = count - (before.get(bound) ?? 0) - lags.length;
    for (let check = 0; check < inside; check += 1) lags.push(bound);
  }
  return lags;
}
