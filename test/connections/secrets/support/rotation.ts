/** A gateway that is used while the secrets of its connections change. */
import { setInterval as each } from 'node:timers/promises';
import { startGateway } from '../../../support/gateway.js';
import { rotatedKey, type RotatedLogin, rotatedPassword } from './rotated.js';

const EVERY_MS = 50;

interface Outcome {
  /** The answers that were no success. */
  readonly failed: readonly string[];
  /** How often the gateway found a new secret. */
  readonly renewals: number;
}

function connectionOf(login: RotatedLogin, id: string): object {
  const { port, username, folder, name, file } = login;
  return {
    id,
    name: id,
    type: 'sftp',
    host: '127.0.0.1',
    port,
    username,
    rootPath: folder,
    [name]: { from: `file:${file}` },
  };
}

/**
 * Twenty requests a second, every other one an upload, by turns with a key and with a password, which change each time
 * after so many requests.
 */
export async function rotateUnderLoad(requests: number, rotateAfter: number): Promise<Outcome> {
  const logins = [await rotatedKey(), await rotatedPassword()];
  const connections = logins.map((login, index) => connectionOf(login, `c${index}`));
  // Sessions close as soon as they are idle, so that most requests log in.
  const gateway = await startGateway({ connections, config: { pools: { default: { idleTimeoutMs: 1 } } } });
  try {
    const failed: string[] = [];
    const running: Promise<void>[] = [];
    const ask = async (index: number): Promise<void> => {
      const id = `c${index % logins.length}`;
      const isUpload = index % 4 < 2;
      const answer = isUpload
        ? await gateway.api.post(`/api/write/${id}`, { path: `/f${index}`, content: `content ${index}` })
        : await gateway.api.get(`/api/list/${id}?path=/`);
      if (answer.status >= 300) failed.push(`${index}: ${answer.status} ${answer.text}`);
    };
    let asked = 0;
    for await (const _ of each(EVERY_MS)) {
      running.push(ask(asked));
      asked++;
      if (asked % rotateAfter === 0 && asked < requests) for (const login of logins) login.rotate();
      if (asked === requests) break;
    }
    await Promise.all(running);
    return { failed, renewals: gateway.output().match(/a secret of a connection was read again/g)?.length ?? 0 };
  } finally {
    await gateway.stop();
    for (const login of logins) await login.stop();
  }
}
