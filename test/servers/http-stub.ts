import http from 'node:http';
import type { AddressInfo } from 'node:net';

/** A scripted HTTP server on loopback. */
export abstract class HttpStub {
  readonly #server = http.createServer((request, response) => {
    this.serve(request, response).catch(() => response.destroy());
  });

  protected abstract serve(request: http.IncomingMessage, response: http.ServerResponse): Promise<void>;

  async listen(): Promise<this> {
    await new Promise<void>((done) => this.#server.listen(0, '127.0.0.1', done));
    return this;
  }

  get endpoint(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((done) => this.#server.close(done));
  }
}
