/** A name server on loopback, over UDP and TCP, that answers as scripted, or not at all. */
import dgram from 'node:dgram';
import { once } from 'node:events';
import net from 'node:net';
import ipaddr from 'ipaddr.js';

export interface Reply {
  /** Addresses of both families; the family that was not requested is left out. */
  readonly addresses?: readonly string[];
  readonly ttl?: number;
  /** Names that lead to the one with the addresses. */
  readonly aliases?: readonly string[];
  /** 2 SERVFAIL, 3 NXDOMAIN, 5 REFUSED. */
  readonly code?: number;
  readonly delayMs?: number;
  /** Over UDP it only says that there is more over TCP. */
  readonly isTruncated?: boolean;
  /** Sent first: a forged answer, or something that is not an answer. */
  readonly before?: (question: Buffer, make: (reply: Reply) => Buffer) => readonly Buffer[];
}

/** undefined = silence. */
export type Zone = (name: string, family: 4 | 6) => Reply | undefined;

export interface NameServer {
  /** address:port */
  readonly address: string;
  /** Names in the order of the queries, one for each. */
  readonly asked: string[];
  zone: Zone;
  stop(): void;
}

const A = 1;
const CNAME = 5;
const AAAA = 28;

export async function startNameServer(zone: Zone): Promise<NameServer> {
  const udp = dgram.createSocket('udp4');
  const sockets = new Set<net.Socket>();
  const timers = new Set<NodeJS.Timeout>();
  const server: NameServer = {
    address: '',
    asked: [],
    zone,
    stop: () => {
      udp.close();
      tcp.close();
      for (const socket of sockets) socket.destroy();
      for (const timer of timers) clearTimeout(timer);
    },
  };
  const respond = (question: Buffer, isTcp: boolean, send: (answer: Buffer) => void): void => {
    const { name, type } = parseQuestion(question);
    server.asked.push(name);
    const reply = server.zone(name, type === AAAA ? 6 : 4);
    if (reply === undefined) return;
    const make = (one: Reply): Buffer => makeAnswer(question, name, type, one, one.isTruncated === true && !isTcp);
    const timer = setTimeout(() => {
      timers.delete(timer);
      for (const lie of reply.before?.(question, make) ?? []) send(lie);
      send(make(reply));
    }, reply.delayMs ?? 0);
    timers.add(timer);
  };
  udp.on('message', (question, from) =>
    respond(question, false, (answer) => udp.send(answer, from.port, from.address, () => undefined)),
  );
  const tcp = net.createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
    let held = Buffer.alloc(0);
    socket.on('data', (piece: Buffer) => {
      held = Buffer.concat([held, piece]);
      while (held.length >= 2 && held.length >= 2 + held.readUInt16BE(0)) {
        const end = 2 + held.readUInt16BE(0);
        respond(held.subarray(2, end), true, (answer) => {
          const length = Buffer.alloc(2);
          length.writeUInt16BE(answer.length);
          socket.write(Buffer.concat([length, answer]));
        });
        held = held.subarray(end);
      }
    });
  });
  // UDP may have taken a port that TCP does not get: then the next one.
  for (;;) {
    tcp.listen(0, '127.0.0.1');
    await once(tcp, 'listening');
    const { port } = tcp.address() as net.AddressInfo;
    const bound = once(udp, 'listening').then(
      () => true,
      () => false,
    );
    udp.bind(port, '127.0.0.1');
    if (await bound) return Object.assign(server, { address: `127.0.0.1:${port}` });
    tcp.close();
    await once(tcp, 'close');
  }
}

function parseQuestion(question: Buffer): { readonly name: string; readonly type: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = question[at] ?? 0; length > 0; length = question[at] ?? 0) {
    labels.push(question.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.').toLowerCase(), type: question.readUInt16BE(at + 1) };
}

function makeAnswer(question: Buffer, name: string, type: number, reply: Reply, isCut: boolean): Buffer {
  const family = type === AAAA ? 'ipv6' : 'ipv4';
  const addresses = isCut
    ? []
    : (reply.addresses ?? []).map((text) => ipaddr.parse(text)).filter((address) => address.kind() === family);
  const names = [name, ...(isCut ? [] : (reply.aliases ?? []))];
  const ttl = reply.ttl ?? 60;
  const records = [
    ...names.slice(1).map((target, index) => record(names[index] ?? '', CNAME, ttl, encodeName(target))),
    ...addresses.map((address) =>
      record(names.at(-1) ?? '', type === AAAA ? AAAA : A, ttl, Buffer.from(address.toByteArray())),
    ),
  ];
  const asked = question.subarray(12, 12 + encodeName(name).length + 4);
  const head = Buffer.alloc(12);
  question.copy(head, 0, 0, 2);
  // Response, recursion asked for and available.
  head.writeUInt16BE(0x8180 | (isCut ? 0x0200 : 0) | (reply.code ?? 0), 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt16BE(records.length, 6);
  return Buffer.concat([head, asked, ...records]);
}

function encodeName(name: string): Buffer {
  const labels = name.split('.').map((label) => Buffer.from(`${String.fromCharCode(label.length)}${label}`, 'latin1'));
  return Buffer.concat([...labels, Buffer.alloc(1)]);
}

function record(name: string, type: number, ttl: number, data: Buffer): Buffer {
  const fields = Buffer.alloc(10);
  fields.writeUInt16BE(type, 0);
  fields.writeUInt16BE(1, 2);
  fields.writeUInt32BE(ttl, 4);
  fields.writeUInt16BE(data.length, 8);
  return Buffer.concat([encodeName(name), fields, data]);
}
