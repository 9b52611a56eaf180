import { startDante } from '../../test/servers/network-proxies.js';
import { startSshd } from '../../test/servers/sshd.js';
import { MIB } from '../lab/lab.js';
import type { SftpTarget } from '../lab/target.js';
import type { BenchCase, Goal } from '../scenario.js';
import { type Direction, gatewayFront, seed, throughFront } from './transfers.js';

const DIRECT = 'directly';
const DIRECTIONS: readonly Direction[] = ['up', 'down'];
const GOALS: readonly Goal[] = [
  { kind: 'ratio', against: DIRECT, atLeast: 0.8 },
  { kind: 'memory', atMostMiB: 100 },
];

export const ways: BenchCase = {
  name: 'ways',
  title: 'one large file through a proxy and through a jump host',
  about:
    'One gateway and one SFTP server, reached directly, through dante (SOCKS5), and through OpenSSH as a jump host. ' +
    'All of them share the processors, and a jump host encrypts each byte once more on both of its sides.',
  async *scenarios(lab, { size }) {
    const target = (await lab.target('sftp')) as SftpTarget;
    await seed(lab, target, size);
    const socks = await lab.ending(startDante());
    const { port, username, clientKeyFile } = await lab.ending(startSshd());
    const connections = {
      direct: target,
      bastion: { ...target, port, username, keyFile: clientKeyFile },
      socks: { ...target, proxy: socks.url },
      jump: { ...target, via: 'bastion' },
    };
    const gateway = await lab.gateway({ connections });
    const through = (connection: string, name: string) => gatewayFront(gateway, connection, target, name);
    const direct = through('direct', DIRECT);
    const roundabout = [through('socks', 'through SOCKS5'), through('jump', 'through a jump host')];
    for (const front of [direct, ...roundabout]) await lab.warmUp(front);
    for (const direction of DIRECTIONS) {
      const load = { target, direction, bytes: size, files: 1 };
      for (const front of roundabout) {
        yield {
          name: `${direction} ${size / MIB} MiB ${front.name}`,
          unit: 'MB/s',
          contenders: [front, direct].map((each) => throughFront(lab, load, each)),
          goals: GOALS,
        };
      }
    }
    await gateway.stop();
  },
};
