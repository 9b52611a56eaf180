/** The API of the account's owner: what the dashboard and `ftg` stand on. */
import type { Route } from '../../http/types.js';
import type { Api, Operation } from './types.js';

const INTRODUCTION = `What the owner of an account does, by hand or by program: connections, API keys, the history with live progress, watched folders.

Send either an API key with the scope \`admin\` as \`Authorization: Bearer ftg_…\`, or the session cookie of \`POST /manage/login\` and, but for GET and HEAD, its
CSRF token as \`X-CSRF-Token\`. Bodies are JSON; where an operation shows a body it must be there, if only as \`{}\`.

Every failure is \`{ "error": string }\`; the header \`X-Error-Code\` carries one of the codes of \`ErrorCode\`, which do not change. Everything is the account's
own: an id of another account and one that never was get the same 404.`;

export const MANAGEMENT_API: Api = {
  title: 'File Transfer Gateway management',
  summary: 'Connections, API keys, history and watched folders of an account',
  introduction: INTRODUCTION,
  tags: [
    { name: 'Login', description: 'Login sessions, the password, one-time passwords.' },
    { name: 'Account', description: 'The account, its month and what was changed.' },
    { name: 'Connections', description: 'Servers, their host keys and their test.' },
    { name: 'API keys', description: 'What programs log in with.' },
    { name: 'Transfers', description: 'The history, and what runs now.' },
    {
      name: 'Watched folders',
      description: 'Folders that are checked at an interval, and what is delivered from them.',
    },
    { name: 'System', description: 'This description.' },
  ],
  owns: (path) => path.startsWith('/manage/'),
  securitySchemes: {
    adminKey: { type: 'http', scheme: 'bearer', description: 'An API key with the scope `admin`.' },
    session: {
      type: 'apiKey',
      in: 'cookie',
      name: 'ftg_session',
      description: 'The cookie that `POST /manage/login` sets; over HTTPS `__Host-ftg_session`.',
    },
    csrfToken: { type: 'apiKey', in: 'header', name: 'X-CSRF-Token', description: '`csrfToken` of the session.' },
  },
  securityOf,
  webhooks: () => ({}),
};

function securityOf({ access, method }: Route): Operation['security'] {
  if (access === 'public') return [];
  return [{ adminKey: [] }, method === 'GET' ? { session: [] } : { session: [], csrfToken: [] }];
}
