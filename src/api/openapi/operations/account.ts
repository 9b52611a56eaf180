/** Endpoints of the account: connections, history, watched folders. */
import * as answers from '../../answer-schemas.js';
import type { BodyForm, Description } from '../types.js';
import { JSON_TYPE, transfer } from './samples.js';

function json(schema: object, value: unknown): Readonly<Record<string, BodyForm>> {
  return { [JSON_TYPE]: { schema, examples: { answer: { value } } } };
}

const watchedFolder = {
  id: '0199c2f4-6f5e-7c1a-9a51-0d2f64b1c001',
  connectionId: 'warehouse',
  name: 'incoming',
  path: '/incoming',
  filePattern: '*.csv',
  scheduleMinutes: 5,
  webhookUrl: 'https://example.com/hooks/files',
  source: 'api',
  detectModified: false,
  isActive: true,
  createdAt: '2026-01-31T12:00:00.000Z',
};

const WEBHOOK_SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

export const accountOperations: Readonly<Record<string, Description>> = {
  'GET /api/connections': {
    operationId: 'listConnections',
    tag: 'Account',
    summary: 'List connections',
    description: 'The connections that this API key may use.',
    success: {
      200: {
        description: 'The connections.',
        content: json(answers.connectionsAnswer, {
          connections: [{ id: 'warehouse', name: 'Warehouse', type: 'sftp', isActive: true }],
        }),
      },
    },
  },
  'GET /api/transfers': {
    operationId: 'listTransfers',
    tag: 'Account',
    summary: 'List transfers',
    description: 'The history of file operations, newest first. Ids are ordered by time.',
    success: {
      200: {
        description: 'One page of the history.',
        content: json(answers.transfersAnswer, {
          transfers: [
            {
              id: transfer.id,
              connectionId: 'warehouse',
              type: 'upload',
              direction: 'outbound',
              filename: 'report.pdf',
              path: '/upload/report.pdf',
              fileSize: 48213,
              status: 'success',
              errorMessage: null,
              durationMs: 84,
              createdAt: '2026-01-31T12:00:00.000Z',
            },
          ],
          total: 1,
          limit: 20,
          offset: 0,
        }),
      },
    },
  },
  'GET /api/watched-folders': {
    operationId: 'listWatchedFolders',
    tag: 'Watched folders',
    summary: 'List watched folders',
    description: 'The watched folders of the connections that this API key may use.',
    success: {
      200: {
        description: 'The watched folders.',
        content: json(answers.watchedFoldersAnswer, { watchedFolders: [watchedFolder] }),
      },
    },
  },
  'POST /api/watched-folders': {
    operationId: 'createWatchedFolder',
    tag: 'Watched folders',
    summary: 'Watch a folder',
    description:
      'Has a folder checked at an interval. What is there at the first check is the baseline; files that come later are sent to `webhookUrl`, signed with `webhookSecret`, which is shown this once. `afterDelivery` other than `keep` needs the scope `write`, too.',
    bodyExamples: {
      csv: {
        value: {
          connectionId: 'warehouse',
          path: '/incoming',
          webhookUrl: 'https://example.com/hooks/files',
          filePattern: '*.csv',
          scheduleMinutes: 5,
        },
      },
    },
    success: {
      201: {
        description: 'The folder is watched.',
        content: json(answers.createdWatchedFolder, { ...watchedFolder, webhookSecret: WEBHOOK_SECRET }),
      },
    },
    isRemote: true,
    errors: ['not_found'],
  },
  'PATCH /api/watched-folders/:id': {
    operationId: 'changeWatchedFolder',
    tag: 'Watched folders',
    summary: 'Change a watched folder',
    description:
      'Fields that are absent stay; the connection cannot change. Another `path` is another folder: what was known is forgotten, and the next check takes the baseline. Other names (`filePattern`, `excludePattern`, `doneFile`, `recursive`) keep what is known; what only they let in, and is there at the next check, is baseline. A folder whose `afterDelivery` is not `keep` needs the scope `write`, too.',
    bodyExamples: { pattern: { value: { filePattern: '*.xml', scheduleMinutes: 15 } } },
    success: {
      200: {
        description: 'The folder as it is from now on.',
        content: json(answers.watchedFolder, { ...watchedFolder, filePattern: '*.xml', scheduleMinutes: 15 }),
      },
    },
    isRemote: true,
    errors: ['unknown_watched_folder', 'not_found'],
  },
  'DELETE /api/watched-folders/:id': {
    operationId: 'deleteWatchedFolder',
    tag: 'Watched folders',
    summary: 'Delete a watched folder',
    description: 'Ends the checks of a folder and its undelivered events.',
    success: {
      200: { description: 'The folder is no longer watched.', content: json(answers.successAnswer, { success: true }) },
    },
    errors: ['unknown_watched_folder'],
  },
};
