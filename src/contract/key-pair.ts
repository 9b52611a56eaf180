/** A key pair for SFTP logins, made by the gateway. */
import { Type } from 'typebox';
import { FINGERPRINT_EXAMPLE, ID, TIME } from './examples.js';
import { NAME } from './patterns.js';
import { dateTime, text, texts } from './schema.js';
import { derived, type ExampleOf, kept, needed, type RowOf } from './thing.js';

export const keyPairFields = {
  id: kept(text('Identifier.')),
  name: needed(text('Shown to people.', { minLength: 1, maxLength: 200, pattern: NAME }), {
    texts: { label: 'Name of a new key pair' },
    example: 'warehouse-2026',
  }),
  type: derived(Type.Literal('ed25519', { description: 'Algorithm.' })),
  /** One line of an authorized_keys file. */
  publicKey: kept(text('What the server is given.')),
  fingerprint: kept(text('SHA-256 fingerprint, as OpenSSH shows it.')),
  createdAt: kept(dateTime('When it was made.')),
  /** Computed by the reading statement. */
  usedBy: kept(texts('Connections that use it.')),
};

export type KeyPair = RowOf<typeof keyPairFields>;

export const keyPairExample = {
  id: ID,
  name: 'warehouse',
  type: 'ed25519',
  publicKey: 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl warehouse',
  fingerprint: FINGERPRINT_EXAMPLE,
  createdAt: TIME,
  usedBy: ['warehouse'],
} as const satisfies ExampleOf<typeof keyPairFields>;
