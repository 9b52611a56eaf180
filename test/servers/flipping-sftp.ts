/**
 * An SFTP server program for sshd (`Subsystem`) that runs OpenSSH's behind it, and damages what it receives: in every
 * write that contains the mark, one bit of it differs on the disk.
 */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { PacketAssembler, REQUEST } from '../../src/remotes/sftp/wire/wire.js';
import { flipped } from '../support/proxy.js';
import { SFTP_SERVER, startSshd, type TestSshd } from './sshd.js';

export function startFlippingSshd(mark: string): Promise<TestSshd> {
  return startSshd([], `${process.execPath} ${fileURLToPath(import.meta.url)} ${mark}`);
}

function serve(mark: string): void {
  const server = spawn(SFTP_SERVER, { stdio: ['pipe', 'inherit', 'inherit'] });
  server.on('exit', (code) => process.exit(code ?? 1));
  const assembler = new PacketAssembler(1 << 20, (packet) => {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(packet.length);
    const passed = packet[0] === REQUEST.WRITE ? flipped(packet, mark) : packet;
    server.stdin.write(Buffer.concat([length, passed]));
  });
  process.stdin.on('data', (bytes: Buffer) => assembler.feed(bytes));
  process.stdin.on('end', () => server.stdin.end());
}

const [, program, mark] = process.argv;
if (program === fileURLToPath(import.meta.url) && mark !== undefined) serve(mark);
