/**
 * The frame around the screens: no mistake loses input or a secret that is shown once, addresses are parsed, the bell
 * shows counts.
 */
import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { logIn, manage, openDesk, type Desk, type Window } from './browser.js';
import { violations } from './inspection.js';

describe('the frame of the page', () => {
  let desk: Desk;
  let window: Window;
  let page: Page;
  before(async () => {
    desk = await openDesk();
  });
  after(() => desk.close());
  beforeEach(async () => {
    window = await desk.open({ width: 1440, height: 900 });
    ({ page } = window);
    await logIn(page);
  });
  afterEach(() => window.context.close());

  const heading = (name: string) => page.getByRole('heading', { level: 1, name });
  const question = () => page.getByRole('alertdialog', { name: 'Discard changes?' });
  const name = () => page.getByRole('textbox', { name: 'Name', exact: true });
  const visit = (text: string) =>
    page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: text, exact: true }).click();

  test('a key that is shown once is closed only by its own button', async () => {
    await visit('API keys');
    await page.getByRole('button', { name: 'Issue a key' }).first().click();
    const form = page.getByRole('dialog', { name: 'Issue a key' });
    await form.getByLabel('Name').fill('shown once');
    await form.getByRole('button', { name: 'Issue the key' }).click();
    const shown = page.getByRole('dialog', { name: 'API key shown once' });
    await shown.waitFor();
    await page.keyboard.press('Escape');
    await page.mouse.click(5, 5);
    assert.match(await shown.getByLabel('API key', { exact: true }).innerText(), /^ftg_/);
    await page.goBack();
    await page.getByRole('alertdialog', { name: 'Leave without it?' }).getByRole('button', { name: 'Stay' }).click();
    assert.match(await shown.getByLabel('API key', { exact: true }).innerText(), /^ftg_/);
    await shown.getByRole('button', { name: 'I have saved it' }).click();
    await shown.waitFor({ state: 'detached' });
    await page.getByRole('cell', { name: 'Every connection' }).first().waitFor();
  });

  test('a link and the Back button ask before a form is left; staying keeps the input', async () => {
    await visit('Connections');
    await page.getByRole('link', { name: 'Add a connection' }).click();
    await name().fill('Half typed');
    await visit('Usage');
    await question().getByRole('button', { name: 'Keep editing' }).click();
    await question().waitFor({ state: 'detached' });
    assert.equal(await name().inputValue(), 'Half typed');
    await page.goBack();
    await question().getByRole('button', { name: 'Keep editing' }).click();
    assert.equal(await name().inputValue(), 'Half typed');
    assert.match(page.url(), /\/connections\/new$/);
    await page.goBack();
    await question().getByRole('button', { name: 'Discard changes' }).click();
    await heading('Connections').waitFor();
    await visit('Usage');
    await heading('Usage').waitFor();
  });

  test('closing the tab asks too, but only if there is something to lose', async () => {
    await page.goto('/connections/new');
    await name().fill('Half typed');
    const asked = page.waitForEvent('dialog');
    const reload = page.reload().catch(() => undefined);
    const dialog = await asked;
    assert.equal(dialog.type(), 'beforeunload');
    await dialog.accept();
    await reload;
    await name().waitFor();
    assert.equal(await name().inputValue(), 'Half typed', 'the draft is still there');
    await page.getByRole('button', { name: 'Discard draft' }).click();
    page.once('dialog', () => assert.fail('nothing can be lost'));
    await page.reload();
    await name().waitFor();
    assert.equal(await name().inputValue(), '');
    page.removeAllListeners('dialog');
  });

  test('a dialog with changes asks before Escape closes it, and one without does not', async () => {
    await page.goto('/keys?new');
    const form = page.getByRole('dialog', { name: 'Issue a key' });
    await form.getByLabel('Name').fill('never');
    await page.keyboard.press('Escape');
    await question().waitFor();
    assert.deepEqual(await violations(page), []);
    await page.keyboard.press('Escape');
    await question().waitFor({ state: 'detached' });
    assert.equal(await form.getByLabel('Name').inputValue(), 'never');
    await page.keyboard.press('Escape');
    await question().getByRole('button', { name: 'Discard changes' }).click();
    await form.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Issue a key' }).first().click();
    await form.waitFor();
    await page.keyboard.press('Escape');
    await form.waitFor({ state: 'detached' });
  });

  test('an address that is typed or pasted into Host is parsed', async () => {
    await page.goto('/connections/new');
    const host = page.getByRole('textbox', { name: 'Host', exact: true });
    const field = (label: string) => page.getByRole('textbox', { name: label, exact: true });
    await host.fill('sftp://gw%40corp@files.example.com:2222/drop/in/');
    await field('Port').focus();
    await page.getByText('The URL has filled the fields').waitFor();
    assert.equal(await host.inputValue(), 'files.example.com');
    assert.equal(await field('Port').inputValue(), '2222');
    assert.equal(await field('User name').inputValue(), 'gw@corp');
    assert.equal(await field('Root folder').inputValue(), '/drop/in');

    await page.evaluate(`navigator.clipboard.writeText('ftps://old:secret@ftp.example.com')`);
    await host.fill('');
    await host.press('Control+v');
    await page.getByRole('radio', { name: 'Implicit TLS' }).waitFor();
    assert.ok(await page.getByRole('radio', { name: 'FTP, FTPS' }).isChecked());
    assert.ok(await page.getByRole('radio', { name: 'Implicit TLS' }).isChecked());
    assert.equal(await host.inputValue(), 'ftp.example.com');
    assert.equal(await field('Port').inputValue(), '990');
    assert.equal(await page.getByLabel('Password').last().inputValue(), 'secret');

    await host.fill('https://lake.s3.eu-central-1.amazonaws.com/2026/in');
    await field('User name').focus();
    await field('Bucket').waitFor();
    assert.equal(await field('Bucket').inputValue(), 'lake');
    assert.equal(await field('Region').inputValue(), 'eu-central-1');
    assert.equal(await field('Prefix').inputValue(), '2026/in/');
    assert.equal(await field('Endpoint').inputValue(), '');

    await field('Endpoint').fill('https://minio.example.com:9000/backup');
    await field('Region').focus();
    assert.equal(await field('Endpoint').inputValue(), 'https://minio.example.com:9000');
    assert.equal(await field('Bucket').inputValue(), 'backup');
  });

  test('what belongs to one kind of encryption is asked for and sent with that kind alone', async () => {
    await page.goto('/connections/new');
    await page.getByRole('radio', { name: 'S3', exact: true }).check();
    await page.getByText('Limits and server options').click();
    const field = (label: string) => page.getByLabel(label, { exact: true });
    const shown = async (): Promise<number[]> =>
      Promise.all(['Id of the KMS key', 'Encryption key'].map((label) => field(label).count()));
    assert.deepEqual(await shown(), [0, 0]);
    await field('Encryption').selectOption('customer');
    await field('Encryption key').fill('not a key');
    assert.deepEqual(await shown(), [0, 1]);
    await field('Encryption').selectOption('kms');
    await field('Id of the KMS key').fill('key-1');
    assert.deepEqual(await shown(), [1, 0]);
    await field('Encryption').selectOption('aes256');
    assert.deepEqual(await shown(), [0, 0]);
    await name().fill('Encrypted lake');
    await page.getByRole('textbox', { name: 'Bucket', exact: true }).fill('lake');
    await page.getByRole('textbox', { name: 'Access key id', exact: true }).fill('AKIA');
    await page.getByLabel('Secret access key').fill('secret');
    const saving = page.waitForResponse((response) => response.request().method() === 'POST');
    await page.getByRole('button', { name: 'Save the connection' }).click();
    const answer = await saving;
    const { encryption } = answer.request().postDataJSON() as { readonly encryption: unknown };
    assert.deepEqual(encryption, { type: 'aes256' });
    assert.equal(answer.status(), 201, `${answer.url()} ${await answer.text()}`);
    await page.getByRole('heading', { name: 'Encrypted lake' }).waitFor();
    // The card of the connection shows what is set.
    await page.getByRole('heading', { name: 'What is set' }).waitFor();
    await page.getByText('type aes256', { exact: true }).waitFor();
    await manage(page, 'DELETE', '/manage/connections/encrypted-lake?confirm=true');
  });

  test('the id is derived from the name, and the result of the test is kept when it is saved', async () => {
    const { connections } = (await manage(page, 'GET', '/manage/connections')) as {
      connections: { host: string; port: number; username: string }[];
    };
    const [sandbox] = connections;
    assert.ok(sandbox !== undefined);
    await page.goto('/connections/new');
    await name().fill('Lager Süd & Ost');
    const id = page.getByRole('textbox', { name: 'Id', exact: true });
    assert.equal(await id.inputValue(), 'lager-sued-and-ost');
    await page
      .getByRole('textbox', { name: 'Host', exact: true })
      .fill(`sftp://${sandbox.username}@${sandbox.host}:${sandbox.port}`);
    await page.getByLabel('Password').last().fill('wrong');
    await page.getByRole('button', { name: 'Test the connection' }).click();
    await page.getByText('The test failed').waitFor();
    await page.getByRole('button', { name: 'Save the connection' }).click();
    await heading('Lager Süd & Ost').waitFor();
    await page.getByText('The test failed').waitFor();
    const step = page.getByRole('listitem').filter({ hasText: 'Log in' });
    assert.match(await step.innerText(), /Check user name and password/);
    await page.getByRole('textbox', { name: 'User name', exact: true }).fill('somebody');
    await page.getByText('Tested before your latest changes.').waitFor();
    await page.getByRole('button', { name: 'Discard changes' }).click();
    await manage(page, 'DELETE', '/manage/connections/lager-sued-and-ost?confirm=true');
  });

  describe('open parts stay open, and input stays, when the data is loaded again', () => {
    let reads = 0;
    /**
     * Everything that the page has read is outdated by now. When the page gets the focus, it reads everything again.
     */
    const readAgain = async (): Promise<void> => {
      await page.clock.setFixedTime(Date.now() + (reads += 1) * 60_000);
      await page.evaluate(`dispatchEvent(new Event('visibilitychange'))`);
    };
    /** The field of the answer with this name, or the whole answer. */
    const made = async (path: string, body: object, name?: string): Promise<string> => {
      const answer = await manage(page, 'POST', path, body);
      return String(((name === undefined ? answer : answer[name]) as { id: string }).id);
    };
    const open = async (at: string, button: string): Promise<void> => {
      await page.goto(at);
      await page.getByRole('button', { name: button, exact: true }).click();
    };
    const write = (file: string, content: string) =>
      manage(page, 'POST', '/api/write/sandbox', { path: `/${file}`, content });
    const job = { type: 'delete', source: { connectionId: 'sandbox', path: '/never' } };
    const url = 'http://127.0.0.1:9/';
    const life = { connectionId: 'sandbox', expiresAt: new Date(Date.now() + 86_400_000).toISOString() };

    interface Place {
      /** The page with the menu. */
      readonly at: string;
      readonly button: string;
      readonly item: string;
      /** Changes the shown data without the page. */
      readonly change: () => Promise<unknown>;
      /** Visible once the page has read it. */
      readonly news: string;
      /** The address of the item, if it is deleted after the test. */
      readonly path?: string;
    }
    /** An item whose name the page shows. */
    const named = (path: string, place: Omit<Place, 'change' | 'news'>, method = 'PATCH'): Place => ({
      ...place,
      path,
      news: 'After',
      change: () => manage(page, method, path, { name: 'After' }),
    });

    const PLACES: Readonly<Record<string, () => Promise<Place>>> = {
      'of a connection': async () => {
        const id = await made('/manage/connections/sandbox/duplicate', { id: 'reloaded', name: 'Before' });
        return named(`/manage/connections/${id}`, { at: `/connections/${id}`, button: 'More', item: 'Delete …' });
      },
      'of a watched folder': async () => {
        const folder = { connectionId: 'sandbox', path: '/', name: 'Before', webhookUrl: url };
        const id = await made('/manage/watched-folders', folder);
        return named(`/manage/watched-folders/${id}`, {
          at: `/watched/${id}`,
          button: 'More',
          item: 'Stop watching …',
        });
      },
      'of a webhook': async () => {
        const id = await made('/api/webhooks', { url, events: ['job.finished'] }, 'webhook');
        const path = `/api/webhooks/${id}`;
        return {
          at: `/webhooks/${id}`,
          button: 'More',
          item: 'Delete …',
          path,
          news: 'connection.up',
          change: () => manage(page, 'PATCH', path, { events: ['connection.up'] }),
        };
      },
      'of a schedule': async () => {
        const id = await made(
          '/api/schedules',
          { name: 'Before', cron: '0 4 * * *', timeZone: 'UTC', job },
          'schedule',
        );
        return named(`/api/schedules/${id}`, { at: `/schedules/${id}`, button: 'More', item: 'Delete …' });
      },
      'of a row of schedules': async () => {
        const id = await made(
          '/api/schedules',
          { name: 'Before', cron: '0 4 * * *', timeZone: 'UTC', job },
          'schedule',
        );
        return named(`/api/schedules/${id}`, { at: '/schedules', button: 'More for Before', item: 'Delete …' });
      },
      'of a row of API keys': async () => {
        const id = await made('/manage/api-keys', { name: 'Before' }, 'apiKey');
        return named(`/manage/api-keys/${id}`, { at: '/keys', button: 'Actions for Before', item: 'Revoke …' });
      },
      'of a row of links': async () => {
        const id = await made('/api/links', { ...life, operation: 'upload', path: '/before' }, 'link');
        return {
          at: '/links',
          button: 'Actions for /before',
          item: 'Revoke …',
          path: `/api/links/${id}`,
          news: '/after',
          change: () => made('/api/links', { ...life, operation: 'upload', path: '/after' }, 'link'),
        };
      },
      'of a row of files': async () => {
        await write('before.txt', 'before');
        return {
          at: '/files/sandbox?path=/',
          button: 'Actions for before.txt',
          item: 'Delete …',
          news: 'after.txt',
          change: () => write('after.txt', 'after'),
        };
      },
    };
    for (const [name, make] of Object.entries(PLACES)) {
      test(`the menu ${name}`, async () => {
        const { at, button, item, change, news, path } = await make();
        await open(at, button);
        const entry = page.getByRole('menuitem', { name: item });
        await entry.waitFor();
        const opened = await entry.elementHandle();
        await change();
        await readAgain();
        await page.locator('main').getByText(news, { exact: true }).first().waitFor({ state: 'attached' });
        assert.ok(await opened?.isVisible(), 'it is the same menu, still open');
        await entry.click();
        await page.getByRole('dialog').waitFor();
        if (path !== undefined) await manage(page, 'DELETE', path);
      });
    }

    test('the menu of a new connection, while its data is being loaded again', async () => {
      const id = await made('/manage/connections/sandbox/duplicate', { id: 'saved', name: 'Before' });
      await page.goto(`/connections/${id}`);
      await name().fill('After');
      let release = (): void => undefined;
      const held = new Promise<void>((resolve) => (release = resolve));
      await page.route(`**/manage/connections/${id}`, async (route) => {
        if (route.request().method() === 'GET') await held;
        await route.continue();
      });
      const loading = page.waitForRequest((one) => one.method() === 'GET' && one.url().endsWith(`/connections/${id}`));
      await page.getByRole('button', { name: 'Save changes' }).click();
      const loaded = (await loading).response();
      await page.getByRole('button', { name: 'More' }).click();
      const entry = page.getByRole('menuitem', { name: 'Delete …' });
      await entry.waitFor();
      release();
      await loaded;
      // The form is ready for further changes once the new data is drawn.
      await page.locator('button:not([aria-busy=true])', { hasText: 'Save changes' }).waitFor({ state: 'attached' });
      await entry.click();
      await page.getByRole('dialog').getByRole('button', { name: 'Keep', exact: true }).click();
      assert.equal(await name().inputValue(), 'After');
      await manage(page, 'DELETE', `/manage/connections/${id}`);
    });

    test('the form of a connection: input stays, and the other fields are updated', async () => {
      const id = await made('/manage/connections/sandbox/duplicate', { id: 'typed', name: 'Before' });
      await page.goto(`/connections/${id}`);
      const user = page.getByRole('textbox', { name: 'User name', exact: true });
      await user.fill('typed');
      await manage(page, 'PATCH', `/manage/connections/${id}`, { name: 'After' });
      await readAgain();
      await heading('After').waitFor();
      assert.deepEqual([await user.inputValue(), await name().inputValue()], ['typed', 'After']);
      const sent = page.waitForRequest((one) => one.method() === 'PATCH');
      await page.getByRole('button', { name: 'Save changes' }).click();
      assert.deepEqual((await sent).postDataJSON(), { username: 'typed' });
      await manage(page, 'DELETE', `/manage/connections/${id}`);
    });

    test('the form of a watched folder in its dialog', async () => {
      const folder = { connectionId: 'sandbox', path: '/', name: 'Before', webhookUrl: url };
      const path = `/manage/watched-folders/${await made('/manage/watched-folders', folder)}`;
      await open(path.replace('/manage/watched-folders', '/watched'), 'Edit …');
      const pattern = page.getByRole('dialog').getByRole('textbox', { name: 'Only files matching' });
      await pattern.fill('*.typed');
      await manage(page, 'PATCH', path, { name: 'After' });
      await readAgain();
      await page.locator('main h1', { hasText: 'After' }).waitFor({ state: 'attached' });
      assert.equal(await pattern.inputValue(), '*.typed');
      const sent = page.waitForRequest((one) => one.method() === 'PATCH');
      await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
      assert.deepEqual((await sent).postDataJSON(), { filePattern: '*.typed' });
      await manage(page, 'DELETE', path);
    });

    test('a text that was opened by its address and is being changed', async () => {
      await write('open.txt', 'one\n');
      await open('/files/sandbox?path=/&file=open.txt', 'Edit');
      const text = page.getByLabel('Text of the file');
      await text.fill('typed\n');
      await write('open.txt', 'longer than before\n');
      await write('sign.txt', '');
      await readAgain();
      await page.locator('.file-row', { hasText: 'sign.txt' }).waitFor({ state: 'attached' });
      assert.equal(await text.inputValue(), 'typed\n');
      await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
      await page.getByText('The file changed since you opened it').waitFor();
    });
  });

  test('a technical term is explained by the button beside it', async () => {
    await page.goto('/connections/new');
    await page.getByRole('button', { name: 'What is “Host key”?' }).click();
    await page.getByText('An SSH server proves its identity with this key.').waitFor();
    assert.deepEqual(await violations(page), []);
    await page.keyboard.press('Escape');
    await page.getByText('An SSH server proves its identity with this key.').waitFor({ state: 'detached' });
  });

  test('the menu fits a laptop without scrolling, and the bell shows what has finished', async () => {
    await page.setViewportSize({ width: 1280, height: 800 });
    const room = await page.evaluate<{ scroll: number; client: number }>(
      `(({ scrollHeight, clientHeight }) => ({ scroll: scrollHeight, client: clientHeight }))(document.querySelector('.side .sidebar'))`,
    );
    assert.ok(room.scroll <= room.client, `the menu is ${room.scroll} high, the window ${room.client}`);
    const bell = page.locator('.side').getByRole('button', { name: /^Notifications/ });
    await bell.click();
    const news = page.getByRole('dialog', { name: 'Notifications' });
    await news.getByText('Needs attention').waitFor();
    assert.deepEqual(await violations(page), []);
    await page.keyboard.press('Escape');
    await news.waitFor({ state: 'detached' });
    await page.goto('/files/sandbox?path=/');
    await page.getByLabel('Files to upload').setInputFiles({
      name: 'sent.txt',
      mimeType: 'text/plain',
      buffer: Buffer.from('sent'),
    });
    await page.locator('.side').getByRole('button', { name: 'Notifications: 0 need attention, 1 finished' }).click();
    await news.getByRole('link', { name: /1 file done/ }).waitFor();
    assert.deepEqual(window.faults, []);
  });

  test('all screens have one width and one left edge', async () => {
    const { page: large, context } = await desk.open({ width: 2560, height: 1440 });
    await logIn(large);
    const places = await large.evaluate<string[]>(
      `Array.from(document.querySelectorAll('.side nav a'), ({ href }) => href)`,
    );
    const found: Record<string, string> = {};
    for (const place of [...places, '/jobs/new', '/schedules/new', '/connections/new', '/connections/sandbox']) {
      await large.goto(place);
      await large.locator('.page h1').waitFor();
      found[place] = await large.evaluate<string>(`(() => {
        const [page, title] = ['.page', '.page h1'].map((one) => document.querySelector(one).getBoundingClientRect());
        return [page.left, page.width, title.left].join();
      })()`);
    }
    assert.equal(new Set(Object.values(found)).size, 1, JSON.stringify(found, undefined, 1));
    await context.close();
  });
});
