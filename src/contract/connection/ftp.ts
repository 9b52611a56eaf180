/** FTP connections, with or without TLS. */
import { oneOf, text, textOrNull } from '../schema.js';
import { given, secret } from '../thing.js';
import { connectionType } from './definition.js';
import { certificates, everywhere, login, onServers, password, proxyPassword, reached } from './fields.js';

const ENCODING_LABEL =
  'a label of the WHATWG Encoding Standard, such as utf-8, windows-1251, iso-8859-15, shift_jis or gbk, other than of UTF-16 and ISO-2022-JP';

const settings = {
  ...everywhere,
  ...reached,
  ...login(21),
  tls: given(oneOf(['none', 'explicit', 'implicit'], 'How the control connection is encrypted.'), {
    texts: {
      label: 'Encryption',
      hint: 'How the control connection is encrypted.',
      choices: { explicit: 'Explicit TLS (AUTH TLS)', implicit: 'Implicit TLS', none: 'None' },
    },
    default: 'none',
  }),
  ...certificates,
  ...onServers,
  listing: given(
    oneOf(
      ['auto', 'unix', 'dos', 'ibmi', 'netware', 'vms', 'mvs', 'eplf'],
      'The format in which the server lists folders (LIST); `auto` = MLSD if the server has it, else the format that each line shows. With a fixed format, MLSD is not used.',
    ),
    {
      texts: {
        label: 'Format of listings',
        hint: 'How the server lists folders. Automatic: MLSD, or the format that the lines show.',
        choices: {
          auto: 'Automatic',
          unix: 'Unix (ls -l)',
          dos: 'Windows, DOS (dir)',
          ibmi: 'IBM i',
          netware: 'NetWare',
          vms: 'OpenVMS',
          mvs: 'z/OS (MVS)',
          eplf: 'EPLF',
        },
      },
      default: 'auto',
      isHarmless: true,
      isAdvanced: true,
    },
  ),
  encoding: given(
    text(
      'Encoding of names on the server: a label of the WHATWG Encoding Standard, such as `windows-1251`, `shift_jis` or `gbk`, other than of UTF-16 and ISO-2022-JP. A name whose bytes are no text in it has a `rawName`.',
      { minLength: 1, maxLength: 64 },
    ),
    {
      texts: {
        label: 'Encoding of names',
        hint: 'Such as windows-1251, shift_jis or gbk, where names are shown wrongly.',
      },
      file: { allowed: ENCODING_LABEL, format: 'encoding' },
      check: 'encoding',
      default: 'utf-8',
      isHarmless: true,
      isAdvanced: true,
    },
  ),
  timeZone: given(
    textOrNull(
      'Name of the time zone (IANA) of the times in listings (LIST), with its summer time; null = learned from files whose exact time the server gives (MDTM).',
      { maxLength: 64 },
    ),
    {
      texts: {
        label: 'Time zone of listings',
        hint: 'Such as Europe/Berlin. Empty: learned from the server.',
      },
      file: { allowed: 'a name of the IANA database, such as Europe/Berlin, or ""', format: 'time-zone-or-empty' },
      check: 'timeZone',
      default: null,
      isHarmless: true,
      isAdvanced: true,
    },
  ),
};

const acct = secret('The account that some servers ask for besides the login (ACCT).', {
  texts: { label: 'Account (ACCT)', hint: 'Only for a server that asks for it after the password.' },
  isSent: true,
});

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
  settings,
  secrets: { password, proxyPassword, acct },
  address: ['host', 'port', 'proxy', 'via'],
  can: { exec: false, append: true, hostKeys: false, rawNames: true, isObjectStore: false },
  hasCertificate: ({ tls }) => tls !== 'none',
  advice: ({ code, step }) =>
    code === 'unreachable' && step !== 'connect' && step !== 'proxy' ? 'no_data_connection' : undefined,
});
