/** The API for programs: files, connections, history, watched folders. */
import type { Route } from '../../http/types.js';
import type { Api, Operation } from './types.js';
import { webhooks } from './webhooks.js';

const INTRODUCTION = `Moves and manages files on SFTP, FTP and S3 servers over HTTP, from one outbound address.

Send the API key as \`Authorization: Bearer ftg_…\`. Bodies are JSON unless stated.

Every failure is \`{ "error": string }\`; the header \`X-Error-Code\` carries one of the codes of \`ErrorCode\`, which do not change.
\`X-Request-Id\` finds the request in the log. With \`Retry-After\`, another try makes sense after that many seconds. A request
with \`Idempotency-Key\` can be sent again without fear: it runs once.`;

export const FILE_API: Api = {
  title: 'File Transfer Gateway',
  summary: 'A streaming JSON-over-HTTP gateway to SFTP, FTP and S3 servers',
  introduction: INTRODUCTION,
  tags: [
    { name: 'Files', description: 'Operations on files.' },
    { name: 'Folders', description: 'Operations on folders.' },
    { name: 'Commands', description: 'Commands over SSH.' },
    { name: 'Account', description: 'The account, its connections and its history.' },
    {
      name: 'Watched folders',
      description: 'Folders that are checked at an interval, and the event that tells of new files.',
    },
    { name: 'System', description: 'The gateway itself.' },
  ],
  owns: (path) => !path.startsWith('/manage/'),
  securitySchemes: {
    apiKey: {
      type: 'http',
      scheme: 'bearer',
      description: 'An API key, `ftg_…`. The scopes are those of the key.',
    },
    metricsToken: { type: 'http', scheme: 'bearer', description: '`metrics.token` of the configuration.' },
  },
  securityOf,
  webhooks,
};

function securityOf({ access, path }: Route): Operation['security'] {
  if (access === 'public') return path === '/metrics' ? [{}, { metricsToken: [] }] : [];
  return [{ apiKey: access === 'any' ? [] : [access] }];
}
