/**
 * An SFTP server program for sshd (`Subsystem`) that runs OpenSSH's behind it and omits what some servers omit:
 * listings have no attributes, and FSTAT is not supported.
 */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { PacketAssembler, REPLY, REQUEST } from '../../src/remotes/sftp/wire/wire.js';
import { SFTP_SERVER } from './sshd.js';

export const ODD_SFTP_SERVER = `${process.execPath} ${fileURLToPath(import.meta.url)} serve`;

const MOST_BYTES = 1 << 20;
const OP_UNSUPPORTED = 8;

const uint32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
};
const string = (bytes: Buffer | string): Buffer =>
  Buffer.concat([uint32(Buffer.byteLength(bytes)), Buffer.from(bytes)]);
const framed = (packet: Buffer): Buffer => Buffer.concat([uint32(packet.length), packet]);

/** The same names with empty attributes (draft-ietf-secsh-filexfer-02, 5 and 7). */
function withoutAttributes(reply: Buffer): Buffer {
  const count = reply.readUInt32BE(5);
  const parts = [reply.subarray(0, 9)];
  let at = 9;
  const next = (): Buffer => {
    const end = at + 4 + reply.readUInt32BE(at);
    const bytes = reply.subarray(at + 4, end);
    at = end;
    return bytes;
  };
  for (let entry = 0; entry < count; entry++) {
    const name = next();
    next();
    const flags = reply.readUInt32BE(at);
    at += 4 + [8, 8, 4, 8].reduce((sum, bytes, bit) => sum + (flags & (1 << bit) ? bytes : 0), 0);
    parts.push(string(name), string(name), uint32(0));
  }
  return Buffer.concat(parts);
}

function serve(): void {
  const server = spawn(SFTP_SERVER, { stdio: ['pipe', 'pipe', 'inherit'] });
  server.on('exit', (code) => process.exit(code ?? 1));
  const requests = new PacketAssembler(MOST_BYTES, (packet) => {
    if (packet[0] !== REQUEST.FSTAT) {
      server.stdin.write(framed(packet));
      return;
    }
    const status = [Buffer.of(REPLY.STATUS), packet.subarray(1, 5), uint32(OP_UNSUPPORTED), string('no'), string('')];
    process.stdout.write(framed(Buffer.concat(status)));
  });
  const replies = new PacketAssembler(MOST_BYTES, (packet) => {
    process.stdout.write(framed(packet[0] === REPLY.NAME ? withoutAttributes(packet) : packet));
  });
  process.stdin.on('data', (bytes: Buffer) => requests.feed(bytes));
  process.stdin.on('end', () => server.stdin.end());
  server.stdout.on('data', (bytes: Buffer) => replies.feed(bytes));
}

if (process.argv[1] === fileURLToPath(import.meta.url) && process.argv[2] === 'serve') serve();
