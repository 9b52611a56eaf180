/** A body of server-sent events (HTML Standard, 9.2), for endless answers. */
import { Readable } from 'node:stream';
import { GatewayError } from '../base/errors.js';

const MAX_BEHIND_BYTES = 256 * 1024;

export class EventStream extends Readable {
  private isOver = false;

  override _read(): void {
    // The sender of events pushes to it.
  }

  say(text: string): void {
    if (this.destroyed || this.isOver) return;
    if (this.readableLength > MAX_BEHIND_BYTES) {
      this.destroy(new GatewayError('client_gone', 'the reader of an event stream fell behind', { step: 'transfer' }));
      return;
    }
    this.push(text);
  }

  tell(event: string, data: unknown): void {
    this.say(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
  }

  finish(): void {
    if (this.isOver || this.destroyed) return;
    this.isOver = true;
    this.push(null);
  }
}
