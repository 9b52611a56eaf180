/**
 * An SFTP server program for sshd (`Subsystem`) that runs OpenSSH's behind it and records which requests clients send
 * together: requests are held until no further one has arrived for a while, so that those that do not wait for an
 * answer are in one group. Each group is a line of request types in the file that the first argument names.
 */
import { spawn } from 'node:child_process';
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PacketAssembler, REQUEST } from '../../src/remotes/sftp/wire/wire.js';
import { SFTP_SERVER, startSshd, type TestSshd } from './sshd.js';

/** Longer than the time between requests of one turn of an event loop, even on a busy machine. */
const BREATH_MS = 250;

export interface TappedSshd extends TestSshd {
  /** The requests since the last call, one line per group. */
  asked(): string[];
}

export async function startTappedSshd(): Promise<TappedSshd> {
  const folder = mkdtempSync(join(tmpdir(), 'ftg-tap-'));
  const notes = join(folder, 'notes');
  writeFileSync(notes, '');
  const server = await startSshd([], `${process.execPath} ${fileURLToPath(import.meta.url)} ${notes}`);
  let seen = 0;
  return {
    ...server,
    asked: () => {
      const lines = readFileSync(notes, 'utf8').split('\n').slice(0, -1);
      const fresh = lines.slice(seen);
      seen = lines.length;
      return fresh;
    },
    stop: async () => {
      await server.stop();
      rmSync(folder, { recursive: true });
    },
  };
}

function tap(notes: string): void {
  const names = new Map<number, string>(Object.entries(REQUEST).map(([name, type]) => [type, name]));
  const server = spawn(SFTP_SERVER, { stdio: ['pipe', 'inherit', 'inherit'] });
  server.on('exit', (code) => process.exit(code ?? 1));
  let held: Buffer[] = [];
  let timer: NodeJS.Timeout | undefined;
  const pass = (): void => {
    const types = held.map((packet) => names.get(packet[0]!) ?? String(packet[0]));
    appendFileSync(notes, `${types.join(' ')}\n`);
    for (const packet of held) {
      const length = Buffer.alloc(4);
      length.writeUInt32BE(packet.length);
      server.stdin.write(Buffer.concat([length, packet]));
    }
    held = [];
  };
  const assembler = new PacketAssembler(1 << 20, (packet) => {
    held.push(Buffer.from(packet));
    clearTimeout(timer);
    timer = setTimeout(pass, BREATH_MS);
  });
  process.stdin.on('data', (bytes: Buffer) => assembler.feed(bytes));
  process.stdin.on('end', () => server.stdin.end());
}

const [, program, notes] = process.argv;
if (program === fileURLToPath(import.meta.url) && notes !== undefined) tap(notes);
