/** Sends one generated request and returns its whole answer, within a time limit. */
import http from 'node:http';
import type { CheckedAnswer } from '../../api/openapi/answer-checker.js';
import { KeptConnections } from '../../support/kept-connections.js';
import type { FuzzRequest } from './fuzz-requests.js';

export interface FuzzClientOptions {
  readonly port: number;
  readonly connections: number;
  /** For the whole answer; later means that the gateway hangs. */
  readonly withinMs: number;
}

export class FuzzClient {
  readonly #options: FuzzClientOptions;
  readonly #agent: KeptConnections;

  constructor(options: FuzzClientOptions) {
    this.#options = options;
    this.#agent = new KeptConnections({ maxSockets: options.connections });
  }

  close(): void {
    this.#agent.destroy();
  }

  send({ endpoint, target, headers, body }: FuzzRequest): Promise<CheckedAnswer> {
    const { port, withinMs } = this.#options;
    return new Promise((resolve, reject) => {
      const length = body === undefined ? {} : { 'Content-Length': String(body.length) };
      const request = http.request({
        agent: this.#agent.dropRested(),
        host: '127.0.0.1',
        port,
        method: endpoint.method,
        path: target,
        headers: { ...headers, ...length },
      });
      const timer = setTimeout(() => request.destroy(new Error(`no whole answer within ${withinMs} ms`)), withinMs);
      let hasAnswer = false;
      const fail = (error: Error): void => {
        clearTimeout(timer);
        reject(error);
      };
      // An error after the answer's head is reported by the answer: an early answer may stop the sending.
      request.on('error', (error) => {
        if (!hasAnswer) fail(error);
      });
      request.once('response', (response) => {
        hasAnswer = true;
        const chunks: Buffer[] = [];
        const done = (): void => {
          clearTimeout(timer);
          resolve({ status: response.statusCode ?? 0, headers: response.headers, bytes: Buffer.concat(chunks) });
        };
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.once('error', fail);
        response.once('end', done);
        // An event stream lasts as long as it is read.
        if (response.headers['content-type']?.startsWith('text/event-stream') === true) {
          response.off('error', fail).on('error', () => undefined);
          response.destroy();
          done();
        }
      });
      request.end(body);
    });
  }
}
