/**
 * The host keys that a server announces after the login, and its proof that it owns them: OpenSSH's PROTOCOL, 2.5. ssh2
 * parses, asks and verifies on the event loop, for every announcement, without bounds, and accepts SHA-1 as proof; so
 * that part of it never gets one.
 */
import type { Client } from 'ssh2';
import { allSshStrings, sshString } from '../../../base/ssh-blob.js';
import type { SftpConnection } from '../../../connections/connection.js';
import { isSignedBy, publicKeyIn, type SshPublicKey } from '../../../connections/ssh-public-key.js';
import type { ProtocolDeps } from '../../protocol.js';

const GLOBAL_REQUEST = 80;
const PROVE = 'hostkeys-prove-00@openssh.com';
const ANNOUNCEMENT = Buffer.concat([Buffer.from([GLOBAL_REQUEST]), sshString('hostkeys-00@openssh.com')]);
/** Keys that one server may announce; a larger announcement is ignored. */
const MAX_KEYS = 16;
const MAX_BYTES = 16_384;

/** The parts of ssh2's internals that are needed: it has no other way to receive a global request, or to send one. */
interface Inside {
  readonly _protocol: {
    _onPayload: (payload: Buffer) => unknown;
    readonly _kex?: { readonly sessionID?: Buffer };
    openssh_hostKeysProve(keys: readonly { getPublicSSH(): Buffer }[]): void;
    requestSuccess(): void;
  };
  /** Callbacks of global requests: replies come in their order (RFC 4254, 4). */
  readonly _callbacks: ((failure: unknown, reply?: Buffer | null) => void)[];
}

export class AnnouncedKeys {
  readonly #inside: Inside;
  readonly #announced: Promise<readonly SshPublicKey[]>;
  /** By fingerprint: the proof of each key is requested once in a session. */
  readonly #proofs = new Map<string, Promise<boolean>>();
  readonly #reported = new Set<string>();

  /** Call before the first byte arrives. */
  constructor(client: Client) {
    this.#inside = client as unknown as Inside;
    this.#announced = new Promise((resolve) => this.#listen(resolve));
  }

  /** Has each connection record, once, what is announced on a session whose host key `shown` it trusts. */
  report(connection: SftpConnection, shown: string, { trust, log }: Pick<ProtocolDeps, 'trust' | 'log'>): void {
    const { id, hostKeys, announcedKeys = [] } = connection;
    if (trust.announced === undefined || this.#reported.has(id)) return;
    this.#reported.add(id);
    const known = new Set([shown, ...hostKeys, ...announcedKeys.map(({ fingerprint }) => fingerprint)]);
    this.#announced
      .then(async (keys) => {
        const own = await this.#knownOrProven(keys, known);
        const facts = own.map(({ fingerprint, algorithm }) => ({ fingerprint, algorithm }));
        if (facts.length > 0) await trust.announced?.(connection, shown, facts);
      })
      .catch((error: unknown) => {
        log('announced host keys were not noted', { connectionId: id, error: (error as Error).message });
      });
  }

  #listen(listener: (keys: readonly SshPublicKey[]) => void): void {
    const { _protocol: protocol } = this.#inside;
    const onPayload = protocol._onPayload;
    let isFirst = true;
    protocol._onPayload = (payload) => {
      const isAnnouncement =
        payload[0] === GLOBAL_REQUEST && ANNOUNCEMENT.equals(payload.subarray(0, ANNOUNCEMENT.length));
      if (!isAnnouncement) return onPayload(payload);
      if (payload[ANNOUNCEMENT.length] === 1) protocol.requestSuccess();
      if (!isFirst) return undefined;
      isFirst = false;
      listener(keysOf(payload.subarray(ANNOUNCEMENT.length + 1)));
      return undefined;
    };
  }

  async #knownOrProven(keys: readonly SshPublicKey[], known: ReadonlySet<string>): Promise<SshPublicKey[]> {
    this.#prove(keys.filter(({ fingerprint }) => !known.has(fingerprint) && !this.#proofs.has(fingerprint)));
    const own: SshPublicKey[] = [];
    for (const key of keys) {
      if (known.has(key.fingerprint) || (await this.#proofs.get(key.fingerprint)) === true) own.push(key);
    }
    return own;
  }

  #prove(keys: readonly SshPublicKey[]): void {
    const { _protocol: protocol, _callbacks: callbacks } = this.#inside;
    const session = protocol._kex?.sessionID;
    if (keys.length === 0 || session === undefined) return;
    const replied = new Promise<readonly Buffer[]>((resolve) => {
      callbacks.push((failure, reply) => {
        const isAnswer = !failure && Buffer.isBuffer(reply) && reply.length <= MAX_BYTES;
        resolve((isAnswer ? allSshStrings(reply) : undefined) ?? []);
      });
    });
    protocol.openssh_hostKeysProve(keys.map(({ blob }) => ({ getPublicSSH: () => blob })));
    let former: Promise<unknown> = replied;
    for (const [index, key] of keys.entries()) {
      // One after the other: parsing a key blocks the event loop, verifying with it does not.
      const proof = former.then(async () => isProven(key, session, (await replied)[index]));
      this.#proofs.set(key.fingerprint, proof);
      former = proof;
    }
  }
}

/** The keys of types that a handshake may show; none if there are too many, or the packet is malformed. */
function keysOf(announced: Buffer): readonly SshPublicKey[] {
  if (announced.length > MAX_BYTES) return [];
  // ssh2 owns the packet and may reuse it for the next one.
  const blobs = allSshStrings(Buffer.from(announced));
  if (blobs === undefined || blobs.length > MAX_KEYS) return [];
  const keys = blobs.flatMap((blob) => publicKeyIn(blob) ?? []);
  return [...new Map(keys.map((key) => [key.fingerprint, key])).values()];
}

/** Whether `proof` is a signature of this session and this key by this key. */
async function isProven(key: SshPublicKey, session: Buffer, proof: Buffer | undefined): Promise<boolean> {
  if (proof === undefined) return false;
  return isSignedBy(key, Buffer.concat([PROVE, session, key.blob].map(sshString)), proof);
}
