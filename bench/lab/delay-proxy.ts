/**
 * A program: passes TCP ports of one address on to another address, with a delay of half a round trip each way for
 * every byte. It limits nothing: incoming bytes are taken at once and passed on when their time has come. If the far
 * side is slow, the near side waits, as with a full receive window.
 *
 * Arguments: listen address, target address, round trip in ms, ports.
 */
import net from 'node:net';

const MAX_OVERDUE_BYTES = 16 * 1024 * 1024;

const [listenOn = '', target = '', roundTrip = '', ...ports] = process.argv.slice(2);
const delayMs = Number(roundTrip) / 2;

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
      if (bytes === undefined) to.end();
      else to.write(bytes);
    }
    to.uncork();
    if (to.writableLength > MAX_OVERDUE_BYTES) from.pause();
    arm();
  };
  const later = (bytes: Buffer | undefined): void => {
    late.push({ dueAt: performance.now() + delayMs, bytes });
    arm();
  };
  from.on('data', later);
  from.on('end', () => later(undefined));
  from.on('error', () => to.destroy());
  from.on('close', (hadError) => (hadError ? to.destroy() : undefined));
  to.on('drain', () => from.resume());
}
