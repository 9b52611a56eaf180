import { MIB } from '../lab/lab.js';
import type { Protocol } from '../lab/target.js';
import { directClients } from '../rivals/command-line.js';
import { BEFORE, type BenchCase, type Goal, NOT_SLOWER } from '../scenario.js';
import { gatewayFront, seed, throughClient, throughFront, type Direction, type Front } from './transfers.js';

const GOALS: Readonly<Record<Protocol, readonly Goal[]>> = {
  sftp: [
    { kind: 'ratio', against: 'OpenSSH sftp', atLeast: 1 },
    { kind: 'ratio', against: 'rclone serve webdav', atLeast: 1.5 },
  ],
  ftp: [{ kind: 'ratio', against: 'curl ftp', atLeast: 0.9 }],
  s3: [
    { kind: 'ratio', against: 'curl s3', atLeast: 0.9 },
    { kind: 'ratio', against: 'AWS CLI', atLeast: 1 },
  ],
};

export const PROTOCOLS: readonly Protocol[] = ['sftp', 'ftp', 's3'];

/** All, or the one that `--only` begins with. */
export function protocolsOf(only: string): readonly Protocol[] {
  const named = PROTOCOLS.filter((protocol) => only.split(' ')[0] === protocol);
  return named.length === 0 ? PROTOCOLS : named;
}

const DIRECTIONS: readonly Direction[] = ['up', 'down'];

export const large: BenchCase = {
  name: 'large',
  title: 'one large file, up and down, each protocol',
  about:
    'One file over loopback, by one client process each time, its start and login included. ' +
    'The S3 store keeps objects in memory and costs next to nothing itself.',
  async *scenarios(lab, { size, before, only }) {
    for (const protocol of protocolsOf(only)) {
      const target = await lab.target(protocol);
      await seed(lab, target, size);
      const start = async (name: string, checkout?: string): Promise<Front> =>
        gatewayFront(await lab.gateway({ connections: { remote: target }, checkout }), 'remote', target, name);
      const own = await start('gateway');
      const rivals =
        before === undefined
          ? [await lab.webdav(target), await lab.naiveGateway(target)]
          : [await start(BEFORE, before)];
      const clients = before === undefined ? await directClients(target) : [];
      for (const front of [own, ...rivals]) await lab.warmUp(front);
      for (const direction of DIRECTIONS) {
        const load = { target, direction, bytes: size, files: 1 };
        yield {
          name: `${protocol} ${direction} ${size / MIB} MiB`,
          unit: 'MB/s',
          contenders: [
            ...[own, ...rivals].map((front) => throughFront(lab, load, front)),
            ...clients.map((client) => throughClient(lab, load, client)),
          ],
          goals: before === undefined ? [...GOALS[protocol], { kind: 'memory', atMostMiB: 100 }] : [NOT_SLOWER],
        };
      }
      for (const front of [own, ...rivals]) await front.stop();
    }
  },
};
