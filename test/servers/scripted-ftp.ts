/** An FTP server that misbehaves as scripted, for what real ones cannot be made to do. It keeps its files in memory. */
import { once } from 'node:events';
import net from 'node:net';
import type { Target } from '../remotes/support/ftp-client.js';

export interface Visitor {
  /** Sends one reply line, or several. */
  readonly say: (reply: string) => void;
  readonly socket: net.Socket;
  /** The client's data connection. */
  readonly data: () => Promise<net.Socket>;
  /** The server's normal behaviour. */
  readonly usual: () => Promise<void>;
  readonly session: number;
}

/** Replaces the behaviour of a verb; a string is the whole reply. */
export type Script = Record<string, string | ((argument: string, visitor: Visitor) => void | Promise<void>)>;

export interface ScriptedFtp extends Target {
  readonly files: Map<string, Buffer>;
  readonly folders: Set<string>;
  /** Every command of every session, in order. */
  readonly commands: string[];
  /** Control connections so far. */
  readonly sessions: net.Socket[];
  stop(): Promise<void>;
}

export const MTIME = '20260203040506';

/** `charset`: latin1 = each byte of its names is a character, for names in other encodings. */
export async function startScripted(
  script: Script = {},
  feat: readonly string[] = [],
  charset: 'utf8' | 'latin1' = 'utf8',
): Promise<ScriptedFtp> {
  const files = new Map<string, Buffer>();
  const folders = new Set(['/']);
  const commands: string[] = [];
  const sessions: net.Socket[] = [];
  const sockets = new Set<net.Socket>();
  const listeners = new Set<net.Server>();
  const server = net.createServer((socket) => serve(socket)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as net.AddressInfo;

  function keep(socket: net.Socket): net.Socket {
    sockets.add(socket);
    socket.setNoDelay(true);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
    return socket;
  }

  function serve(socket: net.Socket): void {
    keep(socket);
    sessions.push(socket);
    const number = sessions.length;
    let incoming: Promise<net.Socket> | undefined;
    let restartAt = 0;
    let renameFrom = '';
    let binary = false;
    const say = (reply: string): void => void socket.write(`${reply}\r\n`, charset);
    const data = (): Promise<net.Socket> => incoming ?? Promise.reject(new Error('no passive mode before'));

    async function passive(): Promise<number> {
      const listener = net.createServer().listen(0, '127.0.0.1');
      listeners.add(listener);
      await once(listener, 'listening');
      incoming = once(listener, 'connection').then(([accepted]) => {
        listener.close();
        listeners.delete(listener);
        return keep(accepted as net.Socket);
      });
      return (listener.address() as net.AddressInfo).port;
    }

    const has = (path: string): boolean => files.has(path) || folders.has(path);
    const parent = (path: string): string => path.slice(0, path.lastIndexOf('/')) || '/';

    async function receive(path: string, before: Buffer): Promise<void> {
      if (!folders.has(parent(path)) || folders.has(path)) return say('553 Could not create file.');
      say('150 go');
      const chunks = [before];
      files.set(path, before);
      for await (const chunk of await data()) {
        chunks.push(chunk as Buffer);
        files.set(path, Buffer.concat(chunks));
      }
      say('226 done');
    }

    async function send(content: Buffer): Promise<void> {
      say('150 go');
      (await data()).end(content);
      await once(await data(), 'close');
      say('226 done');
    }

    const children = (folder: string): string[] =>
      [...files.keys(), ...folders].filter((path) => path !== '/' && parent(path) === folder);
    let folder = '/';

    const usual: Record<string, (argument: string) => void | Promise<void>> = {
      USER: () => say('331 password'),
      PASS: () => say('230 in'),
      FEAT: () => say(['211-Features', ...feat.map((line) => ` ${line}`), '211 End'].join('\r\n')),
      TYPE: (type) => {
        binary = type === 'I';
        say('200 ok');
      },
      NOOP: () => say('200 ok'),
      OPTS: () => say('200 ok'),
      PWD: () => say(`257 "${folder}"`),
      CWD: (path) => {
        if (!folders.has(path)) return say('550 Failed to change directory.');
        folder = path;
        say('250 ok');
      },
      EPSV: async () => say(`229 ok (|||${await passive()}|)`),
      PASV: async () => {
        const at = await passive();
        say(`227 ok (10,9,8,7,${at >> 8},${at & 255})`);
      },
      REST: (offset) => {
        restartAt = Number(offset);
        say('350 ok');
      },
      SIZE: (path) => {
        const file = files.get(path);
        say(!binary ? '550 SIZE not allowed in ASCII' : file === undefined ? '550 no' : `213 ${file.length}`);
      },
      MDTM: (path) => say(files.has(path) ? `213 ${MTIME}` : '550 no'),
      RETR: async (path) => {
        const file = files.get(path);
        if (file === undefined) return say('550 Failed to open file.');
        await send(file.subarray(restartAt));
      },
      LIST: () =>
        send(
          Buffer.from(
            ['.', ...children(folder)]
              .map((path) => {
                const name = path.slice(path.lastIndexOf('/') + 1);
                const file = files.get(path);
                const kind = file === undefined ? 'drwxr-xr-x' : '-rw-r--r--';
                return `${kind} 1 a a ${file?.length ?? 4096} Feb 03 2026 ${name}\r\n`;
              })
              .join(''),
            charset,
          ),
        ),
      STOR: (path) => receive(path, Buffer.alloc(0)),
      APPE: (path) => receive(path, files.get(path) ?? Buffer.alloc(0)),
      DELE: (path) => say(files.delete(path) ? '250 ok' : '550 Delete operation failed.'),
      MKD: (path) => {
        if (has(path) || !folders.has(parent(path))) return say('550 Create directory operation failed.');
        folders.add(path);
        say(`257 "${path}"`);
      },
      RNFR: (path) => {
        renameFrom = path;
        say(has(path) ? '350 ok' : '550 RNFR command failed.');
      },
      RNTO: (path) => {
        const file = files.get(renameFrom);
        if (file === undefined || !folders.has(parent(path)) || folders.has(path)) return say('550 Rename failed.');
        files.delete(renameFrom);
        files.set(path, file);
        say('250 ok');
      },
      QUIT: () => void socket.end(),
    };

    async function obey(line: string): Promise<void> {
      commands.push(line);
      const [, verb = '', argument = ''] = /^(\S+) ?(.*)$/s.exec(line) ?? [];
      const byItself = async (): Promise<void> => {
        const known = usual[verb];
        if (known === undefined) say('502 unknown');
        else await known(argument);
      };
      const reaction = script[verb];
      if (typeof reaction === 'string') say(reaction);
      else if (reaction === undefined) await byItself();
      else await reaction(argument, { say, socket, data, usual: byItself, session: number });
      // Also after one that was refused: REST counts for one transfer (RFC 959, 4.1.3), successful or not.
      if (['RETR', 'STOR', 'APPE'].includes(verb)) restartAt = 0;
    }

    const greeting = script['GREETING'];
    if (greeting === undefined) say('220 hello');
    else if (typeof greeting === 'string') say(greeting);
    else void greeting('', { say, socket, data, usual: () => Promise.resolve(say('220 hello')), session: number });

    let text = '';
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString(charset);
      for (let end = text.indexOf('\r\n'); end >= 0; end = text.indexOf('\r\n')) {
        const line = text.slice(0, end);
        text = text.slice(end + 2);
        obey(line).catch(() => socket.destroy());
      }
    });
  }

  return {
    port,
    username: 'tester',
    password: 'pass word',
    tls: 'none',
    ca: undefined,
    files,
    folders,
    commands,
    sessions,
    stop: async () => {
      for (const socket of sockets) socket.destroy();
      for (const listener of listeners) listener.close();
      server.close();
      await once(server, 'close');
    },
  };
}
