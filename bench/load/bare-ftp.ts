/** Only basic-ftp: one client per session, with the remote calls that the gateway makes. */
import { Client } from 'basic-ftp';
import { readFileSync } from 'node:fs';
import { Readable, Writable } from 'node:stream';
import { pathOn, type FtpTarget } from '../lab/target.js';
import { ownName, type BareCall, type Driver } from './spec.js';

export async function ftpDriver(target: FtpTarget, call: BareCall, clients: number): Promise<Driver> {
  const { host, port, username, password } = target;
  const sessions = await Promise.all(
    Array.from({ length: clients }, async () => {
      const client = new Client();
      await client.access({ host, port, user: username, password });
      return client;
    }),
  );
  const body = readFileSync(call.bodyFile);
  const path = pathOn(target, call.name);
  return {
    call: async (client, turn) => {
      const ftp = sessions[client];
      if (ftp === undefined) throw new Error(`there is no session ${client}`);
      if (call.operation === 'upload') {
        const place = `${path}${ownName(client, turn)}`;
        await ftp.uploadFrom(Readable.from([body]), `${place}.part`);
        if ((await ftp.size(`${place}.part`)) !== body.length) throw new Error(`${place}.part has another size`);
        await ftp.rename(`${place}.part`, place);
      } else if (call.operation === 'download') {
        await ftp.size(path);
        let got = 0;
        const count = new Writable({ write: (chunk: Buffer, _, done) => ((got += chunk.length), done()) });
        await ftp.downloadTo(count, path);
        if (got !== body.length) throw new Error(`${path} has ${got} bytes`);
      } else if (call.operation === 'exists') {
        await ftp.size(path);
      } else {
        await ftp.list(path);
      }
    },
    close: () => sessions.forEach((session) => session.close()),
  };
}
