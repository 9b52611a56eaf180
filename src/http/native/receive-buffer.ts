/**
 * SO_RCVBUF on the listening socket; accepted sockets inherit it. It bounds what still arrives after a pause, which the
 * front end reads in spite of the pause. Neither Node.js nor the front end has a setter, so libc is called.
 */
import { readdirSync, readlinkSync } from 'node:fs';
import { loadLibc } from './libc.js';

const SOL_SOCKET = 1;
const SO_RCVBUF = 8;
const SO_ACCEPTCONN = 30;

type SocketOption = (fd: number, level: number, option: number, value: Buffer, length: number) => number;
type ReadSocketOption = (fd: number, level: number, option: number, value: Buffer, length: number[]) => number;

/** Socket links of this process, before `listen`. */
export function openSockets(): ReadonlySet<string> {
  return new Set(socketDescriptors().map(({ link }) => link));
}

/** Sets the buffer of the listeners that are new since `before`. Returns how many were set; 0 if this is not Linux. */
export function boundReceiveBuffer(before: ReadonlySet<string>, bytes: number): number {
  if (process.platform !== 'linux' || bytes === 0) return 0;
  const libc = loadLibc();
  const setOption = libc.func(
    'int setsockopt(int fd, int level, int option, void *value, uint32_t length)',
  ) as SocketOption;
  const getOption = libc.func(
    'int getsockopt(int fd, int level, int option, _Out_ uint8_t *value, _Inout_ uint32_t *length)',
  ) as ReadSocketOption;
  let set = 0;
  for (const { fd, link } of socketDescriptors()) {
    if (before.has(link)) continue;
    const isListening = Buffer.alloc(4);
    if (getOption(fd, SOL_SOCKET, SO_ACCEPTCONN, isListening, [4]) !== 0 || isListening.readInt32LE() === 0) continue;
    const value = Buffer.alloc(4);
    value.writeInt32LE(bytes);
    if (setOption(fd, SOL_SOCKET, SO_RCVBUF, value, 4) === 0) set++;
  }
  return set;
}

function socketDescriptors(): { readonly fd: number; readonly link: string }[] {
  if (process.platform !== 'linux') return [];
  return readdirSync('/proc/self/fd').flatMap((name) => {
    try {
      const link = readlinkSync(`/proc/self/fd/${name}`);
      return link.startsWith('socket:') ? [{ fd: Number(name), link }] : [];
    } catch {
      return [];
    }
  });
}
