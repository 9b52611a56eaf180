import { pipeline, type Readable, Transform } from 'node:stream';

/** A stage that transforms a body. It reads only on demand, so a part waiting for a session buffers nothing. */
export abstract class BodyStage extends Transform {
  protected readonly source: Readable;
  #isFed = false;

  constructor(source: Readable) {
    super();
    this.source = source;
  }

  override _read(size: number): void {
    if (!this.#isFed) {
      this.#isFed = true;
      pipeline(this.source, this, () => undefined);
    }
    super._read(size);
  }
}
