/** The sandbox's receivers of webhooks: their addresses, and what they received. */
import { Type } from 'typebox';
import { refusal } from '../../base/errors.js';
import { count, dateTime, listOf, object, text } from '../../contract/schema.js';
import { SINK_PATHS } from '../../sandbox/sink.js';
import { connectionOf } from '../services.js';
import { endpoints } from '../endpoint.js';

const CONNECTION_ID = 'sandbox';

const receiver = object('SandboxReceiver', {
  url: text('Give this to a webhook or a watched folder.'),
  does: text('How it answers.'),
});

const request = object('SandboxRequest', {
  receivedAt: dateTime('When it had come.'),
  path: text('Which of the receivers it was for.'),
  status: Type.Unsafe<number | null>({
    type: ['integer', 'null'],
    description: 'Status of the answer; null when there is none, or none yet.',
  }),
  headers: Type.Unsafe<Readonly<Record<string, string>>>({
    type: 'object',
    additionalProperties: { type: 'string' },
    description: 'Header fields, by lower-case name.',
  }),
  body: text('The first 64 KiB of the body, as text.'),
  bodyBytes: count('How long the body was.'),
});

const endpoint = endpoints('Events');
export const sandboxEndpoints = endpoint.all;

endpoint('GET /api/sandbox/webhooks', {
  access: 'watch',
  operationId: 'listSandboxWebhooks',
  summary: 'Look at the receiver of the sandbox',
  description:
    'Receivers of the gateway’s own, to try webhooks with, and the last 50 requests that they received. They are there where the sandbox is on, for its account alone.',
  answer: {
    schema: object('SandboxWebhooksAnswer', {
      receivers: listOf(receiver, 'One for each way to answer.'),
      requests: listOf(request, 'Newest first.'),
    }),
    example: {
      receivers: [{ url: 'http://127.0.0.1:40123/500', does: SINK_PATHS['/500'] ?? '' }],
      requests: [
        {
          receivedAt: '2026-01-31T12:00:00.000Z',
          path: '/500',
          status: 500,
          headers: { 'content-type': 'application/json', 'webhook-id': '0199c2f4-6f5e-7c1a-9a51-0d2f64b1a001' },
          body: '{"type":"job.finished"}',
          bodyBytes: 23,
        },
      ],
    },
  },
  errors: ['unknown_connection', 'forbidden'],
}).handle(async ({ caller }, services) => {
  await connectionOf(services, caller, CONNECTION_ID);
  const { sandbox } = services;
  if (sandbox?.accountId !== caller.accountId) {
    throw refusal(
      'unknown_connection',
      'this account has no sandbox that runs: "sandbox" of the configuration switches it on',
    );
  }
  const { address, port } = sandbox.receiver;
  return {
    receivers: Object.entries(SINK_PATHS).map(([path, does]) => ({ url: `http://${address}:${port}${path}`, does })),
    requests: (await sandbox.received()).map((one) => ({ ...one })),
  };
});
