import { MIB } from '../lab/lab.js';
import type { Protocol } from '../lab/target.js';
import { directClients } from '../rivals/command-line.js';
import type { BenchCase, Goal } from '../scenario.js';
import { protocolsOf } from './large.js';
import { gatewayFront, seed, throughClient, throughFront, type Direction } from './transfers.js';

const ROUND_TRIP_MS = 50;
/** A line of this length makes every contender slow; a quarter of the large file shows as much. */
const PART = 4;

/** None, and what Linux allows a TCP connection unless an operator raises it (net.ipv4.tcp_wmem). */
const WINDOWS = [0, 4 * MIB];

function goalsOf(protocol: Protocol, direction: Direction): readonly Goal[] {
  if (protocol === 'sftp') return [{ kind: 'ratio', against: 'OpenSSH sftp', atLeast: 5 }];
  return protocol === 's3' && direction === 'down' ? [{ kind: 'ratio', against: 'curl s3', atLeast: 1.5 }] : [];
}

export const far: BenchCase = {
  name: 'far',
  title: `one large file through ${ROUND_TRIP_MS} ms of round trip`,
  about:
    `A proxy hands every byte on ${ROUND_TRIP_MS / 2} ms late in each direction: no loss, no slow start, and connecting ` +
    'takes no round trip. First it caps nothing, then a connection moves 4 MiB in a round trip, as TCP does with the ' +
    'defaults of Linux. The gateway and rclone serve webdav are on the near side, like their client, ' +
    'and hold sessions open; the others log in first. The naive gateway and curl over SFTP are left out: they send one ' +
    'request per round trip, about 1 MB/s.',
  async *scenarios(lab, { size, only }) {
    const bytes = Math.max(MIB, size / PART);
    for (const protocol of protocolsOf(only)) {
      await seed(lab, await lab.target(protocol), bytes);
      for (const window of WINDOWS) {
        const target = await lab.farTarget(protocol, ROUND_TRIP_MS, window);
        const gateway = await lab.gateway({ connections: { remote: target } });
        const webdav = await lab.webdav(target);
        const own = gatewayFront(gateway, 'remote', target);
        // It sends one request per round trip: at 1 MB/s it would take as long as all others together.
        const clients = (await directClients(target)).filter(({ name }) => name !== 'curl sftp');
        await lab.warmUp(own);
        for (const direction of ['up', 'down'] satisfies Direction[]) {
          const load = { target, direction, bytes, files: 1 };
          yield {
            name: `${protocol} ${direction} ${bytes / MIB} MiB at ${ROUND_TRIP_MS} ms${window === 0 ? '' : `, window of ${window / MIB} MiB`}`,
            unit: 'MB/s',
            contenders: [
              ...[own, webdav].map((front) => throughFront(lab, load, front)),
              ...clients.map((client) => throughClient(lab, load, client)),
            ],
            goals: goalsOf(protocol, direction),
          };
        }
        for (const service of [gateway, webdav]) await service.stop();
      }
    }
  },
};
