/** Endpoints that change and look at files and folders, and the one that runs commands. */
import * as answers from '../../answer-schemas.js';
import type { BodyForm, Description } from '../types.js';
import { file, folder, JSON_TYPE, transfer } from './samples.js';

function json(schema: object, value: unknown): Readonly<Record<string, BodyForm>> {
  return { [JSON_TYPE]: { schema, examples: { answer: { value } } } };
}

export const fileOperations: Readonly<Record<string, Description>> = {
  'POST /api/copy': {
    operationId: 'copyFile',
    tag: 'Files',
    summary: 'Copy a file between connections',
    description:
      'Streams a file from one connection to another, or lets the store copy it where both ends are one S3 store. Needs a plan with more than one connection, and a key with the scope `read` beside `write`.',
    bodyExamples: {
      copy: {
        value: {
          source_connection_id: 'warehouse',
          source_path: '/upload/report.pdf',
          dest_connection_id: 'lake',
          dest_path: '/reports/report.pdf',
        },
      },
    },
    success: {
      200: {
        description: 'The copy is there.',
        content: json(answers.copyAnswer, {
          success: true,
          source: { connectionId: 'warehouse', path: '/upload/report.pdf' },
          destination: { connectionId: 'lake', path: '/reports/report.pdf' },
          fileSize: 48213,
          durationMs: 210,
        }),
      },
    },
    isRemote: true,
    errors: [
      'plan_required',
      'quota_exceeded',
      'not_found',
      'already_exists',
      'is_a_folder',
      'sessions_exhausted',
      'no_space',
      'size_mismatch',
    ],
  },
  'POST /api/delete/:connectionId': {
    operationId: 'deleteFile',
    tag: 'Files',
    summary: 'Delete a file',
    description: 'Deletes one file. A missing file is 404, a folder 409.',
    bodyExamples: { file: { value: { path: '/upload/report.pdf' } } },
    success: {
      200: {
        description: 'The file is gone.',
        content: json(answers.deleteAnswer, { success: true, path: '/upload/report.pdf' }),
      },
    },
    isRemote: true,
    errors: ['quota_exceeded', 'not_found', 'is_a_folder'],
  },
  'POST /api/move/:connectionId': {
    operationId: 'moveFile',
    tag: 'Files',
    summary: 'Move or rename a file',
    description: 'Moves a file within a connection and creates missing folders.',
    bodyExamples: { rename: { value: { from: '/upload/report.pdf', to: '/archive/2026/report.pdf' } } },
    success: {
      200: {
        description: 'The file is at its new path.',
        content: json(answers.moveAnswer, {
          success: true,
          from: '/upload/report.pdf',
          to: '/archive/2026/report.pdf',
          durationMs: 40,
          transfer: { id: transfer.id },
        }),
      },
    },
    isRemote: true,
    errors: ['quota_exceeded', 'not_found', 'already_exists', 'is_a_folder', 'no_space', 'size_mismatch'],
  },
  'GET /api/list/:connectionId': {
    operationId: 'listFolder',
    tag: 'Folders',
    summary: 'List a folder',
    description: 'Files and folders of one folder: folders first, then by name in code-point order.',
    query: { path: '/upload' },
    success: {
      200: {
        description: 'What the folder holds.',
        content: json(answers.listAnswer, { success: true, path: '/upload', files: [folder, file] }),
      },
    },
    isRemote: true,
    errors: ['not_found'],
  },
  'POST /api/exec/:connectionId': {
    operationId: 'runCommand',
    tag: 'Commands',
    summary: 'Run an SSH command',
    description: 'Runs a shell command on the server of an SFTP connection. The timeout kills it.',
    bodyExamples: { checksum: { value: { command: 'sha256sum /upload/report.pdf', timeout: 10000 } } },
    success: {
      200: {
        description: 'The command ended, with whatever exit code.',
        content: json(answers.execAnswer, {
          success: true,
          exitCode: 0,
          stdout: '2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824  /upload/report.pdf\n',
          stderr: '',
          durationMs: 52,
        }),
      },
    },
    isRemote: true,
    errors: ['unsupported_operation', 'quota_exceeded', 'not_found', 'command_timeout'],
  },
};
