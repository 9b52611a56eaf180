/**
 * Works through a durable list of files: those of a job, of an event's copies, or of a delivered event. Some run
 * concurrently; each error gets a verdict, and each end is recorded.
 */
import type { EndSignal } from '../base/ending.js';
import type { GatewayError } from '../base/errors.js';
import { toGatewayError } from '../base/errors.js';
import type { JobPart } from '../operations/part.js';
import type { Verdict } from './retry.js';

export type FileVerdict =
  | Verdict
  /** A conflict rule leaves the existing file unchanged. */
  | { readonly kind: 'skipped' };

export interface FileList<File> {
  /** `mayClaim`: whether more files than those claimed are wanted. undefined = no more. */
  next(mayClaim: () => boolean): Promise<File | undefined>;
  /** Its end is recorded. */
  done?(file: File): void;
  /** Errors: those of the operation; LeftAlone. */
  run(file: File, part: Pick<JobPart, 'passesOver' | 'worked'>): Promise<void>;
  verdictOn(error: GatewayError, file: File): FileVerdict;
  skip(file: File, error: GatewayError): Promise<void>;
  retry(file: File, error: GatewayError, afterMs: number): Promise<void>;
  fail(file: File, error: GatewayError): Promise<void>;
}

interface SliceOptions {
  readonly parallelFiles: number;
  readonly signal: EndSignal;
  /** Claims nothing more after this many milliseconds. */
  readonly turnMs: number;
  /** Whether another file may begin. */
  readonly isWanted?: () => boolean;
  /** Called after each file. Returns the reason to end, if there is one. */
  readonly recheck?: () => Promise<GatewayError | undefined>;
}

interface SliceResult {
  /** As many files as run concurrently have failed with errors that pass, and none was successful. */
  readonly isUnsuccessful: boolean;
  /** The last error that passes. */
  readonly passing: GatewayError | undefined;
  /** The whole list ends. */
  readonly fatal: GatewayError | undefined;
}

/**
 * Files of each worker whose end is being recorded while it has begun another one. After a node's death, FileWork
 * recognises them.
 */
const RECORDED_BEHIND = 12;

/** Rejects with the gateway's own failures: the remaining files are left to the next slice. */
export async function runSlice<File>(list: FileList<File>, options: SliceOptions): Promise<SliceResult> {
  return new Slice(list, options).run();
}

class Slice<File> {
  readonly #list: FileList<File>;
  readonly #options: SliceOptions;
  readonly #until: number;
  #good = 0;
  #passed = 0;
  #passing: GatewayError | undefined;
  #fatal: GatewayError | undefined;
  #gatewayFault: GatewayError | undefined;

  constructor(list: FileList<File>, options: SliceOptions) {
    this.#list = list;
    this.#options = options;

    this.#until = performance.now() + options.turnMs;
  }

  async run(): Promise<SliceResult> {
    if (!this.#isOver) await Promise.all(Array.from({ length: this.#options.parallelFiles }, () => this.#worker()));
    if (this.#fatal === undefined && this.#gatewayFault !== undefined) throw this.#gatewayFault;
    return { isUnsuccessful: this.#isUnsuccessful, passing: this.#passing, fatal: this.#fatal };
  }

  get #isUnsuccessful(): boolean {
    return this.#good === 0 && this.#passed >= this.#options.parallelFiles;
  }

  get #isOver(): boolean {
    const { isWanted } = this.#options;
    if (this.#fatal !== undefined || this.#gatewayFault !== undefined || this.#isUnsuccessful) return true;
    return isWanted !== undefined && !isWanted();
  }

  async #worker(): Promise<void> {
    const behind: Promise<void>[] = [];
    const mayClaim = (): boolean => !this.#isOver && performance.now() < this.#until;
    for (;;) {
      const file = await this.#list.next(mayClaim).catch((error: unknown) => this.#blame(error));
      if (file === undefined) break;
      const { worked, ended } = this.#begin(file);
      behind.push(ended.then(() => this.#list.done?.(file)));
      await worked;
      const recheck = this.#options.recheck?.();
      await recheck?.then((reason) => (this.#fatal ??= reason)).catch((error: unknown) => this.#blame(error));
      if (behind.length > RECORDED_BEHIND) await behind.shift();
      if (this.#isOver) break;
    }
    await Promise.all(behind);
  }

  #blame(error: unknown): undefined {
    this.#gatewayFault ??= toGatewayError(error);
  }

  /** `worked` resolves when only its record is still under way, `ended` after that. Neither rejects. */
  #begin(file: File): { readonly worked: Promise<void>; readonly ended: Promise<void> } {
    let worked = (): void => undefined;
    const working = new Promise<void>((resolve) => (worked = resolve));
    return { worked: working, ended: this.#one(file, worked).finally(worked) };
  }

  async #one(file: File, worked: () => void): Promise<void> {
    const { signal } = this.#options;
    let verdict: FileVerdict = { kind: 'failed' };
    const passesOver = (error: GatewayError): boolean => {
      verdict = this.#list.verdictOn(error, file);
      return verdict.kind !== 'failed';
    };
    try {
      await this.#list.run(file, { passesOver, worked });
      this.#good += 1;
    } catch (thrown) {
      if (signal.aborted) {
        // A cancelled file was recorded if it had begun; otherwise it is done again, even if it has just failed for
        // another reason.
        const reason = toGatewayError(signal.reason);
        if (reason.code !== 'cancelled') this.#blame(reason);
        return;
      }
      const error = toGatewayError(thrown);
      // A failure before the operation began has used no server, and is not recorded yet.
      passesOver(error);
      await this.#settle(file, verdict, error).catch((reason: unknown) => this.#blame(reason));
    }
  }

  async #settle(file: File, verdict: FileVerdict, error: GatewayError): Promise<void> {
    switch (verdict.kind) {
      case 'skipped':
        this.#good += 1;
        return this.#list.skip(file, error);
      case 'again':
        this.#passed += 1;
        this.#passing = error;
        return this.#list.retry(file, error, verdict.afterMs);
      case 'stop':
        if (verdict.isFatal) this.#fatal ??= error;
        else this.#blame(error);
        return;
      case 'failed':
        this.#good += 1;
        return this.#list.fail(file, error);
    }
  }
}
