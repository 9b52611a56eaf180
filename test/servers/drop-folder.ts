import { readdirSync, readFileSync, renameSync } from 'node:fs';
import net from 'node:net';
import { join } from 'node:path';
import type { FtpServer } from './ftp.js';

/**
 * A folder on an FTP server whose files are removed, by name, before its client gets the answer that they were stored.
 */
export interface DropFolder {
  readonly port: number;
  /** The file that was taken away under this name, and has not been read here before. */
  take(name: string): Buffer | undefined;
  stop(): Promise<void>;
}

/** A proxy for the control connections: moves complete files to `target` when the server says that it has them. */
export async function startDropFolder(server: FtpServer, target: string): Promise<DropFolder> {
  const sockets = new Set<net.Socket>();
  const moveAway = (): void => {
    for (const entry of readdirSync(server.folder, { withFileTypes: true })) {
      // A hidden name is an upload under way.
      if (entry.isFile() && !entry.name.startsWith('.'))
        renameSync(join(server.folder, entry.name), join(target, entry.name));
    }
  };
  const listener = net.createServer((client) => {
    const remote = net.connect(server.port, '127.0.0.1');
    for (const socket of [client, remote]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        sockets.delete(socket);
        client.destroy();
        remote.destroy();
      });
    }
    let isRenaming = false;
    client.on('data', (bytes: Buffer) => {
      isRenaming ||= /^RNTO /m.test(bytes.toString('latin1'));
      remote.write(bytes);
    });
    remote.on('data', (bytes: Buffer) => {
      const isRenamed = isRenaming && /^250 /m.test(bytes.toString('latin1'));
      if (isRenamed || /^226 /m.test(bytes.toString('latin1'))) moveAway();
      isRenaming &&= !isRenamed;
      client.write(bytes);
    });
  });
  await new Promise<void>((done) => listener.listen(0, '127.0.0.1', done));
  return {
    port: (listener.address() as net.AddressInfo).port,
    take: (name) => {
      if (!readdirSync(target).includes(name)) return undefined;
      const content = readFileSync(join(target, name));
      renameSync(join(target, name), join(target, `${name}.read`));
      return content;
    },
    stop: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((done) => listener.close(done));
    },
  };
}
