/** FTP connections, with or without TLS. */
import { oneOf } from '../contract/schema.js';
import { certificates, everywhere, login, onServers, password } from './common.js';
import { connectionType, setting } from './definition.js';

export const ftp = connectionType('ftp', {
  title: 'FTP, FTPS',
  example: {
    id: 'legacy',
    name: 'Legacy',
    host: 'ftp.example.com',
    username: 'gw',
    password: '${LEGACY_PASSWORD}',
    tls: 'explicit',
    defaultPath: '/',
  },
  settings: {
    ...everywhere,
    ...login(21),
    tls: setting(oneOf(['none', 'explicit', 'implicit']), {
      default: 'none',
      title: 'Encryption',
      words: 'How the control connection is encrypted.',
      labels: { explicit: 'TLS (AUTH TLS)', implicit: 'TLS from the start', none: 'None' },
    }),
    ...certificates,
    ...onServers,
  },
  secrets: { password },
  address: ['host', 'port'],
  can: { exec: false, append: true, hostKeys: false, rawNames: true, isObjectStore: false },
  hasCertificate: ({ tls }) => tls !== 'none',
  advice: ({ code, step }) =>
    code === 'unreachable' && step !== 'connect'
      ? 'The control connection works, but no data connection: have the passive ports of the server opened in its firewall.'
      : undefined,
});
