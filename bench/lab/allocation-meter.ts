/** Adds up what V8 tells with --trace-gc-nvp: after each collection, how many bytes were made since the one before. */
export class AllocationMeter {
  bytes = 0;
  #rest = '';

  take(text: string): void {
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop() ?? '';
    for (const line of lines) this.bytes += Number(/ allocated=(\d+)/.exec(line)?.[1] ?? 0);
  }
}
