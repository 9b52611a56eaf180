/** Events outside of the page while a user watches it: a webhook's receiver, another client's upload. */
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { manage, type Desk, type Window } from './browser.js';

export interface Receiver {
  readonly url: string;
  close(): void;
}

/** Answers every message with the current status. */
export async function openReceiver(status: () => number): Promise<Receiver> {
  const server = createServer((_, answer) => answer.writeHead(status()).end());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/`,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** An upload of 1,000,000 bytes to the sandbox that stops after 300,000. */
export async function startSlowUpload(
  { gateway }: Desk,
  { page, context }: Window,
  name: string,
): Promise<{ readonly status: Promise<number> }> {
  const { csrfToken } = (await manage(page, 'GET', '/manage/session')) as { csrfToken: string };
  const cookies = (await context.cookies()).map((cookie) => `${cookie.name}=${cookie.value}`).join('; ');
  const upload = request(`${gateway.url}/api/upload/sandbox?filename=${name}`, {
    method: 'POST',
    headers: {
      Cookie: cookies,
      'X-CSRF-Token': csrfToken,
      'Content-Type': 'application/octet-stream',
      'Content-Length': 1_000_000,
    },
  });
  const status = new Promise<number>((resolve, reject) => {
    upload.on('error', reject).on('response', (answer) => {
      resolve(answer.statusCode ?? 0);
      upload.destroy();
    });
  });
  upload.write(Buffer.alloc(300_000));
  return { status };
}
