/**
 * A proxy on loopback in front of any server, which fails on command: at a piece, after a number of bytes, at once. It
 * counts what passes in both directions on all connections. Data connections of FTP pass through it as well.
 */
import { once } from 'node:events';
import net from 'node:net';
import { reset } from './reset.js';

export type Fault = 'reset' | 'end' | 'stall';

export interface ProxyOptions {
  /** Data connections also pass through it. */
  readonly ftp?: boolean;
  /** Keeps what clients send, for `said`. */
  readonly listens?: boolean;
  /** If this text passes in that direction, one bit of it is changed. */
  readonly flips?: { readonly mark: string; readonly direction: 'up' | 'down' };
}

export interface Proxy {
  readonly port: number;
  /** Bytes from clients so far, and from the server. */
  readonly upBytes: number;
  readonly downBytes: number;
  /** What clients have sent, as Latin-1 text; only with `listens`. */
  readonly said: string;
  /** Pieces that passed since the last arm(). */
  readonly pieces: number;
  /**
   * When content last arrived, on the clock of performance.now(); swallowed bytes count, delayed ones and commands do
   * not.
   */
  readonly lastContentAt: number;
  /** Whether the armed fault has happened. */
  readonly hasFailed: boolean;
  /** Connections that are open. */
  readonly open: number;
  /** Connections accepted so far. */
  readonly connections: number;
  /**
   * Fails all connections of that moment, instead of passing the piece number `at` from now, the first being 1;
   * `isDown` from then on if `goesDown`.
   */
  arm(fault: Fault, at: number, goesDown?: boolean): void;
  disarm(): void;
  /** Resolves when the piece number `at` from now has arrived; it and all later ones wait until `release` is called. */
  hold(at: number): Promise<void>;
  release(): void;
  /** Fails all connections now. */
  fail(fault: Fault): void;
  /** Runs `act` once, as soon as this many more bytes have passed in that direction. */
  after(direction: 'up' | 'down', bytes: number, act: (proxy: Proxy) => void): void;
  /** While true, bytes of both directions are lost silently, even on new connections. */
  isSilent: boolean;
  /** While true, new connections are reset at once, as if there were no server. */
  isDown: boolean;
  /** Replaces the server behind it, for new connections. */
  target: number;
  /** The delay of each piece, in order. */
  delayMs: number;
  /**
   * Lines of the server's data that pass on each data connection of FTP from now on: then that ends cleanly, without
   * the server's knowledge. undefined = all.
   */
  dataLines: number | undefined;
  /**
   * The same, for only one data connection, after a number of whole ones. Returns a function for the number of cut
   * ones: 0 or 1.
   */
  cutDataLines(lines: number, afterWhole: number): () => number;
  stop(): Promise<void>;
}

const MOST_COMMAND_BYTES = 1_024;

interface Link {
  readonly sockets: readonly [net.Socket, net.Socket];
  isStalled: boolean;
}

/** The same bytes, except one bit of the first `mark` in them. */
export function flipped(bytes: Buffer, mark: string | undefined): Buffer {
  const at = mark === undefined ? -1 : bytes.indexOf(mark);
  if (at < 0) return bytes;
  const copy = Buffer.from(bytes);
  copy[at] = (copy[at] ?? 0) ^ 1;
  return copy;
}

const PASSIVE = /^(227 [^(]*\(\d+,\d+,\d+,\d+,)(\d+),(\d+)(\).*)$|^(229 .*\(\|\|\|)(\d+)(\|\).*)$/m;

export async function startProxy(target: number, options: ProxyOptions = {}): Promise<Proxy> {
  const heard: Buffer[] = [];
  const passed = { up: 0, down: 0 };
  const acts = new Set<() => void>();
  const links = new Set<Link>();
  const listeners = new Set<net.Server>();
  let armed: { readonly fault: Fault; readonly at: number; readonly goesDown: boolean } | undefined;
  let pieces = 0;
  let lastContentAt = 0;
  let hasFailed = false;
  let connections = 0;
  let holding: { readonly at: number; readonly reached: () => void; readonly released: Promise<void> } | undefined;
  let release: () => void = () => undefined;
  let cutting: { readonly lines: number; wholeLeft: number; done: number } | undefined;

  function fail(fault: Fault): void {
    for (const link of [...links]) {
      if (fault === 'stall') link.isStalled = true;
      for (const socket of link.sockets) {
        if (fault === 'reset') reset(socket);
        if (fault === 'end') socket.end();
      }
    }
  }

  /** False for the piece that does not pass. */
  function mayPass(): boolean {
    pieces++;
    if (armed === undefined || pieces !== armed.at) return true;
    hasFailed = true;
    proxy.isDown ||= armed.goesDown;
    fail(armed.fault);
    return false;
  }

  /** In order, because timers of one length are. */
  function later(work: () => void): void {
    if (proxy.delayMs === 0) work();
    else setTimeout(work, proxy.delayMs);
  }

  function oneCut(): number | undefined {
    if (cutting === undefined || cutting.wholeLeft-- > 0) return undefined;
    const { lines } = cutting;
    cutting.done = 1;
    cutting = undefined;
    return lines;
  }

  function connect(client: net.Socket, port: number, isControl: boolean): void {
    connections++;
    client.on('error', () => undefined);
    if (proxy.isDown) return reset(client);
    const server = net.connect({ port, host: '127.0.0.1', noDelay: true, allowHalfOpen: true });
    const link: Link = { sockets: [client, server], isStalled: false };
    links.add(link);
    let linesLeft = isControl || options.ftp !== true ? undefined : (oneCut() ?? proxy.dataLines);
    let isCut = false;
    const beforeCut = (bytes: Buffer): Buffer => {
      if (linesLeft === undefined) return bytes;
      let end = 0;
      for (; linesLeft > 0 && end < bytes.length; linesLeft--) end = bytes.indexOf('\n', end) + 1 || bytes.length;
      return bytes.subarray(0, end);
    };
    for (const [from, to, direction] of [
      [client, server, 'up'],
      [server, client, 'down'],
    ] as const) {
      let held = Promise.resolve();
      from.on('error', () => undefined);
      from.on('end', () => later(() => link.isStalled || to.end()));
      from.on('close', () => {
        links.delete(link);
        // Bytes that were sent still arrive, as on a network.
        if (isCut && from === client) to.resume();
        else void held.then(() => later(() => to.destroy()));
      });
      to.on('drain', () => from.resume());
      const pass = (bytes: Buffer): void => {
        if (bytes.length > MOST_COMMAND_BYTES) lastContentAt = performance.now();
        passed[direction] += bytes.length;
        if (options.listens === true && direction === 'up') heard.push(bytes);
        const kept = direction === 'down' ? beforeCut(bytes) : bytes;
        if (!link.isStalled && !proxy.isSilent && mayPass() && to.writable && !to.write(kept)) from.pause();
        if (linesLeft === 0 && !isCut) {
          isCut = true;
          to.end();
        }
        for (const act of acts) act();
      };
      const passOrHold = (bytes: Buffer): void => {
        if (holding === undefined) return pass(bytes);
        if (pieces + 1 === holding.at) holding.reached();
        if (pieces + 1 < holding.at) return pass(bytes);
        const { released } = holding;
        from.pause();
        held = held.then(async () => {
          await released;
          pass(bytes);
          from.resume();
        });
      };
      const passInTime = (bytes: Buffer): void => {
        // Read once: a piece that waits when the delay is removed must not leave its side paused.
        const isLate = proxy.delayMs > 0;
        if (isLate) from.pause();
        later(() => {
          if (isLate) from.resume();
          passOrHold(bytes);
        });
      };
      if (!isControl || from !== server) {
        from.on('data', (bytes: Buffer) =>
          passInTime(direction === options.flips?.direction ? flipped(bytes, options.flips.mark) : bytes),
        );
      } else {
        // In order: a reply that must be rewritten delays those after it.
        let before = Promise.resolve();
        from.on('data', (bytes: Buffer) => {
          before = before.then(async () => passInTime(await withOwnDataPort(bytes)));
        });
      }
    }
  }

  async function withOwnDataPort(bytes: Buffer): Promise<Buffer> {
    const text = bytes.toString('latin1');
    const found = PASSIVE.exec(text);
    if (found === null) return bytes;
    const [line, head, high, low, tail, extendedHead, extendedPort, extendedTail] = found;
    const real = extendedPort === undefined ? Number(high) * 256 + Number(low) : Number(extendedPort);
    // At most one connection arrives: hundreds of listeners would take the ports that others are about to use.
    const { port: own } = await listen((client, listener) => {
      listeners.delete(listener);
      listener.close();
      connect(client, real, false);
    });
    const rewritten =
      extendedPort === undefined ? `${head}${own >> 8},${own & 255}${tail}` : `${extendedHead}${own}${extendedTail}`;
    return Buffer.from(text.replace(line, rewritten), 'latin1');
  }

  async function listen(take: (client: net.Socket, listener: net.Server) => void): Promise<net.AddressInfo> {
    const listener = net.createServer({ noDelay: true, allowHalfOpen: true });
    listener.on('connection', (client) => take(client, listener)).listen(0, '127.0.0.1');
    listeners.add(listener);
    await once(listener, 'listening');
    return listener.address() as net.AddressInfo;
  }

  const proxy: Proxy = {
    port: (await listen((client) => connect(client, proxy.target, options.ftp ?? false))).port,
    isDown: false,
    isSilent: false,
    delayMs: 0,
    dataLines: undefined,
    cutDataLines: (lines, afterWhole) => {
      const cut = { lines, wholeLeft: afterWhole, done: 0 };
      cutting = cut;
      return () => cut.done;
    },
    target,
    get upBytes() {
      return passed.up;
    },
    get downBytes() {
      return passed.down;
    },
    get said() {
      return Buffer.concat(heard).toString('latin1');
    },
    get pieces() {
      return pieces;
    },
    get lastContentAt() {
      return lastContentAt;
    },
    get hasFailed() {
      return hasFailed;
    },
    get open() {
      return links.size;
    },
    get connections() {
      return connections;
    },
    arm: (fault, at, goesDown = false) => {
      armed = { fault, at, goesDown };
      pieces = 0;
      hasFailed = false;
    },
    disarm: () => {
      armed = undefined;
      // Ends silent connections: otherwise those of many rounds would reach the server's limit.
      for (const { sockets, isStalled } of links) {
        if (isStalled && sockets[0].readableEnded) for (const socket of sockets) socket.destroy();
      }
    },
    hold: (at) => {
      pieces = 0;
      return new Promise((reached) => {
        holding = { at, reached, released: new Promise((done) => (release = done)) };
      });
    },
    release: () => {
      holding = undefined;
      release();
    },
    fail,
    after: (direction, bytes, act) => {
      const due = passed[direction] + bytes;
      const look = (): void => {
        if (passed[direction] < due) return;
        acts.delete(look);
        act(proxy);
      };
      acts.add(look);
    },
    stop: async () => {
      for (const { sockets } of links) for (const socket of sockets) socket.destroy();
      await Promise.all([...listeners].map((listener) => new Promise((done) => listener.close(done))));
    },
  };
  return proxy;
}
