/** The result of a connection test, for the API and for the tester. */
import { type Static, Type } from 'typebox';
import { advice, ADVICE_CODES, TEST_STEPS } from '../../contract/advice.js';
import { component, dateTime, flag, listOf, object, oneOf, orNull, text } from '../../contract/schema.js';
import { FINGERPRINT_EXAMPLE, TIME } from '../../contract/examples.js';
import { durationMs, errorAnswer } from '../fields.js';

/** The known facts differ between protocols and between servers. */
const serverCard = component(
  'ServerCard',
  Type.Unsafe<Readonly<Record<string, unknown>>>({
    type: 'object',
    additionalProperties: true,
    properties: { testedAt: dateTime('When it was tested.') },
  }),
);
export const card = orNull(serverCard, 'What was learned of the server; null before that.');

const testStep = object('TestStep', {
  name: oneOf(TEST_STEPS, 'The step.'),
  status: oneOf(['ok', 'failed', 'skipped'], 'State.'),
  durationMs: Type.Optional(durationMs()),
  detail: Type.Optional(text('What was found.')),
  error: Type.Optional(errorAnswer.properties.error),
  code: Type.Optional(text('The code of the error.')),
  advice: Type.Optional(text('What to do about it.')),
  adviceCode: Type.Optional(oneOf(ADVICE_CODES, 'The code of the advice, for programs that show texts of their own.')),
});

export const sampleReport = {
  isOk: false,
  testedAt: TIME,
  durationMs: 412,
  steps: [
    { name: 'resolve', status: 'ok', durationMs: 3, detail: 'sftp.example.com is 192.0.2.7' },
    { name: 'connect', status: 'ok', durationMs: 21, detail: '192.0.2.7 port 22' },
    { name: 'host_key', status: 'ok', durationMs: 40, detail: `${FINGERPRINT_EXAMPLE} (pinned)` },
    {
      name: 'login',
      status: 'failed',
      durationMs: 348,
      error: 'the server refused the login',
      code: 'login_refused',
      advice: advice.login_refused,
      adviceCode: 'login_refused',
    },
    { name: 'list', status: 'skipped' },
  ],
  hostKey: { fingerprint: FINGERPRINT_EXAMPLE, state: 'pinned' },
  certificate: null,
  card: null,
} as const;

export const testReport = object('TestReport', {
  isOk: flag('Whether every step went through.'),
  testedAt: dateTime('When it was tested.'),
  durationMs: durationMs(),
  steps: listOf(testStep, 'In their order; after a failing one the others are skipped.'),
  hostKey: orNull(
    Type.Object({
      fingerprint: text('SHA-256 fingerprint, as OpenSSH shows it.'),
      state: oneOf(
        ['pinned', 'certified', 'new', 'mismatch'],
        'How it compares with the pinned ones; `certified` = by an authority in hostCa.',
      ),
    }),
    'The host key that the server showed; null where it did not come so far.',
  ),
  certificate: orNull(
    Type.Object({
      subject: text('Whose it is.'),
      issuer: text('Who signed it.'),
      validTo: dateTime('When it expires.'),
      fingerprint: text('SHA-256 fingerprint.'),
      protocol: text('Version of TLS.'),
    }),
    'The TLS certificate of the server; null where there is none.',
  ),
  card,
});

export type StepReport = Static<typeof testStep>;
/** Sent unchanged, except for its time. */
export type TestReport = Static<typeof testReport> & { readonly testedAt: Date };
