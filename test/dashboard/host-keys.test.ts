/** Announced host keys: the owner sees them on the page of the connection, and accepts or rejects each. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { startSshd, type TestSshd } from '../servers/sshd.js';
import { eventually } from '../support/eventually.js';
import { logIn, manage, openDesk, type Desk, type Window } from './browser.js';

const AT = '/manage/connections/rotating/host-keys';
let desk: Desk;
let window: Window;
let page: Page;
let sshd: TestSshd;
let folder: string;

before(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'ftg-host-keys-'));
  [desk, sshd] = await Promise.all([openDesk(), startSshd()]);
  window = await desk.open();
  ({ page } = window);
  await logIn(page);
});
after(async () => {
  await Promise.all([desk?.close(), sshd?.stop()]);
  rmSync(folder, { recursive: true, force: true });
});

function newKey(name: string): { readonly file: string; readonly fingerprint: string } {
  const file = path.join(folder, name);
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', file]);
  const output = execFileSync('ssh-keygen', ['-lf', `${file}.pub`], { encoding: 'utf8' });
  return { file, fingerprint: output.split(' ')[1] ?? '' };
}

test('announced host keys are shown with their fingerprints, accepted and rejected', async () => {
  const [wanted, unwanted, known] = [newKey('wanted'), newKey('unwanted'), newKey('known')];
  await sshd.restart([sshd.hostKeyFile, known.file]);
  await manage(page, 'POST', '/manage/connections', {
    id: 'rotating',
    name: 'Rotating',
    type: 'sftp',
    host: '127.0.0.1',
    port: sshd.port,
    username: sshd.username,
    privateKey: readFileSync(sshd.clientKeyFile, 'utf8'),
    defaultPath: sshd.files,
    // Each operation logs in again, and gets the announcement again.
    pool: { idleTimeoutMs: 1 },
  });
  await page.goto('/files/rotating');
  const states = async (): Promise<Record<string, string>> => {
    const { announced } = (await manage(page, 'GET', AT)) as { announced: { fingerprint: string; state: string }[] };
    return Object.fromEntries(announced.map(({ fingerprint, state }) => [fingerprint, state]));
  };
  await eventually(async () => Object.keys(await states()).length === 2, 'the server has announced two keys');
  await page.goto('/');
  await page.getByText('Nothing right now.').waitFor();
  await sshd.restart([sshd.hostKeyFile, known.file, wanted.file, unwanted.file]);
  await eventually(async () => {
    await manage(page, 'GET', '/api/list/rotating').catch(() => undefined);
    return Object.keys(await states()).length === 4;
  }, 'the server has announced four keys');

  await page.goto('/connections/rotating');
  await page.getByRole('heading', { name: 'Announced host keys' }).waitFor();
  const of = (fingerprint: string) => page.getByRole('listitem').filter({ hasText: fingerprint }).last();
  await of(known.fingerprint).getByText('not used, known from the start').waitFor();
  await of(wanted.fingerprint).getByText('needs a decision').waitFor();
  await page.getByRole('button', { name: `Accept ${wanted.fingerprint}` }).click();
  await of(wanted.fingerprint).getByText('trusted', { exact: true }).waitFor();
  await page.getByRole('button', { name: `Reject ${unwanted.fingerprint}` }).click();
  await of(unwanted.fingerprint).getByText('rejected', { exact: true }).waitFor();
  const { [wanted.fingerprint]: yes, [unwanted.fingerprint]: no } = await states();
  assert.deepEqual([yes, no], ['trusted', 'rejected']);
  await page.goto('/audit');
  await page.getByText('host key was rejected').first().waitFor();
  await page.getByText('host key was accepted').first().waitFor();
  assert.deepEqual(window.faults, []);
});
