import { MIB } from '../lab/lab.js';
import type { Protocol } from '../lab/target.js';
import { directClients } from '../rivals/command-line.js';
import type { BenchCase, Goal } from '../scenario.js';
import { gatewayFront, seed, throughClient, throughFront, type Direction } from './transfers.js';

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
const DIRECTIONS: readonly Direction[] = ['up', 'down'];

export const large: BenchCase = {
  name: 'large',
  title: 'one large file, up and down, each protocol',
  about:
    'One file over loopback, by one client process each time, its start and login included. ' +
    'The S3 store keeps objects in memory and costs next to nothing itself.',
  async *scenarios(lab, { size }) {
    for (const protocol of PROTOCOLS) {
      const target = await lab.target(protocol);
      await seed(lab, target, size);
      const gateway = await lab.gateway({ connections: { remote: target } });
      const [webdav, naive] = [await lab.webdav(target), await lab.naiveGateway(target)];
      const own = gatewayFront(gateway, 'remote', target);
      const clients = await directClients(target);
      await lab.warmUp(own);
      for (const direction of DIRECTIONS) {
        const load = { target, direction, bytes: size, files: 1 };
        yield {
          name: `${protocol} ${direction} ${size / MIB} MiB`,
          unit: 'MB/s',
          contenders: [
            ...[own, webdav, naive].map((front) => throughFront(lab, load, front)),
            ...clients.map((client) => throughClient(lab, load, client)),
          ],
          goals: [...GOALS[protocol], { kind: 'memory', atMostMiB: 100 }],
        };
      }
      for (const service of [gateway, webdav, naive]) await service.stop();
    }
  },
};
