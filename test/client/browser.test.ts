/** The client in Chromium, and what Chromium makes of the reference page. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import { chromium, type Browser, type Page } from 'playwright-core';
import type * as client from '../../src/client/index.js';
import { KEY, startGateway, type TestGateway } from '../support/gateway.js';
import { freePort } from '../support/ports.js';

/** Where Debian's package puts it. */
const CHROMIUM = '/usr/bin/chromium';
const MODULES = new URL('../../src/client/', import.meta.url);

let gateway: TestGateway;
let browser: Browser;

before(async () => {
  const port = await freePort();
  // By its other name the same gateway is another origin.
  gateway = await startGateway({
    config: { sandbox: true, server: { port, cors: { origins: [`http://localhost:${port}`] } } },
  });
  // Test runs as root have no sandbox; the only pages it sees are ours.
  browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] });
});

after(async () => {
  await browser.close();
  await gateway.stop();
});

/** A page of the gateway's own origin, with the built client under /client/. */
async function openPage(url = gateway.url): Promise<Page> {
  const page = await browser.newPage();
  await page.route('**/client/*.js', async (route) => {
    const name = new URL(route.request().url()).pathname.split('/').at(-1) ?? '';
    await route.fulfill({ contentType: 'text/javascript', body: await readFile(new URL(name, MODULES)) });
  });
  await page.goto(`${url}/healthz`);
  return page;
}

test('uploads and downloads, with progress and typed errors', async () => {
  const page = await openPage();
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

for (const colorScheme of ['light', 'dark'] as const) {
  test(`the reference page in ${colorScheme} on a phone: one request, no complaint, no sideways scrolling`, async () => {
    const page = await browser.newPage({ colorScheme, viewport: { width: 360, height: 740 } });
    const [requests, complaints]: [string[], string[]] = [[], []];
    page.on('request', (request) => requests.push(request.url()));
    page.on('console', (message) => complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(error.message));
    await page.goto(`${gateway.url}/docs`, { waitUntil: 'networkidle' });
    assert.deepEqual(
      requests.filter((url) => !url.endsWith('/favicon.ico')),
      [`${gateway.url}/docs`],
    );
    assert.deepEqual(
      complaints.filter((text) => !text.includes('favicon') && !text.includes('404')),
      [],
    );
    // As text: these names are the browser's, not this program's.
    assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 360);
    const background = await page.evaluate('getComputedStyle(document.body).backgroundColor');
    assert.equal(background, colorScheme === 'dark' ? 'rgb(13, 17, 23)' : 'rgb(255, 255, 255)');
    await page.keyboard.press('Tab');
    assert.equal(await page.evaluate('document.activeElement.className'), 'skip');
    await page.close();
  });
}

test('a page of an origin that is allowed calls the API, one of another does not', async () => {
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
