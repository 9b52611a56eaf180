/** The steps of a connection test, and what to do about a failed one, defined once. German: de/advice.ts. */

/** If a later step fails, the server was reached. */
export const REACHING_STEPS = [
  'identity',
  'resolve',
  'connect',
  'proxy',
  'jump_host',
  'host_key',
  'certificate',
  'login',
] as const;
export const TEST_STEPS = ['limits', ...REACHING_STEPS, 'list', 'write', 'rights', 'rename', 'delete'] as const;

const catalogue = {
  dns_failed:
    'Check the spelling of the host name. If it is a name of your own network, the gateway must use a name server that knows it.',
  address_denied:
    'The network rules of this gateway forbid the address; its operator can change them (network.connections).',
  unreachable:
    'Check host and port, that the server runs, and that its firewall lets the outbound address of this gateway through.',
  no_data_connection:
    'The control connection works, but no data connection: have the passive ports of the server opened in its firewall.',
  connect_timeout:
    'Nothing answered. Usually a firewall drops the packets: have the outbound address of this gateway allowed, and check the port.',
  host_key_mismatch:
    'The server shows another key than the pinned one. Ask its operator whether it was changed; if so, accept the new one under host keys. If not, someone may be intercepting the connection.',
  certificate_rejected:
    'The certificate is not trusted, has expired or is for another name. Use a name from the certificate, or give the authority that signed it (tlsCa).',
  login_refused:
    'Check user name and password or key, and that the server lets this user log in from this address and in this way.',
  no_identity:
    'The gateway has no keys that sign its requests. Correct what the error names: a variable, a file, the metadata service, or the role and its trust policy.',
  too_many_sessions:
    'The server admits no further login now. Lower maxSessions of this connection, or have the limit on the server raised.',
  protocol_error:
    'The answer was not of this protocol. Check the port and the type of the connection; an old SSH server may need algorithms "legacy".',
  wrong_bucket: 'Check the name of the bucket, the region and the prefix.',
  not_found: 'The default path is not there. Correct it, or have the folder made on the server.',
  not_a_folder: 'The default path is a file. Name the folder that it is in.',
  permission_denied:
    'The user may not do this there. Have the rights on the server changed, or choose another default path.',
  no_rename: 'The server refuses to rename. Switch atomicUploads off for this connection.',
  no_space: 'The disk of the server is full, or the quota of the user is used up.',
  stall_timeout:
    'The server fell silent. Try again; if it stays so, ask its operator (FTP: check that its passive ports are open).',
  command_timeout: 'The server answers too slowly for a test.',
  connection_lost: 'The server hung up. Try again; its log may say why.',
  other: "Look at the server's own words above and in its log.",
} as const;

export type AdviceCode = keyof typeof catalogue;
export type AdviceTexts = Readonly<Record<AdviceCode, string>>;

export const advice: AdviceTexts = catalogue;
export const ADVICE_CODES = Object.keys(catalogue) as readonly AdviceCode[];
