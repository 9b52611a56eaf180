/** FTPS through real proxies. microsocks and tinyproxy close both directions of a connection as soon as one has ended. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { buffer } from 'node:stream/consumers';
import { streamOf } from '../../../src/remotes/whole.js';
import { type FtpServer, type ServerOptions, startProftpd, startPureFtpd, startVsftpd } from '../../servers/ftp.js';
import { type NetworkProxy, startDante, startMicrosocks, startTinyproxy } from '../../servers/network-proxies.js';
import { at, clientFor, list, put } from '../support/ftp-client.js';

const SERVERS: readonly (readonly [string, (options: ServerOptions) => Promise<FtpServer>, ServerOptions['tls']])[] = [
  ['vsftpd', startVsftpd, 'explicit'],
  ['pure-ftpd', startPureFtpd, 'explicit'],
  ['proftpd', startProftpd, 'implicit'],
];
/** Through microsocks, vsftpd lost most of those with 3 MB. */
const SIZES = [0, 1, 5_000, 3_000_000, 3_000_000, 3_000_000, 3_000_000, 3_000_000, 20_000_000];

for (const [proxyName, startProxy] of [
  ['microsocks', startMicrosocks],
  ['tinyproxy', startTinyproxy],
  ['dante', startDante],
] as const) {
  describe(`FTPS through ${proxyName}`, { concurrency: 3 }, () => {
    let proxy: NetworkProxy;
    before(async () => (proxy = await startProxy()));
    after(() => proxy.stop());

    for (const [name, start, tls] of SERVERS) {
      test(`files of all sizes are stored on ${name}, read back and listed`, async (t) => {
        const server = await start({ tls });
        t.after(() => server.stop());
        const { url, username, password } = proxy;
        const way = { host: 'localhost', proxy: { url, username }, proxyPassword: password };
        const client = clientFor(server);
        for (const [index, size] of SIZES.entries()) {
          const content = Buffer.alloc(size, `file ${index} `);
          const path = `/file-${index}`;
          const [stored, names] = await client.use(async (remote) => {
            await put(remote, path, content);
            const bytes = await buffer(streamOf(await remote.read(at(path))));
            return [bytes, (await list(remote, '/')).map((entry) => entry.name)] as const;
          }, way);
          assert.ok(stored.equals(content), `${size} bytes`);
          assert.ok(names.includes(`file-${index}`), names.join());
        }
      });
    }
  });
}
