/**
 * Servers that lie about the host keys they announce: keys that they do not own, invalid proofs, too many keys, too
 * often. A failure is a key that waits to be accepted without its proof, or an event loop that verifies for
 * them.
 */
import assert from 'node:assert/strict';
import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { createRequire } from 'node:module';
import { after, before, describe, test } from 'node:test';
import ssh2 from 'ssh2';
import { sshString } from '../../src/base/ssh-blob.js';
import { startOddServer, type OddServer } from '../servers/scripted-sftp.js';
import { eventually } from '../support/eventually.js';
import type { ApiClient, TestGateway } from '../support/gateway.js';
import { held } from '../support/reliability.js';
import { longestHold, MAX_HOLD_MS, startWatchedGateway } from './support/loop.js';

const require = createRequire(import.meta.url);
const { sendPacket } = require('ssh2/lib/protocol/utils.js') as {
  readonly sendPacket: (protocol: Inside, packet: Buffer) => void;
};

/** The internals of ssh2 that a server needs to announce its keys. */
interface Inside {
  readonly _packetRW: {
    readonly write: { readonly allocStart: number; alloc(bytes: number): Buffer; finalize(packet: Buffer): Buffer };
  };
  readonly _handlers: {
    GLOBAL_REQUEST: (protocol: Inside, name: string, wantReply: boolean, data: Buffer) => void;
  };
  readonly _kex: { readonly sessionID: Buffer };
  requestSuccess(data?: Buffer): void;
  requestFailure(): void;
}

interface Key {
  readonly blob: Buffer;
  readonly signature: (bytes: Buffer) => Buffer;
}

interface Liar {
  readonly announces: readonly (readonly Buffer[])[];
  /** undefined = a refusal; null = no reply. */
  readonly proves: (signed: (key: Buffer) => Buffer) => readonly Buffer[] | undefined | null;
  /** The session is lost by it. */
  readonly isFatal?: boolean;
}

const PROVE = 'hostkeys-prove-00@openssh.com';

function ed25519(): Key {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const x = Buffer.from(publicKey.export({ format: 'jwk' }).x ?? '', 'base64url');
  return {
    blob: Buffer.concat([sshString('ssh-ed25519'), sshString(x)]),
    signature: (bytes) => Buffer.concat([sshString('ssh-ed25519'), sshString(sign(null, bytes, privateKey))]),
  };
}

function rsa(bits: number, name: string, hash: string): Key {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: bits });
  const { n = '', e = '' } = publicKey.export({ format: 'jwk' });
  const modulus = Buffer.concat([Buffer.alloc(1), Buffer.from(n, 'base64url')]);
  return {
    blob: Buffer.concat([sshString('ssh-rsa'), sshString(Buffer.from(e, 'base64url')), sshString(modulus)]),
    signature: (bytes) => Buffer.concat([sshString(name), sshString(sign(hash, bytes, privateKey))]),
  };
}

const honest = ed25519();
const stranger = ed25519();
const mayBeRsa = rsa(2048, 'rsa-sha2-256', 'sha256');
const bySha1 = rsa(2048, 'ssh-rsa', 'sha1');
const short = rsa(1024, 'rsa-sha2-256', 'sha256');
const many = (count: number): Buffer[] =>
  Array.from({ length: count }, () => Buffer.concat([sshString('ssh-ed25519'), sshString(randomBytes(32))]));
const hugeRsa = (): Buffer => {
  const modulus = Buffer.concat([Buffer.from([0, 0xff]), randomBytes(2046), Buffer.from([1])]);
  return Buffer.concat([sshString('ssh-rsa'), sshString(Buffer.from([1, 0, 1])), sshString(modulus)]);
};
const nonsense = Buffer.concat([sshString('ssh-ed25519'), sshString(randomBytes(64))]);

const LIARS: Readonly<Record<string, Liar>> = {
  'a refusal to prove': { announces: [[honest.blob]], proves: () => undefined },
  'no reply': { announces: [[honest.blob]], proves: () => null },
  'no signature': { announces: [[honest.blob]], proves: () => [] },
  'random bytes': { announces: [[honest.blob]], proves: () => [randomBytes(83)] },
  'a signature of nothing but random bytes': { announces: [[honest.blob]], proves: () => [nonsense] },
  'the signature of another key': {
    announces: [[honest.blob]],
    proves: (signed) => [stranger.signature(signed(honest.blob))],
  },
  'a signature over another key': {
    announces: [[honest.blob]],
    proves: (signed) => [honest.signature(signed(stranger.blob))],
  },
  'a signature of another session': {
    announces: [[honest.blob]],
    proves: () => [honest.signature(Buffer.concat([PROVE, randomBytes(32), honest.blob].map(sshString)))],
  },
  'a signature for another purpose': {
    announces: [[honest.blob]],
    proves: (signed) => [honest.signature(signed(honest.blob).subarray(4 + PROVE.length))],
  },
  'signatures in another order': {
    announces: [[honest.blob, stranger.blob]],
    proves: (signed) => [stranger, honest].map((key) => key.signature(signed(key.blob))),
  },
  'RSA with SHA-1': { announces: [[bySha1.blob]], proves: (signed) => [bySha1.signature(signed(bySha1.blob))] },
  'RSA of 1,024 bits': { announces: [[short.blob]], proves: (signed) => [short.signature(signed(short.blob))] },
  'RSA as if it were another kind': {
    announces: [[honest.blob]],
    proves: (signed) => [mayBeRsa.signature(signed(honest.blob))],
  },
  'no keys': { announces: [[]], proves: () => undefined },
  'keys that are none': { announces: [[Buffer.alloc(0), randomBytes(50), nonsense]], proves: () => [nonsense] },
  'a private key': {
    announces: [[Buffer.from(ssh2.utils.generateKeyPairSync('ed25519').private)]],
    proves: () => undefined,
  },
  'seventeen keys': {
    announces: [[honest.blob, ...many(16)]],
    proves: (signed) => [honest.signature(signed(honest.blob))],
  },
  'more than 16 KiB': {
    announces: [[honest.blob, ...Array.from({ length: 8 }, hugeRsa)]],
    proves: (signed) => [honest.signature(signed(honest.blob))],
  },
  '600 keys, a thousand times': {
    announces: Array.from({ length: 1000 }, () => many(600)),
    proves: () => undefined,
  },
  '10,000 keys at once': { announces: [many(10_000)], proves: () => undefined, isFatal: true },
  'large RSA keys without a proof': {
    announces: [Array.from({ length: 7 }, hugeRsa)],
    proves: () =>
      Array.from({ length: 7 }, () => Buffer.concat([sshString('rsa-sha2-512'), sshString(randomBytes(2048))])),
  },
  'again and again': {
    announces: Array.from({ length: 500 }, () => [honest.blob]),
    proves: () => undefined,
  },
};
/** Proves that the others would be detected. */
const HONEST: Readonly<Record<string, Liar>> = {
  'the truth': { announces: [[honest.blob]], proves: (signed) => [honest.signature(signed(honest.blob))] },
  'the truth, by RSA': {
    announces: [[mayBeRsa.blob]],
    proves: (signed) => [mayBeRsa.signature(signed(mayBeRsa.blob))],
  },
  'the truth, then a lie': {
    announces: [[honest.blob], [stranger.blob]],
    proves: (signed) => [honest.signature(signed(honest.blob))],
  },
};
const ALL = { ...LIARS, ...HONEST };
const idOf = (what: string): string => `k${Object.keys(ALL).indexOf(what)}`;
const ADMIN_KEY = 'ftg_admin-key-0123456789-abcdefgh';

describe('host keys that servers announce', () => {
  let server: OddServer;
  let gateway: TestGateway;
  let admin: ApiClient;
  /** Requests for a proof, by login. */
  const asked = new Map<string, number>();

  before(async () => {
    server = await startOddServer({ onClient: lie });
    const connections = Object.keys(ALL).map((what) => ({
      id: idOf(what),
      name: what,
      type: 'sftp',
      host: '127.0.0.1',
      port: server.port,
      username: idOf(what),
      password: 'p',
    }));
    gateway = await startWatchedGateway({
      connections,
      apiKeys: [{ name: 'all', key: ADMIN_KEY, scopes: ['read', 'write', 'admin'] }],
    });
    admin = gateway.client(ADMIN_KEY);
  });
  after(async () => {
    await gateway?.stop();
    await server?.stop();
  });

  function lie(client: ssh2.Connection): void {
    let login = '';
    client.on('authentication', ({ username }) => (login = username));
    client.on('ready', () => {
      const liar = Object.entries(ALL).find(([what]) => idOf(what) === login)?.[1];
      const protocol = (client as unknown as { readonly _protocol: Inside })._protocol;
      const usual = protocol._handlers.GLOBAL_REQUEST;
      protocol._handlers.GLOBAL_REQUEST = (inside, name, wantReply, data) => {
        if (name !== PROVE) return usual(inside, name, wantReply, data);
        asked.set(login, (asked.get(login) ?? 0) + 1);
        const signed = (key: Buffer): Buffer => Buffer.concat([PROVE, inside._kex.sessionID, key].map(sshString));
        const proofs = liar?.proves(signed);
        if (proofs === undefined) inside.requestFailure();
        else if (proofs !== null) inside.requestSuccess(Buffer.concat(proofs.map(sshString)));
      };
      for (const keys of liar?.announces ?? []) announce(protocol, keys);
    });
  }

  const announcedBy = async (what: string): Promise<readonly { fingerprint: string; state: string }[]> => {
    const { status, json, text } = await admin.get(`/manage/connections/${idOf(what)}/host-keys`);
    assert.equal(status, 200, text);
    return json['announced'] as { fingerprint: string; state: string }[];
  };

  test('only a proven key waits to be accepted; no operation waits for that', async () => {
    for (const [what, { isFatal = false }] of Object.entries(LIARS)) {
      const hold = await longestHold(gateway, async () => {
        for (let round = 0; round < 3; round++) {
          const { status, text } = await admin.get(`/api/list/${idOf(what)}`, { query: { path: '/' } });
          assert.equal(status, isFatal ? 502 : 200, `${what}: ${text}`);
        }
      });
      assert.ok(hold < MAX_HOLD_MS, `${what}: the event loop was held for ${hold} ms`);
    }
    for (const what of Object.keys(HONEST)) {
      assert.equal((await admin.get(`/api/list/${idOf(what)}`, { query: { path: '/' } })).status, 200, what);
      await eventually(async () => (await announcedBy(what)).length === 1, `${what}: it waits`);
      const [key] = await announcedBy(what);
      const { blob } = what.includes('RSA') ? mayBeRsa : honest;
      const fingerprint = `SHA256:${createHash('sha256').update(blob).digest('base64').replace(/=+$/, '')}`;
      assert.deepEqual([key?.fingerprint, key?.state], [fingerprint, 'pending'], what);
    }
    for (const what of Object.keys(LIARS)) assert.deepEqual(await announcedBy(what), [], what);
    for (const [what, { isFatal = false }] of Object.entries(ALL)) {
      // A lost session is followed by another one.
      if (!isFatal) assert.ok((asked.get(idOf(what)) ?? 0) <= 1, `${what}: asked ${asked.get(idOf(what))} times`);
    }
    assert.equal(asked.get(idOf('seventeen keys')), undefined);
    assert.equal(asked.get(idOf('more than 16 KiB')), undefined);
    held({
      area: 'Attacks',
      what: 'host keys that SSH servers announce',
      done: `${Object.keys(LIARS).length} lies: keys of others, proofs that are none, SHA-1, short keys, 10,000 keys, a thousand announcements`,
      held: 'no key waits without its proof, proofs are asked for once in a session, the event loop is never held for 50 ms',
      tries: Object.keys(LIARS).length,
    });
  });
});

function announce(protocol: Inside, keys: readonly Buffer[]): void {
  const content = [Buffer.from([80]), sshString('hostkeys-00@openssh.com'), Buffer.from([0]), ...keys.map(sshString)];
  const payload = Buffer.concat(content);
  const { write } = protocol._packetRW;
  const at = write.allocStart;
  const packet = write.alloc(payload.length);
  payload.copy(packet, at);
  sendPacket(protocol, write.finalize(packet));
}
