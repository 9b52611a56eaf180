/** The SSH algorithms that the gateway knows, by their names (RFC 4253, 6 and 7), in the order of its preference. */

// No group exchange: ssh2 computes with any prime that the server sends, on the event loop and before the host key is
// known; 9,941 bits take 40 s. The fixed groups take at most 15 ms.
export const MODERN = {
  kex: [
    'curve25519-sha256',
    'curve25519-sha256@libssh.org',
    'ecdh-sha2-nistp256',
    'ecdh-sha2-nistp384',
    'ecdh-sha2-nistp521',
    'diffie-hellman-group14-sha256',
    'diffie-hellman-group15-sha512',
    'diffie-hellman-group16-sha512',
    'diffie-hellman-group17-sha512',
    'diffie-hellman-group18-sha512',
  ],
  ciphers: [
    'aes128-gcm@openssh.com',
    'aes256-gcm@openssh.com',
    'chacha20-poly1305@openssh.com',
    'aes128-ctr',
    'aes192-ctr',
    'aes256-ctr',
  ],
  macs: ['hmac-sha2-256-etm@openssh.com', 'hmac-sha2-512-etm@openssh.com', 'hmac-sha2-256', 'hmac-sha2-512'],
  hostKeys: [
    'ssh-ed25519',
    'ecdsa-sha2-nistp256',
    'ecdsa-sha2-nistp384',
    'ecdsa-sha2-nistp521',
    'rsa-sha2-512',
    'rsa-sha2-256',
  ],
} as const;

/** Needed by servers from before about 2014, and offered after the modern ones, so that none is chosen without need. */
const LEGACY = {
  kex: ['diffie-hellman-group14-sha1', 'diffie-hellman-group1-sha1'],
  ciphers: ['aes128-cbc', 'aes192-cbc', 'aes256-cbc', '3des-cbc'],
  macs: ['hmac-sha1-etm@openssh.com', 'hmac-sha1', 'hmac-md5'],
  hostKeys: ['ssh-rsa', 'ssh-dss'],
} as const;

export const ALGORITHM_KINDS = ['kex', 'ciphers', 'macs', 'hostKeys'] as const;
export type AlgorithmKind = (typeof ALGORITHM_KINDS)[number];

/** The only algorithms of a connection, most wanted first; an absent list = the modern ones. */
export type AlgorithmLists = { readonly [K in AlgorithmKind]?: readonly string[] };
export type AlgorithmChoice = 'default' | 'legacy' | AlgorithmLists;

/** Every name that a list of this kind may have. */
export const knownAlgorithms = (kind: AlgorithmKind): readonly string[] => [...MODERN[kind], ...LEGACY[kind]];
