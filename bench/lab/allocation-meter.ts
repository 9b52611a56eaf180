/** Adds up the output of V8's --trace-gc-nvp: after each collection, the bytes allocated since the one before. */
export class AllocationMeter {
  bytes = 0;
  #rest = '';

  take(text: string): void {
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop() ?? '';
    for (const line of lines) this.bytes += Number(/ allocated=(\d+)/.exec(line)?.[1] ?? 0);
  }
}
