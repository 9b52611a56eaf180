import { readFileSync } from 'node:fs';
import http from 'node:http';
import { ownName, type Driver, type HttpCall } from './spec.js';

/** Requests over one kept connection a client. */
export function httpDriver({ method, url, headers, bodyFile }: HttpCall, clients: number): Driver {
  const agent = new http.Agent({ keepAlive: true, maxSockets: clients });
  const body = bodyFile === undefined ? undefined : readFileSync(bodyFile);
  const fields = body === undefined ? headers : { ...headers, 'Content-Length': String(body.length) };
  return {
    call: (client, turn) =>
      new Promise((done, failed) => {
        const place = url.replace('{n}', ownName(client, turn));
        const request = http.request(place, { agent, method, headers: fields }, (response) => {
          const status = response.statusCode ?? 0;
          response.on('error', failed);
          response.on('data', () => undefined);
          response.on('end', () => {
            if (status >= 200 && status < 300) done();
            else
              failed(
                new Error(`${method} ${place} was answered with ${status} ${String(response.headers['x-error-code'])}`),
              );
          });
        });
        request.on('error', failed);
        request.end(body);
      }),
    close: () => agent.destroy(),
  };
}
