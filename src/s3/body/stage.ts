import { pipeline, type Readable, Transform } from 'node:stream';

/** A stage behind a body. It reads the body once it is read itself: a part that waits for a session holds no buffer. */
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
