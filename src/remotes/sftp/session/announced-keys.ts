/**
 * The host keys that a server announces after the login, and its proof that it owns them: OpenSSH's PROTOCOL, 2.5. ssh2
 * parses, asks and verifies on the event loop, for every announcement, without bounds, and accepts SHA-1 as proof; so
 * that part of it never gets one.
 */
import { createHash, createPublicKey, type KeyObject, verify, type VerifyKeyObjectInput } from 'node:crypto';
import type { Client } from 'ssh2';
import { allSshStrings, positiveInteger, sshString } from '../../../base/ssh-blob.js';
import type { SftpConnection } from '../../../connections/connection.js';
import type { HostKey } from '../../../connections/host-keys.js';
import type { ProtocolDeps } from '../../protocol.js';

const GLOBAL_REQUEST = 80;
const PROVE = 'hostkeys-prove-00@openssh.com';
const ANNOUNCEMENT = Buffer.concat([Buffer.from([GLOBAL_REQUEST]), sshString('hostkeys-00@openssh.com')]);
/** Keys that one server may announce; a larger announcement is ignored. */
const MAX_KEYS = 16;
const MAX_BYTES = 16_384;
/** A shorter key is never learned, even with a proof. */
const MIN_RSA_BITS = 2048;

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

interface AnnouncedKey extends HostKey {
  readonly blob: Buffer;
  /** The fields after the algorithm's name. */
  readonly fields: readonly Buffer[];
}

export class AnnouncedKeys {
  readonly #inside: Inside;
  readonly #announced: Promise<readonly AnnouncedKey[]>;
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

  #listen(listener: (keys: readonly AnnouncedKey[]) => void): void {
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

  async #knownOrProven(keys: readonly AnnouncedKey[], known: ReadonlySet<string>): Promise<AnnouncedKey[]> {
    this.#prove(keys.filter(({ fingerprint }) => !known.has(fingerprint) && !this.#proofs.has(fingerprint)));
    const own: AnnouncedKey[] = [];
    for (const key of keys) {
      if (known.has(key.fingerprint) || (await this.#proofs.get(key.fingerprint)) === true) own.push(key);
    }
    return own;
  }

  #prove(keys: readonly AnnouncedKey[]): void {
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
function keysOf(announced: Buffer): readonly AnnouncedKey[] {
  if (announced.length > MAX_BYTES) return [];
  // ssh2 owns the packet and may reuse it for the next one.
  const blobs = allSshStrings(Buffer.from(announced));
  if (blobs === undefined || blobs.length > MAX_KEYS) return [];
  const keys = new Map<string, AnnouncedKey>();
  for (const blob of blobs) {
    const [name, ...fields] = allSshStrings(blob) ?? [];
    const algorithm = name?.toString('latin1') ?? '';
    if (!(algorithm in KINDS)) continue;
    const fingerprint = fingerprintOf(blob);
    keys.set(fingerprint, { fingerprint, algorithm, blob, fields });
  }
  return [...keys.values()];
}

/** `SHA256:…`, as OpenSSH shows it. */
export function fingerprintOf(blob: Buffer): string {
  return `SHA256:${createHash('sha256').update(blob).digest('base64').replace(/=+$/, '')}`;
}

interface Kind {
  keyOf(fields: readonly Buffer[]): KeyObject;
  /** By the name in the signature. */
  readonly hashes: Readonly<Record<string, string | null>>;
  /** Converts to the format of Node.js; undefined if it is not a signature. */
  readonly signatureOf?: (signature: Buffer) => Buffer | undefined;
}

const url = (bytes: Buffer | undefined): string => (bytes ?? Buffer.alloc(0)).toString('base64url');
const number = (mpint: Buffer | undefined): string => {
  const digits = positiveInteger(mpint ?? Buffer.alloc(0));
  return url(digits[0] === 0 ? digits.subarray(1) : digits);
};

function ecdsa(name: string, crv: string, hash: string, bytes: number): Readonly<Record<string, Kind>> {
  const algorithm = `ecdsa-sha2-${name}`;
  const fixed = (mpint: Buffer): Buffer => {
    const digits = Buffer.from(number(mpint), 'base64url');
    return Buffer.concat([Buffer.alloc(Math.max(0, bytes - digits.length)), digits]);
  };
  return {
    [algorithm]: {
      hashes: { [algorithm]: hash },
      keyOf: ([curve, point]) => {
        if (curve?.toString('latin1') !== name || point?.length !== 1 + 2 * bytes || point[0] !== 4) {
          throw new RangeError(`no point of ${name}`);
        }
        const [x, y] = [url(point.subarray(1, 1 + bytes)), url(point.subarray(1 + bytes))];
        return createPublicKey({ key: { kty: 'EC', crv, x, y }, format: 'jwk' });
      },
      signatureOf: (signature) => {
        const numbers = allSshStrings(signature);
        return numbers?.length === 2 ? Buffer.concat(numbers.map(fixed)) : undefined;
      },
    },
  };
}

const KINDS: Readonly<Record<string, Kind>> = {
  'ssh-ed25519': {
    hashes: { 'ssh-ed25519': null },
    keyOf: ([x]) => createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: url(x) }, format: 'jwk' }),
  },
  ...ecdsa('nistp256', 'P-256', 'sha256', 32),
  ...ecdsa('nistp384', 'P-384', 'sha384', 48),
  ...ecdsa('nistp521', 'P-521', 'sha512', 66),
  'ssh-rsa': {
    // SHA-1 (`ssh-rsa`) is not accepted, even if the handshake was allowed to use it.
    hashes: { 'rsa-sha2-256': 'sha256', 'rsa-sha2-512': 'sha512' },
    keyOf: ([e, n]) => {
      const key = createPublicKey({ key: { kty: 'RSA', n: number(n), e: number(e) }, format: 'jwk' });
      if ((key.asymmetricKeyDetails?.modulusLength ?? 0) < MIN_RSA_BITS) throw new RangeError('a short key');
      return key;
    },
  },
};

/** Whether `proof` is a signature of this session and this key by this key; verified on one of Node's threads. */
async function isProven(key: AnnouncedKey, session: Buffer, proof: Buffer | undefined): Promise<boolean> {
  const kind = KINDS[key.algorithm];
  const [name, bytes, ...rest] = (proof === undefined ? undefined : allSshStrings(proof)) ?? [];
  const hash = kind?.hashes[name?.toString('latin1') ?? ''];
  if (kind === undefined || hash === undefined || bytes === undefined || rest.length > 0) return false;
  const signature = kind.signatureOf === undefined ? bytes : kind.signatureOf(bytes);
  if (signature === undefined) return false;
  const signed = Buffer.concat([PROVE, session, key.blob].map(sshString));
  try {
    const input: VerifyKeyObjectInput = { key: kind.keyOf(key.fields), dsaEncoding: 'ieee-p1363' };
    return await new Promise((resolve) => {
      verify(hash, signed, input, signature, (error, isRight) => resolve(error === null && isRight));
    });
  } catch {
    return false;
  }
}
