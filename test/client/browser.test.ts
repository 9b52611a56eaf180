/** The client in Chromium. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import type { Browser, Page } from 'playwright-core';
import type * as tus from 'tus-js-client';
import { bundleClient } from '../../src/release/client-bundle.js';
import type * as client from '../../src/client/index.js';
import { launchChromium } from '../support/chromium.js';
import { PATIENCE_MS } from '../support/eventually.js';
import { KEY, startGateway, type TestGateway } from '../support/gateway.js';
import { freePort } from '../support/ports.js';
import { startProxy } from '../support/proxy.js';

const TUS = new URL('../../../node_modules/tus-js-client/dist/tus.min.js', import.meta.url);

/** The part of Uppy that the test uses: its own types would treat this whole program as browser code. */
interface UppyParts {
  readonly Uppy: new (options: object) => UppyFace;
  readonly Tus: unknown;
}

interface UppyFace {
  use(plugin: unknown, options: object): UppyFace;
  addFile(file: { readonly name: string; readonly type: string; readonly data: Blob }): string;
  upload(): Promise<{
    readonly successful?: readonly { readonly uploadURL?: string }[];
    readonly failed?: readonly { readonly error: string }[];
  }>;
}

let gateway: TestGateway;
let browser: Browser;

before(async () => {
  const port = await freePort();
  // Under its other name, the same gateway is another origin.
  gateway = await startGateway({
    config: { sandbox: true, server: { port, cors: { origins: [`http://localhost:${port}`] } } },
  });
  browser = await launchChromium();
});

after(async () => {
  await browser.close();
  await gateway.stop();
});

/** A page of that origin, with the client of the package at /client/index.js. */
async function openPage(url = gateway.url): Promise<Page> {
  const page = await browser.newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  const body = Buffer.from(await bundleClient());
  await page.route('**/client/index.js', (route) => route.fulfill({ contentType: 'text/javascript', body }));
  await page.goto(`${url}/healthz`);
  return page;
}

for (const name of ['127.0.0.1', 'localhost'])
  test(`uploads and downloads, with progress and typed errors, on a page of ${name}`, async () => {
    const page = await openPage(`http://${name}:${gateway.port}`);
    const result = await page.evaluate(
      async ({ apiKey, baseUrl }) => {
        const path = '/client/index.js';
        const { FileTransferGateway, FtgError } = (await import(path)) as typeof client;
        const ftg = new FileTransferGateway({ baseUrl, apiKey });
        const bytes = new Uint8Array(1_000_000).map((_, index) => index % 251);
        const blob = await ftg.upload('sandbox', new File([bytes], 'x'), {
          filename: 'blob',
          onProgress: () => undefined,
        });
        const stream = await ftg.upload('sandbox', new Blob([bytes]).stream(), { filename: 'stream' });
        let last = 0;
        const download = await ftg.download('sandbox', '/stream', { onProgress: ({ bytes: moved }) => (last = moved) });
        const received = await download.bytes();
        const isSame = received.length === bytes.length && received.every((byte, index) => byte === bytes[index]);
        const code = await ftg.read('sandbox', '/absent').catch((thrown: unknown) => {
          return thrown instanceof FtgError ? thrown.code : String(thrown);
        });
        return { sizes: [blob.size, stream.size], isSame, last, filename: download.filename, code };
      },
      { apiKey: KEY, baseUrl: gateway.url },
    );
    const size = 1_000_000;
    assert.deepEqual(result, { sizes: [size, size], isSame: true, last: size, filename: 'stream', code: 'not_found' });
    await page.close();
  });

test('a download on a page of another origin continues where the line breaks', async () => {
  const bytes = Buffer.from(new Uint8Array(12_000_000).map((_, index) => index % 251));
  // The file is old enough to have a tag.
  await gateway.api.send('/api/upload/sandbox', {
    method: 'POST',
    query: { filename: 'broken', mtime: '2020-01-31T12:00:00Z' },
    headers: { 'Content-Type': 'application/octet-stream' },
    body: bytes,
  });
  const proxy = await startProxy(gateway.port);
  const page = await openPage(`http://localhost:${gateway.port}`);
  let cuts = 0;
  const next = (): void => {
    proxy.after('down', 3_000_000, () => {
      proxy.fail('reset');
      if (++cuts < 3) next();
    });
  };
  next();
  const result = await page.evaluate(
    async ({ apiKey, baseUrl }) => {
      const path = '/client/index.js';
      const { FileTransferGateway } = (await import(path)) as typeof client;
      const ftg = new FileTransferGateway({ baseUrl, apiKey, retry: { delayMs: 20 } });
      const download = await ftg.download('sandbox', '/broken');
      const received = await download.bytes();
      return { size: received.length, isSame: received.every((byte, index) => byte === index % 251) };
    },
    { apiKey: KEY, baseUrl: `http://127.0.0.1:${proxy.port}` },
  );
  assert.deepEqual([result, cuts], [{ size: bytes.length, isSame: true }, 3]);
  await page.close();
  await proxy.stop();
});

test('on a page whose origin is not allowed, the error names the setting', async () => {
  const page = await openPage();
  const result = await page.evaluate(
    async ({ apiKey, baseUrl }) => {
      const path = '/client/index.js';
      const { FileTransferGateway, FtgError } = (await import(path)) as typeof client;
      const ftg = new FileTransferGateway({ baseUrl, apiKey, retry: { attempts: 1 } });
      return ftg.me().then(
        () => 'it was let in',
        (thrown: unknown) => (thrown instanceof FtgError ? `${thrown.reason}: ${thrown.message}` : String(thrown)),
      );
    },
    { apiKey: KEY, baseUrl: `http://localhost:${gateway.port}` },
  );
  assert.match(result, /^cors_or_unreachable: .*localhost:\d+, and does its server\.cors\.origins name/);
  await page.close();
});

test('tus-js-client, on a page of another origin, continues after it was stopped', async () => {
  const page = await openPage(`http://localhost:${gateway.port}`);
  await page.addScriptTag({ path: fileURLToPath(TUS) });
  const result = await page.evaluate(
    async ({ apiKey, baseUrl }) => {
      const { Upload } = (globalThis as unknown as { tus: typeof tus }).tus;
      const bytes = new Uint8Array(3_000_000).map((_, index) => index % 251);
      const headers = { Authorization: `Bearer ${apiKey}` };
      const metadata = { filename: 'tus.bin', filetype: 'application/octet-stream' };
      const common = { headers, chunkSize: 1_000_000, retryDelays: null };
      const url = await new Promise<string>((resolve, reject) => {
        const first = new Upload(new Blob([bytes]), {
          ...common,
          endpoint: `${baseUrl}/api/uploads/sandbox`,
          metadata,
          onError: reject,
          onChunkComplete: () => void first.abort().then(() => resolve(first.url ?? '')),
        });
        first.start();
      });
      const sent: number[] = [];
      await new Promise<void>((resolve, reject) => {
        const onProgress = (bytesSent: number): void => void sent.push(bytesSent);
        const onSuccess = (): void => resolve();
        new Upload(new Blob([bytes]), { ...common, uploadUrl: url, onError: reject, onProgress, onSuccess }).start();
      });
      return { first: sent[0] ?? 0, last: sent.at(-1) };
    },
    { apiKey: KEY, baseUrl: gateway.url },
  );
  assert.ok(result.first >= 1_000_000, `${result.first}`);
  assert.equal(result.last, 3_000_000);
  const { bytes } = await gateway.api.get('/api/download/sandbox', { query: { path: '/tus.bin' } });
  assert.ok(bytes.equals(Buffer.from(new Uint8Array(3_000_000).map((_, index) => index % 251))));
  await page.close();
});

test('the tus plugin of Uppy, on a page of another origin, continues where the line breaks', async () => {
  const { outputFiles } = await build({
    stdin: {
      contents: "export { default as Uppy } from '@uppy/core'; export { default as Tus } from '@uppy/tus';",
      resolveDir: fileURLToPath(new URL('../../../', import.meta.url)),
    },
    bundle: true,
    write: false,
    format: 'iife',
    globalName: 'uppy',
    logLevel: 'error',
  });
  const proxy = await startProxy(gateway.port);
  const page = await openPage(`http://localhost:${gateway.port}`);
  await page.addScriptTag({ content: outputFiles[0]?.text ?? '' });
  let cuts = 0;
  const next = (): void => {
    proxy.after('up', 3_000_000, () => {
      proxy.fail('reset');
      if (++cuts < 2) next();
    });
  };
  next();
  const result = await page.evaluate(
    async ({ apiKey, baseUrl }) => {
      const { Uppy, Tus } = (globalThis as unknown as { uppy: UppyParts }).uppy;
      const bytes = new Uint8Array(9_000_000).map((_, index) => index % 251);
      const one = new Uppy({ meta: { path: '/uppy' } }).use(Tus, {
        endpoint: `${baseUrl}/api/uploads/sandbox`,
        headers: { Authorization: `Bearer ${apiKey}` },
      });
      one.addFile({ name: 'uppy ü.bin', type: 'application/octet-stream', data: new Blob([bytes]) });
      const { successful = [], failed = [] } = await one.upload();
      return {
        failed: failed.map(({ error }) => error),
        urls: successful.map(({ uploadURL }) => uploadURL?.replace(/[0-9a-f-]{36}$/, 'ID')),
      };
    },
    { apiKey: KEY, baseUrl: `http://127.0.0.1:${proxy.port}` },
  );
  assert.deepEqual(result, { failed: [], urls: [`http://127.0.0.1:${proxy.port}/api/uploads/sandbox/ID`] });
  assert.equal(cuts, 2);
  const { bytes } = await gateway.api.get('/api/download/sandbox', { query: { path: '/uppy/uppy ü.bin' } });
  assert.ok(bytes.equals(Buffer.from(new Uint8Array(9_000_000).map((_, index) => index % 251))));
  await page.close();
  await proxy.stop();
});

test('a page of an allowed origin calls the API, a page of another one does not', async () => {
  const call = async (origin: string): Promise<unknown> => {
    const page = await openPage(origin);
    return page.evaluate(
      async ({ apiKey, baseUrl }) => {
        const path = '/client/index.js';
        const { FileTransferGateway, FtgError } = (await import(path)) as typeof client;
        const ftg = new FileTransferGateway({ baseUrl, apiKey });
        const bytes = new TextEncoder().encode('from elsewhere');
        try {
          await ftg.upload('sandbox', bytes, { filename: 'cors' });
          const download = await ftg.download('sandbox', '/cors');
          const text = new TextDecoder().decode(await download.bytes());
          const code = await ftg
            .read('sandbox', '/absent')
            .catch((thrown: unknown) => (thrown as { code: string }).code);
          return [text, download.filename, code];
        } catch (error) {
          return error instanceof FtgError ? error.code : 'blocked';
        }
      },
      { apiKey: KEY, baseUrl: gateway.url },
    );
  };
  assert.deepEqual(await call(gateway.url.replace('127.0.0.1', 'localhost')), ['from elsewhere', 'cors', 'not_found']);
  assert.notDeepEqual(await call(gateway.url.replace('127.0.0.1', 'other.localhost')), [
    'from elsewhere',
    'cors',
    'not_found',
  ]);
});
