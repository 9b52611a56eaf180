import { once } from 'node:events';
import net from 'node:net';
import ssh2, { type ServerChannel } from 'ssh2';
import { generateKeyPair } from '../../src/remotes/sftp/keys/generate-key.js';
import {
  encodeRequest,
  PacketAssembler,
  REPLY,
  ReplyReader,
  REQUEST,
  sizeAttribute,
  uint64,
} from '../../src/remotes/sftp/wire/wire.js';

/** One request as an odd server sees it. */
export interface OddRequest {
  readonly type: number;
  readonly id: number;
  /** The fields after the id. */
  readonly fields: ReplyReader;
  /** Requests under way on this channel, this one included. */
  readonly underWay: number;
  readonly channel: ServerChannel;
  readonly status: (code: number, text?: string) => void;
  readonly reply: (type: number, fields: readonly (Buffer | number)[]) => void;
  /** The normal behaviour of a server. */
  readonly usual: () => void;
}

export interface OddServer {
  readonly port: number;
  readonly username: string;
  /** By path. */
  readonly files: Map<string, Buffer>;
  /** Types of the requests that arrived, in order. */
  readonly requests: number[];
  stop(): Promise<void>;
}

export interface Oddities {
  /** Answers a request in an odd way and returns true, or leaves it to the normal behaviour. */
  readonly odd?: (request: OddRequest) => boolean;
  readonly extensions?: readonly string[];
  readonly ident?: string;
  /** Handles everything before SFTP. */
  readonly onSession?: (session: ssh2.Session) => void;
  readonly onAuthentication?: (context: ssh2.AuthContext) => void;
  readonly onClient?: (client: ssh2.Connection) => void;
}

const hostKey = generateKeyPair('an odd server').privateKey;
const text = (value: string): Buffer => Buffer.from(value);
const FOLDER_MODE = 0o040755;
const FILE_MODE = 0o100644;

/**
 * An SFTP server with a few files in memory that can be made to misbehave: real SSH, with access to every SFTP packet.
 */
export async function startOddServer({
  odd,
  extensions = [],
  ident,
  onSession,
  onAuthentication,
  onClient,
}: Oddities): Promise<OddServer> {
  const files = new Map<string, Buffer>();
  const requests: number[] = [];
  const sockets = new Set<net.Socket>();
  const ssh = new ssh2.Server({ hostKeys: [hostKey], ...(ident === undefined ? {} : { ident }) });
  ssh.on('connection', (client) => {
    client.on('error', () => undefined);
    onClient?.(client);
    client.on('authentication', onAuthentication ?? ((context) => context.accept()));
    client.on('session', (accept) => {
      const session = accept();
      if (onSession !== undefined) onSession(session);
      else {
        session.on('subsystem', (acceptChannel) => {
          serve(acceptChannel(), { files, requests, odd, extensions });
        });
      }
    });
  });
  const listener = net.createServer({ noDelay: true }, (socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
    ssh.injectSocket(socket);
  });
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  return {
    port: (listener.address() as net.AddressInfo).port,
    username: 'odd',
    files,
    requests,
    stop: async () => {
      for (const socket of sockets) socket.destroy();
      listener.close();
      await once(listener, 'close');
    },
  };
}

interface Serving extends Pick<Oddities, 'odd'> {
  readonly files: Map<string, Buffer>;
  readonly requests: number[];
  readonly extensions: readonly string[];
}

function serve(channel: ServerChannel, { files, requests, odd, extensions }: Serving): void {
  let underWay = 0;
  const assembler = new PacketAssembler(1 << 20, (packet) => {
    const fields = new ReplyReader(packet);
    const { type } = fields;
    if (type === REQUEST.INIT) {
      channel.write(
        encodeRequest(
          REPLY.VERSION,
          3,
          extensions.flatMap((name) => [text(name), text('1')]),
        ),
      );
      return;
    }
    const id = fields.uint32();
    requests.push(type);
    underWay += 1;
    const reply = (replyType: number, content: readonly (Buffer | number)[]): void => {
      // One turn later, so that requests that arrived together are under way together.
      setImmediate(() => {
        underWay -= 1;
        if (channel.writable) channel.write(encodeRequest(replyType, id, content));
      });
    };
    const request: OddRequest = {
      type,
      id,
      fields,
      underWay,
      channel,
      reply,
      status: (code, words = '') => reply(REPLY.STATUS, [code, text(words), text('')]),
      usual: () => usual(request, files),
    };
    if (odd?.(request) !== true) request.usual();
  });
  channel.on('data', (bytes: Buffer) => assembler.feed(bytes));
  channel.on('error', () => undefined);
}

function usual({ type, fields, reply, status }: OddRequest, files: Map<string, Buffer>): void {
  const ok = (): void => status(0);
  const missing = (): void => status(2, 'No such file');
  const name = fields.string();
  const path = name.toString();
  switch (type) {
    case REQUEST.OPEN: {
      const flags = fields.uint32();
      if ((flags & 0x10) !== 0 || ((flags & 0x08) !== 0 && !files.has(path))) files.set(path, Buffer.alloc(0));
      return files.has(path) ? reply(REPLY.HANDLE, [name]) : missing();
    }
    case REQUEST.CLOSE:
      return ok();
    case REQUEST.READ: {
      const offset = fields.uint64();
      const data = (files.get(path) ?? Buffer.alloc(0)).subarray(offset, offset + fields.uint32());
      return data.length === 0 ? status(1) : reply(REPLY.DATA, [data]);
    }
    case REQUEST.WRITE: {
      const offset = fields.uint64();
      const data = fields.string();
      const old = files.get(path) ?? Buffer.alloc(0);
      const grown = Buffer.alloc(Math.max(old.length, offset + data.length));
      old.copy(grown);
      data.copy(grown, offset);
      files.set(path, grown);
      return ok();
    }
    case REQUEST.STAT:
    case REQUEST.LSTAT:
    case REQUEST.FSTAT: {
      const content = files.get(path);
      if (content !== undefined) return reply(REPLY.ATTRS, [0x5, ...uint64(content.length), FILE_MODE]);
      return path === '/' ? reply(REPLY.ATTRS, [0x4, FOLDER_MODE]) : missing();
    }
    case REQUEST.FSETSTAT:
      return ok();
    case REQUEST.REMOVE:
      return files.delete(path) ? ok() : missing();
    case REQUEST.RENAME: {
      const to = fields.string().toString();
      const content = files.get(path);
      if (content === undefined) return missing();
      if (files.has(to)) return status(4, 'Failure');
      files.delete(path);
      files.set(to, content);
      return ok();
    }
    case REQUEST.REALPATH:
      return reply(REPLY.NAME, [1, path === '.' ? text('/') : name, text(''), 0]);
    case REQUEST.OPENDIR:
      return reply(REPLY.HANDLE, [text('folder')]);
    case REQUEST.READDIR:
      return status(1);
    default:
      return status(8, 'Unsupported');
  }
}

/** A NAME reply's fields for raw names, all of them files of one byte. */
export const nameFields = (names: readonly Buffer[]): (Buffer | number)[] => [
  names.length,
  ...names.flatMap((name) => [name, text('-rw-r--r--'), 0x5, ...sizeAttribute(1).slice(1), FILE_MODE]),
];
