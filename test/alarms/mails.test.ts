/**
 * Alarms are sent by mail: once for all nodes, at most every 15 minutes, not in quiet hours, and not lost while the
 * mail server is away. A failure is a mail that comes twice, too soon, or never.
 */
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { AlarmWatch } from '../../src/alarms/alarms.js';
import { Mailer } from '../../src/alarms/mailer.js';
import { AlarmService } from '../../src/alarms/service.js';
import type { AlarmSettings } from '../../src/contract/alarm.js';
import { ATTENTION_KINDS } from '../../src/contract/attention.js';
import type { Actor, Storage } from '../../src/storage/storage.js';
import { Sequencer } from '../../src/events/sequencer.js';
import { type MailServer, startMailServer } from '../servers/mail.js';
import { DATABASES, openTest, type TestServer, until, withSql } from '../storage/databases.js';
import { ACCOUNT, accountOf } from '../storage/provisioned.js';

const OPS = ACCOUNT.email;
const MINUTE = 60_000;
const ON: AlarmSettings = { isOn: true, kinds: ATTENTION_KINDS, language: 'en', quiet: null, urgentBreaksQuiet: false };
const log = (): void => undefined;

for (const kind of DATABASES) {
  describe(`mails of alarms, ${kind.name}`, { timeout: 900_000 }, () => {
    let server: TestServer;
    let mails: MailServer;
    let url: string;
    let nodes: Storage[];
    let watches: AlarmWatch[];
    let service: AlarmService;
    let sequencer: Sequencer;
    let actor: Actor;
    let accountId: string;
    /** The clock for waiting mails. */
    let now: Date;

    before(async () => {
      server = await kind.start();
      mails = await startMailServer({ user: 'gate way', password: 'p@ss:word/' });
    });
    after(async () => {
      await sequencer?.stop();
      await Promise.all((nodes ?? []).map((storage) => storage.close()));
      await server?.stop();
      await mails?.stop();
    });
    beforeEach(async () => {
      await sequencer?.stop();
      await Promise.all((nodes ?? []).map((storage) => storage.close()));
      (mails.taken as unknown[]).length = 0;
      url = await server.createDatabase();
      const storage = await openTest(url);
      nodes = [storage, await openTest(url)];
      await storage.provision([ACCOUNT]);
      ({ accountId } = await accountOf(storage));
      actor = { accountId, kind: 'session', id: null, email: OPS, address: '127.0.0.1', requestId: 'r' };
      now = new Date('2026-11-23T12:00:00Z');
      const mailer = new Mailer({ url: mails.url, from: 'Alarms <alarms@example.com>' });
      watches = nodes.map(
        (one) =>
          new AlarmWatch({
            storage: one,
            mailer,
            log,
            everySeconds: 60,
            publicUrl: 'https://gateway.example.com/',
            monthlyActions: () => 0,
            clock: () => now,
          }),
      );
      service = new AlarmService(storage.alarmRecipients, mailer);
      sequencer = new Sequencer({ ...storage.events, retentionDays: 30, perAccount: 1_000, log });
      sequencer.start();
    });

    const sql = async (text: string): Promise<void> => {
      await withSql(url, (db) => db.unsafe(text));
    };
    const set = async (settings: Partial<AlarmSettings> = {}, addresses = [OPS]): Promise<void> => {
      await service.save(actor, { ...ON, ...settings }, addresses);
      // By the clock of the test, not of the database.
      await sql(`update alarm_recipients set not_before = 'epoch'`);
    };
    /** All nodes at once check every account, and then for mails. */
    const round = async (): Promise<void> => {
      await watches[0]?.check();
      await sql('update alarm_accounts set look_at = now()');
      await Promise.all(watches.map((watch) => watch.check()));
      await Promise.all(watches.map((watch) => watch.mail()));
    };
    const fails = (connection: string, error = 'login refused'): Promise<void> =>
      withSql(url, async (db) => {
        await db`insert into connection_tests (connection_id, tested_at, is_ok, failed_step, error)
          values (${connection}, now(), false, 'login', ${error})`;
      });
    const expires = (): Promise<void> => sql(`update api_keys set expires_at = now() + interval '1 day'`);
    const later = (minutes: number): void => void (now = new Date(now.getTime() + minutes * MINUTE));
    const reported = async (): Promise<readonly { type: string; data: Record<string, string> }[]> => {
      const page = await nodes[0]?.events.feeds.read(accountId, { after: 0, limit: 100, connections: undefined });
      return (page?.events ?? []).map(({ body }) => JSON.parse(body) as { type: string; data: Record<string, string> });
    };
    const subjects = (): readonly string[] => mails.taken.map(({ subject }) => subject);

    test('one mail and one event, however many nodes look; the end is an event too', async () => {
      await set();
      await round();
      assert.equal(mails.taken.length, 0);
      await fails('warehouse');
      await round();
      await round();
      assert.deepEqual(subjects(), ['Connection "Warehouse" fails: login refused']);
      const [mail] = mails.taken;
      assert.match(mail?.text ?? '', /https:\/\/gateway\.example\.com\/connections\/warehouse/);
      assert.match(mail?.headers ?? '', /^Auto-Submitted: auto-generated\r?$/m);
      await sql('delete from connection_tests');
      await round();
      await until(async () => ((await reported()).length === 2 ? true : undefined), 'both events are numbered');
      assert.deepEqual(
        (await reported()).map(({ type, data }) => [type, data['kind'], data['connectionId']]),
        [
          ['attention.raised', 'connection_failing', 'warehouse'],
          ['attention.cleared', 'connection_failing', 'warehouse'],
        ],
      );
      assert.equal(mails.taken.length, 1, 'what is over is no reason for a mail');
    });

    test('alarms within a quarter of an hour wait, and are then sent in one mail', async () => {
      await set();
      await fails('warehouse');
      await round();
      await expires();
      later(14.9);
      await round();
      assert.equal(mails.taken.length, 1);
      await sql('delete from connection_tests');
      later(0.1);
      await round();
      assert.equal(mails.taken.length, 2);
      const text = mails.taken[1]?.text ?? '';
      assert.match(text, /This needs attention:\s+- API key "ci" expires/);
      assert.match(text, /This is resolved:\s+- Connection "Warehouse"/);
      later(60);
      await round();
      assert.equal(mails.taken.length, 2, 'nothing is new');
    });

    test('nothing is lost while the mail server is away, and the reason is shown', async () => {
      await set();
      await mails.stop();
      await fails('warehouse');
      await round();
      const [recipient] = (await service.show(accountId)).recipients;
      assert.match(recipient?.error ?? '', /cannot be reached/);
      assert.ok(!(recipient?.error ?? '').includes('p@ss'), 'the login is shown');
      await mails.start();
      await round();
      assert.equal(mails.taken.length, 0, 'it is tried again too soon');
      await expires();
      later(0.5);
      await round();
      assert.deepEqual(subjects(), ['2 things need attention: Connection "Warehouse" fails: login refused']);
      assert.equal((await service.show(accountId)).recipients[0]?.error, null);
    });

    test('after a day a mail is given up, and continuing alarms are in the next one', async () => {
      await set();
      mails.refuse(OPS);
      await fails('warehouse');
      await round();
      later(24 * 60);
      await round();
      mails.refuse(undefined);
      later(60);
      await round();
      assert.equal(mails.taken.length, 0);
      assert.match((await service.show(accountId)).recipients[0]?.error ?? '', /550/);
      await expires();
      await round();
      assert.match(mails.taken[0]?.text ?? '', /This still needs attention:\s+- Connection "Warehouse"/);
    });

    test('quiet hours hold mails back, by the clock of their zone; urgent alarms break them if allowed', async () => {
      const quiet = { from: '12:30', to: '14:00', timeZone: 'Europe/Berlin' };
      await set({ quiet });
      await fails('warehouse');
      await round();
      later(59);
      await round();
      assert.equal(mails.taken.length, 0);
      later(1);
      await round();
      assert.equal(mails.taken.length, 1);
      later(24 * 60 - 30);
      await set({ quiet, urgentBreaksQuiet: true });
      await expires();
      await round();
      assert.equal(mails.taken.length, 1, 'an expiring key is not urgent');
      await sql(`delete from connection_tests`);
      await round();
      await fails('warehouse', 'down again');
      await round();
      assert.equal(mails.taken.length, 2);
    });

    test('a mail that a dead node was about to send is sent by another', async () => {
      await set();
      await fails('warehouse');
      await watches[0]?.check();
      await sql('update alarm_accounts set look_at = now()');
      await watches[0]?.check();
      const [first, second] = nodes;
      assert.equal((await first?.alarmRecipients.claim(now, 10))?.length, 1);
      await watches[1]?.mail();
      assert.equal(mails.taken.length, 0, 'it is claimed');
      await sql(`update alarm_recipients set claimed_until = now() - interval '1 second'`);
      await watches[1]?.mail();
      assert.equal(mails.taken.length, 1);
      assert.equal((await second?.alarmRecipients.claim(now, 10))?.length, 0);
    });

    test('a refused recipient keeps no mail from the others; an unconfirmed one gets none', async () => {
      await set({}, [OPS, 'a@example.com', 'b@example.com']);
      await sql(`update alarm_recipients set confirmed_at = now() where address = 'a@example.com'`);
      mails.refuse('a@example.com');
      await fails('warehouse');
      await round();
      mails.refuse(undefined);
      assert.deepEqual(
        mails.taken.flatMap(({ to }) => to),
        [OPS],
      );
      later(1);
      await round();
      assert.deepEqual(
        mails.taken.flatMap(({ to }) => to),
        [OPS, 'a@example.com'],
      );
    });

    test('names and errors of servers begin no header, no line and no tag', async () => {
      await set();
      await withSql(url, (db) => db`update connections set name = ${'<b>A & "B"\u202e'} where id = 'warehouse'`);
      await fails('warehouse', 'no\r\nBcc: victim@example.com\r\n\r\n<img src=x onerror=alert(1)>');
      await round();
      const [mail] = mails.taken;
      assert.ok(mail !== undefined && mails.taken.length === 1);
      assert.deepEqual(mail.to, [OPS]);
      assert.doesNotMatch(mail.headers, /^Bcc:/m);
      assert.doesNotMatch(mail.text, /^Bcc:/m);
      assert.ok(!mail.html.includes('<img') && !mail.html.includes('<b>') && mail.html.includes('&lt;b&gt;A &amp; '));
      assert.ok(!`${mail.text}${mail.html}`.includes('\u202e'), 'text that runs backwards');
    });

    test('in German, of the kinds that were chosen', async () => {
      await set({ language: 'de', kinds: ['key_expiring'] });
      await fails('warehouse');
      await expires();
      await round();
      const text = mails.taken[0]?.text ?? '';
      assert.match(text, /Das braucht Aufmerksamkeit:\s+- Der API-Schlüssel „ci“ läuft ab/);
      assert.doesNotMatch(text, /Warehouse/);
    });
  });
}
