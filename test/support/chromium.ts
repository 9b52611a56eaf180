/** The browser of the tests. */
import { fileURLToPath } from 'node:url';
import { chromium, type Browser } from 'playwright-core';
import { PATIENCE_MS } from './eventually.js';

const PROGRAM = '/usr/bin/chromium';
const START = fileURLToPath(new URL('../../../test/support/chromium.sh', import.meta.url));
const FLAGS = [
  // Tests run as root; the browser opens only our own pages.
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

export function launchChromium(): Promise<Browser> {
  const env = { ...process.env, CHROMIUM: PROGRAM };
  return chromium.launch({ executablePath: START, args: FLAGS, env, timeout: PATIENCE_MS });
}
