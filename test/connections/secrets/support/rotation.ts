/** A gateway that is used while the secrets of its connections change. */
import { setInterval as each } from 'node:timers/promises';
import { eventually } from '../../../support/eventually.js';
import { startGateway } from '../../../support/gateway.js';
import { rotatedKey, type RotatedLogin, rotatedPassword } from './rotated.js';

const EVERY_MS = 50;

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
 * Makes at least `requests` requests, twenty a second, every other one an upload, in turn with a key and a password.
 * Both change `rotations` times meanwhile, never twice during one request. Resolves to the answers that were no
 * success.
 */
export async function rotateUnderLoad(requests: number, rotations: number): Promise<readonly string[]> {
  const logins = [await rotatedKey(), await rotatedPassword()];
  const connections = logins.map((login, index) => connectionOf(login, `c${index}`));
  // Sessions close as soon as they are idle, so that most requests log in.
  const gateway = await startGateway({ connections, config: { pools: { default: { idleTimeoutMs: 1 } } } });
  const renewals = (): number => gateway.output().match(/a secret of a connection was read again/g)?.length ?? 0;
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
    const rotate = async (): Promise<void> => {
      for (let made = 0; made < rotations; made++) {
        const after = ((made + 1) * requests) / (rotations + 1);
        await eventually(
          () => running.length >= after && renewals() === made * logins.length,
          'the gateway has the last secrets, and it is time for the next ones',
        );
        await Promise.all(running.slice());
        for (const login of logins) login.rotate();
      }
      await eventually(() => renewals() === rotations * logins.length, 'the gateway has the last secrets');
    };
    let isRotated = false;
    const rotating = rotate().finally(() => (isRotated = true));
    for await (const _ of each(EVERY_MS)) {
      if (isRotated && running.length >= requests) break;
      running.push(ask(running.length));
    }
    await Promise.all([rotating, ...running]);
    return failed;
  } finally {
    await gateway.stop();
    for (const login of logins) await login.stop();
  }
}
