import type { Logger } from '../observe/log.js';

/** Started parts, ended in reverse; one that fails to end does not keep the others. */
export class Started {
  private readonly ends: (() => void | Promise<void>)[] = [];

  add(end: () => void | Promise<void>): void {
    this.ends.unshift(end);
  }

  async stop(logger: Logger): Promise<void> {
    for (const end of this.ends.splice(0)) {
      try {
        await end();
      } catch (error) {
        logger.error({ err: error }, 'a part did not stop cleanly');
      }
    }
  }
}
