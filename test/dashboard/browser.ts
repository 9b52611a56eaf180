/** A gateway with an owner who logs in, in Chromium. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { openAccount } from '../support/account.js';
import { launchChromium } from '../support/chromium.js';
import { eventually } from '../support/eventually.js';
import { startGateway, type TestGateway } from '../support/gateway.js';

export const EMAIL = 'ops@example.com';
/** A new, empty account. */
export const NEWCOMER = 'new@example.com';
export const PASSWORD = 'correct horse battery';
/** Only for assertions that something never appears. */
const STEP_MS = 120_000;
const MAX_TABS = 80;

/** For `addInitScript`: toasts stay, so that a slow machine does not end them during the test. */
export const KEEP_TOASTS = `{
  const real = setTimeout;
  globalThis.setTimeout = (run, ms, ...rest) => (ms === 5_000 || ms === 12_000 ? 0 : real(run, ms, ...rest));
}`;

export interface Desk {
  readonly gateway: Pick<TestGateway, 'url' | 'api'>;
  readonly browser: Browser;
  /** The files of the connection `sandbox`, on this disk. */
  readonly sandboxFolder: string;
  /** A separate window without a login. */
  open(options?: OpenOptions): Promise<Window>;
  close(): Promise<void>;
}

export interface OpenOptions {
  readonly width?: number;
  readonly height?: number;
  readonly scheme?: 'light' | 'dark';
  readonly locale?: string;
  /** A window with the same login, which nothing is cached in. */
  readonly loggedInLike?: BrowserContext;
}

export interface Window {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Problems of the page: violations of the content security policy, exceptions, requests to other hosts. */
  readonly faults: string[];
}

/**
 * `config`: starts a separate gateway with these keys in its configuration file. If absent, it is an account of the
 * shared one.
 */
export async function openDesk(config?: Readonly<Record<string, unknown>>): Promise<Desk> {
  const { gateway, sandboxFolder, stop } = await (config === undefined ? openShared() : startOwn(config));
  const browser = await launchChromium();
  return {
    gateway,
    browser,
    sandboxFolder,
    open: (options) => openWindow(browser, gateway.url, options),
    close: async () => {
      await browser.close();
      await stop();
    },
  };
}

type OpenGateway = Pick<Desk, 'gateway' | 'sandboxFolder'> & { readonly stop: () => Promise<void> };

async function openShared(): Promise<OpenGateway> {
  const account = await openAccount({
    isPrompt: true,
    sandbox: true,
    email: EMAIL,
    password: PASSWORD,
    apiKeys: [],
    other: { email: NEWCOMER, password: PASSWORD, plan: 'free', apiKeys: [] },
  });
  return { gateway: account, sandboxFolder: account.sandboxFolder, stop: () => account.stop() };
}

async function startOwn(config: Readonly<Record<string, unknown>>): Promise<OpenGateway> {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'ftg-dashboard-'));
  const gateway = await startGateway({
    dataDir,
    config: {
      sandbox: true,
      network: { webhooks: { allow: ['127.0.0.0/8'] } },
      webhooks: { retryMs: [50] },
      watcher: { settleMs: 0 },
      accounts: [
        { email: EMAIL, plan: 'pro', password: PASSWORD, apiKeys: [], connections: [] },
        { email: NEWCOMER, plan: 'free', password: PASSWORD, apiKeys: [], connections: [] },
      ],
      ...config,
    },
  });
  return {
    gateway,
    sandboxFolder: path.join(dataDir, 'sandbox'),
    stop: async () => {
      await gateway.stop();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

async function openWindow(browser: Browser, baseURL: string, options: OpenOptions = {}): Promise<Window> {
  const { width = 1280, height = 800, scheme = 'light', locale = 'en-GB', loggedInLike } = options;
  const context = await browser.newContext({
    baseURL,
    viewport: { width, height },
    colorScheme: scheme,
    locale,
    ...(loggedInLike === undefined ? {} : { storageState: await loggedInLike.storageState() }),
    timezoneId: 'UTC',
    permissions: ['clipboard-read', 'clipboard-write'],
    reducedMotion: 'reduce',
  });
  context.setDefaultTimeout(STEP_MS);
  const page = await context.newPage();
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(`exception: ${error.message}`));
  page.on('console', (message) => {
    if (/Content Security Policy|violates/i.test(message.text())) faults.push(message.text());
  });
  page.on('request', (request) => {
    const url = request.url();
    if (!url.startsWith(baseURL) && !url.startsWith('data:') && !url.startsWith('blob:')) faults.push(`asks ${url}`);
  });
  return { page, context, faults };
}

export async function logIn(page: Page, email = EMAIL): Promise<void> {
  await page.goto('/');
  await page.getByLabel('E-mail').fill(email);
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Log in' }).click();
  await page
    .getByRole('navigation', { name: 'Main' })
    .or(page.getByRole('button', { name: 'Menu' }))
    .first()
    .waitFor();
}

/** Opens a screen whose form has no draft of an earlier test. */
export async function goWithoutDrafts(page: Page, address: string): Promise<void> {
  await page.evaluate('sessionStorage.clear()');
  await page.goto(address);
}

/** The management API with the session of this page, for preparations of a test. */
export async function manage(
  page: Page,
  method: string,
  path: string,
  body?: unknown,
): Promise<Record<string, unknown>> {
  // A kept connection may have been closed meanwhile: then the session is requested again, on a new connection for the
  // next request.
  const session = await page.request.get('/manage/session', { maxRetries: 3 });
  const { csrfToken } = (await session.json()) as { csrfToken: string };
  const answer = await page.request.fetch(path, {
    method,
    headers: { 'X-CSRF-Token': csrfToken },
    ...(body === undefined ? {} : { data: body }),
  });
  if (!answer.ok()) throw new Error(`${method} ${path}: ${answer.status()} ${await answer.text()}`);
  return (await answer.json()) as Record<string, unknown>;
}

/** What a button has copied, once it is this text: the page writes it after the click. */
export async function copied(page: Page, wanted: string | ((text: string) => boolean)): Promise<string> {
  const isWanted = typeof wanted === 'string' ? (text: string) => text === wanted : wanted;
  let text = '';
  await eventually(async () => {
    text = await page.evaluate<string>('navigator.clipboard.readText()');
    return isWanted(text);
  }, 'the text in the clipboard');
  return text;
}

/** The name of the focused element: its label, or its text. */
export function focusOf(page: Page): Promise<string> {
  return page.evaluate<string>(`(() => {
    const at = document.activeElement;
    if (at === document.body) return '';
    return (at.getAttribute('aria-label') ?? at.labels?.[0]?.textContent ?? at.textContent ?? '').trim();
  })()`);
}

/** Presses Tab until an element with this name has the focus. */
export async function tabIn(page: Page, name: string | RegExp): Promise<void> {
  for (let tabs = 0; tabs < MAX_TABS; tabs++) {
    await page.keyboard.press('Tab');
    const now = await focusOf(page);
    if (typeof name === 'string' ? now === name || now === `${name}required` : name.test(now)) return;
  }
  throw new Error(`${String(name)} cannot be reached with Tab; the focus is on ${await focusOf(page)}`);
}
