/** The questions of `ftg init`, and the conversion of the answers to the tree of gateway.yaml and its secrets. */
import { randomBytes } from 'node:crypto';
import type { Definition } from '../../contract/connection/definition.js';
import { SCOPES } from '../../contract/scopes.js';

export interface Answers {
  readonly listen: string;
  readonly publicUrl: string;
  readonly tlsCert: string;
  readonly tlsKey: string;
  readonly dataDir: string;
  /** For PostgreSQL; empty = the embedded database. */
  readonly databaseUrl: string;
  readonly email: string;
  /** Empty = generated. */
  readonly password: string;
  readonly sandbox: boolean;
  readonly connection: ConnectionAnswers | undefined;
}

export interface ConnectionAnswers {
  readonly definition: Definition;
  readonly id: string;
  /** In the form of gateway.yaml. */
  readonly values: Readonly<Record<string, unknown>>;
  /** By their keys in gateway.yaml; `proxy.password` is a part of `proxy`. */
  readonly secrets: Readonly<Record<string, string>>;
}

export interface Question {
  readonly name: Exclude<keyof Answers, 'sandbox' | 'connection'>;
  readonly flag: string;
  /** The places of the answer in gateway.yaml, as validation errors name them. */
  readonly paths: readonly string[];
  readonly text: string;
  readonly preset: string;
  readonly isHidden?: boolean;
  /** Asked at a terminal; the others have only an option. */
  readonly isAsked: boolean;
}

export const QUESTIONS: readonly Question[] = [
  {
    name: 'listen',
    flag: '--listen',
    paths: ['server.host', 'server.port'],
    isAsked: true,
    text: 'Address and port to listen on',
    preset: '127.0.0.1:8080',
  },
  {
    name: 'publicUrl',
    flag: '--public-url',
    paths: ['server.publicUrl'],
    isAsked: true,
    text: 'URL that clients use, if it is another one',
    preset: '',
  },
  {
    name: 'tlsCert',
    flag: '--tls-cert',
    paths: ['server.tls.certFile', 'server.tls'],
    isAsked: false,
    text: 'Certificate file for HTTPS (PEM)',
    preset: '',
  },
  {
    name: 'tlsKey',
    flag: '--tls-key',
    paths: ['server.tls.keyFile'],
    isAsked: false,
    text: 'Private key file of the certificate (PEM)',
    preset: '',
  },
  { name: 'dataDir', flag: '--data-dir', paths: ['dataDir'], isAsked: true, text: 'Folder for data', preset: './data' },
  {
    name: 'databaseUrl',
    flag: '--database-url-file',
    paths: ['database.url'],
    isAsked: true,
    isHidden: true,
    text: 'URL of a PostgreSQL database, empty for the embedded one',
    preset: '',
  },
  {
    name: 'email',
    flag: '--email',
    paths: ['accounts[0].email'],
    isAsked: true,
    text: 'E-mail of the owner',
    preset: '',
  },
  {
    name: 'password',
    flag: '--owner-password-file',
    paths: ['accounts[0].password'],
    isAsked: true,
    text: 'Password of the dashboard, empty to make one',
    preset: '',
    isHidden: true,
  },
];

/** Values by name of environment variable. */
export type Secrets = Readonly<Record<string, string>>;

export interface Made {
  readonly tree: object;
  readonly secrets: Secrets;
  /** Secrets that were typed or named. */
  readonly given: Secrets;
}

export function treeOf(answers: Answers): Made {
  const { listen, publicUrl, tlsCert, tlsKey, dataDir, databaseUrl, email, password, sandbox, connection } = answers;
  const colon = listen.lastIndexOf(':');
  const port = listen.slice(colon + 1);
  const host = listen.slice(0, Math.max(0, colon)).replace(/^\[(.*)\]$/, '$1');
  const made = connection === undefined ? undefined : entryOf(connection);
  const given = {
    ...(databaseUrl === '' ? {} : { DATABASE_URL: databaseUrl }),
    ...(password === '' ? {} : { OWNER_PASSWORD: password }),
    ...made?.secrets,
  };
  return {
    tree: {
      server: {
        host: host === '' ? '127.0.0.1' : host,
        port: /^\d+$/.test(port) ? Number(port) : port,
        ...(publicUrl === '' ? {} : { publicUrl }),
        ...(tlsCert === '' && tlsKey === '' ? {} : { tls: { certFile: tlsCert, keyFile: tlsKey } }),
      },
      dataDir,
      ...(databaseUrl === '' ? {} : { database: { url: variable('DATABASE_URL') } }),
      sandbox,
      accounts: [
        {
          email,
          plan: 'pro',
          password: variable('OWNER_PASSWORD'),
          apiKeys: [{ name: 'main', key: variable('MAIN_API_KEY'), scopes: [...SCOPES] }],
          connections: made === undefined ? [] : [made.entry],
        },
      ],
    },
    secrets: {
      GATEWAY_MASTER_KEY: randomBytes(32).toString('base64'),
      OWNER_PASSWORD: randomBytes(18).toString('base64url'),
      MAIN_API_KEY: `ftg_${randomBytes(24).toString('base64url')}`,
      ...given,
    },
    given,
  };
}

function entryOf({ definition, id, values, secrets }: ConnectionAnswers) {
  const named = Object.entries(secrets).map(([key, value]) => ({ key, name: variableName(id, key), value }));
  const entry: Record<string, unknown> = { id, name: id, type: definition.type, ...values };
  for (const { key, name } of named) {
    const [field = '', part] = key.split('.');
    entry[field] = part === undefined ? variable(name) : { ...(entry[field] as object), [part]: variable(name) };
  }
  return {
    entry,
    secrets: Object.fromEntries(named.map(({ name, value }) => [name, value])),
  };
}

function variableName(id: string, key: string): string {
  const words = `${id}_${key.replace(/[A-Z]/g, (letter) => `_${letter}`)}`;
  const name = words.toUpperCase().replace(/[^A-Z0-9]/g, '_');
  return /^\d/.test(name) ? `_${name}` : name;
}

function variable(name: string): string {
  return `\${${name}}`;
}
