/** A proxy for a real FTP server, with the deviations of other servers, each at its extreme. */
import { once } from 'node:events';
import net from 'node:net';
import { Transform } from 'node:stream';
import type { FtpServer } from './ftp.js';

export interface OddFtp {
  readonly port: number;
  stop(): Promise<void>;
}

const LINE = /^([-d]\S{9})(\s+\d+\s+\S+\s+\S+\s+)(\d+)( \w{3} [ \d]\d\s+[\d:]+ )(.*)$/s;
/** Linux with SELinux, a path before the name, a size beyond 31 bits, and a file whose attributes are unreadable. */
const ODDITIES: readonly ((mode: string, owner: string, size: string, date: string, name: string) => string)[] = [
  (mode, owner, size, date, name) => `${mode}.${owner}${size}${date}${name}`,
  (mode, owner, size, date, name) => `${mode}${owner}${size}${date}./${name}`,
  (mode, owner, size, date, name) => `${mode}${owner}${mode.startsWith('d') ? size : '-1294967296'}${date}${name}`,
  (mode, owner, size, date, name) =>
    mode.startsWith('d') ? `${mode}+${owner}${size}${date}${name}/` : `-????????? ? ? ? ? ? ${name}`,
];

/** Lines of LIST have the forms of other servers, one after the other, and PWD is refused. */
export async function startOddFtp(server: Pick<FtpServer, 'port'>): Promise<OddFtp> {
  const sockets = new Set<net.Socket>();
  const listeners = new Set<net.Server>();
  const keep = (socket: net.Socket): net.Socket => {
    sockets.add(socket);
    socket.setNoDelay(true);
    socket.on('error', () => socket.destroy());
    socket.on('close', () => sockets.delete(socket));
    return socket;
  };
  const listen = async (take: (socket: net.Socket) => void): Promise<number> => {
    const listener = net.createServer({ allowHalfOpen: true }, (socket) => take(keep(socket))).listen(0, '127.0.0.1');
    listeners.add(listener);
    await once(listener, 'listening');
    return (listener.address() as net.AddressInfo).port;
  };
  function serve(client: net.Socket): void {
    const remote = keep(net.connect(server.port, '127.0.0.1'));
    client.on('close', () => remote.destroy());
    client.on('end', () => remote.end());
    remote.on('close', () => client.destroy());
    let verb = '';
    let lines = 0;
    const oddly = (line: string): string => {
      const [, mode, owner = '', size = '', date = '', name = ''] = LINE.exec(line) ?? [];
      if (mode === undefined || name === '.' || name === '..') return line;
      return ODDITIES[lines++ % ODDITIES.length]?.(mode, owner, size, date, name) ?? line;
    };
    const passive = (port: number): Promise<number> =>
      listen((data) => {
        const upstream = keep(net.connect({ port, host: '127.0.0.1', allowHalfOpen: true }));
        data.pipe(upstream);
        for (const [one, other] of [
          [data, upstream],
          [upstream, data],
        ] as const) {
          one.on('close', (hadError) => (hadError ? other.resetAndDestroy() : undefined));
        }
        // The connection may be open before its command arrives.
        const chunks: Buffer[] = [];
        upstream
          .pipe(
            new Transform({
              transform: (chunk: Buffer, _encoding, done) => {
                if (verb !== 'LIST') return done(null, chunk);
                chunks.push(chunk);
                done();
              },
              flush: (done) => {
                const received = Buffer.concat(chunks).toString('latin1').split('\r\n');
                done(null, Buffer.from(received.map(oddly).join('\r\n'), 'latin1'));
              },
            }),
          )
          .pipe(data);
      });
    let asked = Buffer.alloc(0);
    client.on('data', (bytes: Buffer) => {
      asked = Buffer.concat([asked, bytes]);
      for (let end = asked.indexOf('\r\n'); end >= 0; end = asked.indexOf('\r\n')) {
        const line = asked.subarray(0, end + 2);
        asked = asked.subarray(end + 2);
        [verb = ''] = line.toString('latin1').trimEnd().split(' ');
        if (verb === 'PWD') client.write('502 unknown\r\n');
        else remote.write(line);
      }
    });
    let received = '';
    let turn = Promise.resolve();
    remote.on('data', (bytes: Buffer) => {
      received += bytes.toString('latin1');
      const end = received.lastIndexOf('\n') + 1;
      const lines = received.slice(0, end);
      received = received.slice(end);
      turn = turn.then(async () => {
        const [, before = '', port, after = ''] = /^(229 [^|]*\|\|\|)(\d+)(\|.*)$/s.exec(lines) ?? [];
        client.write(port === undefined ? lines : `${before}${await passive(Number(port))}${after}`, 'latin1');
      });
    });
  }

  const port = await listen(serve);
  return {
    port,
    stop: async () => {
      for (const socket of sockets) socket.destroy();
      await Promise.all([...listeners].map((listener) => new Promise((done) => listener.close(done))));
    },
  };
}
