/**
 * A program: passes TCP ports of one address on to another address, with a delay of half a round trip each way for
 * every byte. Incoming bytes are taken at once and passed on when their time has come. If the far side is slow, the near
 * side waits, as with a full receive window. With a window, each direction of a connection moves no more in a round trip;
 * without one nothing is limited.
 *
 * Arguments: listen address, target address, round trip in ms, window in bytes (0 = none), ports.
 */
import net from 'node:net';

const MAX_OVERDUE_BYTES = 16 * 1024 * 1024;

const [listenOn = '', target = '', roundTrip = '', window = '', ...ports] = process.argv.slice(2);
const delayMs = Number(roundTrip) / 2;
/** Acknowledgements need the other half of the round trip. */
const mostLateBytes = Number(window) === 0 ? Infinity : Number(window) / 2;

for (const port of ports.map(Number)) {
  net
    .createServer({ noDelay: true, allowHalfOpen: true }, (near) => {
      const far = net.connect({ port, host: target, noDelay: true, allowHalfOpen: true });
      passOn(near, far);
      passOn(far, near);
    })
    .listen(port, listenOn);
}

function passOn(from: net.Socket, to: net.Socket): void {
  const late: { readonly dueAt: number; readonly bytes: Buffer | undefined }[] = [];
  let timer: NodeJS.Timeout | undefined;
  let lateBytes = 0;
  const isFull = (): boolean => lateBytes > mostLateBytes || to.writableLength > MAX_OVERDUE_BYTES;
  const arm = (): void => {
    const [first] = late;
    if (first === undefined || timer !== undefined) return;
    timer = setTimeout(handOver, Math.max(0, first.dueAt - performance.now()));
  };
  const handOver = (): void => {
    timer = undefined;
    to.cork();
    // Timers are whole milliseconds: what is due within the next half of one is sent now.
    while (late[0] !== undefined && late[0].dueAt <= performance.now() + 0.5) {
      const { bytes } = late.shift() ?? {};
      lateBytes -= bytes?.length ?? 0;
      if (bytes === undefined) to.end();
      else to.write(bytes);
    }
    to.uncork();
    if (isFull()) from.pause();
    else from.resume();
    arm();
  };
  const later = (bytes: Buffer | undefined): void => {
    late.push({ dueAt: performance.now() + delayMs, bytes });
    lateBytes += bytes?.length ?? 0;
    if (isFull()) from.pause();
    arm();
  };
  from.on('data', later);
  from.on('end', () => later(undefined));
  from.on('error', () => to.destroy());
  from.on('close', (hadError) => (hadError ? to.destroy() : undefined));
  to.on('drain', () => (isFull() ? undefined : from.resume()));
}
