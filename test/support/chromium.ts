/** The browser of the tests: Chromium without windows, which costs a third less processor time. */
import { chromium, type Browser } from 'playwright-core';
import { PATIENCE_MS } from './eventually.js';

const PROGRAM = '/usr/bin/chromium-headless-shell';
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
  return chromium.launch({ executablePath: PROGRAM, args: FLAGS, timeout: PATIENCE_MS });
}
