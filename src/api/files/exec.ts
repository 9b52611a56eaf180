import { Type } from 'typebox';
import { refusal } from '../../base/errors.js';
import { object, success, text, withDefault } from '../../contract/schema.js';
import { connectionParameter } from '../../contract/file-request.js';
import * as changes from '../../operations/change.js';
import { endpoint } from '../endpoint.js';
import { durationMs } from '../fields.js';
import { connectionIn, operationFor, type Services } from '../services.js';

/** Output exists three times: as bytes, as text and as JSON. */
const OUTPUT_COPIES = 3;

export const runCommand = endpoint({
  method: 'POST',
  path: '/api/exec/:connectionId',
  access: 'exec',
  operationId: 'runCommand',
  tag: 'Commands',
  summary: 'Run an SSH command',
  description: 'Runs a shell command on the server of an SFTP connection. The timeout kills it.',
  params: connectionParameter,
  body: object('ExecRequest', {
    command: text('Run by the login shell of the remote server.', { minLength: 1, maxLength: 131072 }),
    timeout: withDefault(
      Type.Integer({ minimum: 1, maximum: 60000, description: 'Milliseconds until the command is killed.' }),
      30000,
    ),
  }),
  bodyExamples: { checksum: { command: 'sha256sum /upload/report.pdf', timeout: 10000 } },
  answer: {
    description: 'The command ended, with any exit code.',
    schema: object('ExecAnswer', {
      success: success(),
      exitCode: Type.Integer({ description: 'The exit code of the command; 128 plus its number after a signal.' }),
      stdout: text('Output of the command.'),
      stderr: text('Error output of the command.'),
      durationMs: durationMs(),
    }),
    example: {
      success: true,
      exitCode: 0,
      stdout: '2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824  /upload/report.pdf\n',
      stderr: '',
      durationMs: 52,
    },
  },
  isRemote: true,
  errors: ['unsupported_operation', 'quota_exceeded', 'not_found', 'command_timeout'],
}).handle(async (input, services: Services) => {
  const { command, timeout } = input.body;
  const connection = await connectionIn(input, services);
  changes.requireShell(connection);
  // A shell's command line ends at a NUL: the rest would silently not run.
  if (command.includes('\0')) throw refusal('bad_request', 'command must not hold a NUL');
  const memory = input.request.claims.memory.hold();
  const onOutput = (bytes: number): void => memory.require(bytes * OUTPUT_COPIES);
  const options = { timeoutMs: timeout, maxOutputBytes: services.limits.execOutputBytes, onOutput };
  // The command may contain secrets: the history shows only the program's name, and none if the command begins with
  // anything else, such as `PASSWORD=… program`.
  const program = /^\s*([\w./+-]+)(?=\s|$)/.exec(command)?.[1] ?? '';
  const { result, durationMs } = await services.operations.run(
    operationFor(input, connection, 'exec', '', program.slice(0, 255)),
    (operation) => changes.runCommand(operation, command, options),
  );
  // From here on the answer counts instead.
  memory.resize(0);
  const { exitCode, stdout, stderr } = result;
  return { success: true, exitCode, stdout, stderr, durationMs };
});
