import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { suite, test } from 'node:test';
import { loadConfig } from '../../src/config/load.js';
import { referencesIn } from '../../src/config/references.js';
import { s3 } from '../../src/contract/connection/s3.js';
import { splitConfig } from '../../src/storage/tables/connection-rows.js';
import { account, defaults, inFolder, KEY, load, mistakesIn, SFTP } from './support.js';

const AES_KEY = Buffer.alloc(32, 'k').toString('base64');

suite('a mistake is reported on one line with path, finding and allowed values', () => {
  const cases: { name: string; yaml: string; env?: Record<string, string>; lines: (string | RegExp)[] }[] = [
    {
      name: 'a text where a number belongs',
      yaml: 'server:\n  port: eighty\n',
      lines: ['server.port: "eighty"; allowed: a whole number from 0 to 65535 (gateway.yaml:2:3)'],
    },
    {
      name: 'a number out of range',
      yaml: 'server: { port: 65536 }',
      lines: ['server.port: 65536; allowed: a whole number from 0 to 65535 (gateway.yaml:1:11)'],
    },
    {
      name: 'a fraction, and a text of digits where a number belongs',
      yaml: 'limits: { readBytes: 1.5, uploadBytes: "5" }',
      lines: [/^limits\.readBytes: 1\.5; allowed: a whole number of at least 1 /, /^limits\.uploadBytes: "5"; /],
    },
    {
      name: 'a delay beyond what timers hold',
      yaml: 'webhooks: { retryMs: [5000, 9999999999] }',
      lines: [/^webhooks\.retryMs\[1\]: 9999999999; allowed: a whole number of milliseconds from 1 to 2147483647 /],
    },
    {
      name: 'numbers that are not finite, not decimal or not exact',
      yaml: 'budgets: { memoryBytes: .inf, requests: 0x10, waiting: .nan, sessions: 0o17 }\nlimits: { readBytes: 1e309, uploadBytes: 99999999999999999999 }',
      lines: [
        /^budgets\.memoryBytes: ".inf"; allowed: a number in decimal digits, /,
        /^budgets\.requests: "0x10"; allowed: a number in decimal digits, /,
        /^budgets\.waiting: ".nan"; /,
        /^budgets\.sessions: "0o17"; /,
        /^limits\.readBytes: "1e309"; /,
        /^limits\.uploadBytes: "99999999999999999999"; /,
      ],
    },
    {
      name: 'a variable whose number is not exact, or not decimal',
      yaml: 'server: { port: "${P}" }\nlimits: { uploadBytes: "${N}" }',
      env: { P: '0x50', N: '9'.repeat(400) },
      lines: [/^server\.port: /, /^limits\.uploadBytes: /],
    },
    {
      name: 'a mistyped key',
      yaml: 'server: { prot: 80 }',
      lines: [/^server\.prot: unknown key \(is port meant\?\); allowed: host, port, tls, .*\(gateway\.yaml:1:11\)$/],
    },
    {
      name: 'the master key in the file',
      yaml: 'masterKey: hunter2',
      lines: [/^masterKey: unknown key; allowed: the key in the environment variable GATEWAY_MASTER_KEY/],
    },
    {
      name: 'a section that is none',
      yaml: 'server: 5\npools: []',
      lines: [/^server: 5; allowed: the keys host, port/, /^pools: a list; allowed: the keys default, hosts/],
    },
    { name: 'a file that is a list', yaml: '- 1', lines: [/^the file: a list; allowed: the keys server, dataDir/] },
    {
      name: 'a word outside a choice',
      yaml: 'log: { level: loud, pretty: maybe }\nserver: { threads: many }',
      lines: [
        /^server\.threads: "many"; allowed: a whole number from 1 to 256, or auto /,
        /^log\.level: "loud"; allowed: one of trace, debug, info, warn, error, fatal, silent /,
        /^log\.pretty: "maybe"; allowed: true, false or auto /,
      ],
    },
    {
      name: 'the proxy of the gateway itself',
      yaml: 'network: { proxy: { url: "http://user:word@proxy:3128", username: "a:b", password: { from: "ftp:x" } } }',
      lines: [
        /^network\.proxy\.url: .*; allowed: an http:\/\/ or socks5:\/\/ URL with host and port, without login, or ""/,
        /^network\.proxy\.username: "a:b"; allowed: text without a colon/,
        /^network\.proxy\.password\.from: a text that is not shown here; allowed: a reference/,
      ],
    },
    {
      name: 'a login for no proxy, and a reference without its source',
      yaml: 'network: { proxy: { username: gw, password: { from: "vault:kv/proxy#password" } } }',
      lines: [
        /^network\.proxy\.url: ""; allowed: the URL of the proxy, as a login for it is set/,
        /^secrets\.vault\.address: ""; allowed: the URL of Vault/,
      ],
    },
    {
      name: 'a proxy in the environment that is none',
      yaml: '',
      env: { GATEWAY_PROXY_URL: 'proxy:3128' },
      lines: [/^network\.proxy\.url: "proxy:3128"; .*\(GATEWAY_PROXY_URL\)$/],
    },
    {
      name: 'addresses and blocks',
      yaml: 'network: { localAddress: eth0, connections: { deny: [10/8, 10.0.0.0/33] }, urlFetch: { allow: ["fd00::/8", x] } }',
      lines: [
        /^network\.localAddress: "eth0"; allowed: an IP address of this machine/,
        /^network\.connections\.deny\[0\]: "10\/8"; allowed: an IP address or CIDR block/,
        /^network\.connections\.deny\[1\]: "10\.0\.0\.0\/33"; /,
        /^network\.urlFetch\.allow\[1\]: "x"; /,
      ],
    },
    {
      name: 'names of pool hosts',
      yaml: 'pools: { hosts: { sftp.example.com: {}, "h:0": {}, "[::1]:22": { maxSessions: 0 } } }',
      lines: [
        /^pools\.hosts\["sftp\.example\.com"\]: the name "sftp\.example\.com"; allowed: host:port, /,
        /^pools\.hosts\["h:0"\]: the name "h:0"; /,
        /^pools\.hosts\["\[::1\]:22"\]\.maxSessions: 0; allowed: a whole number from 1 to 10000 /,
      ],
    },
    {
      name: 'an encoding of names that there is not, and one that has no bytes of ASCII',
      yaml: account({
        connections: ['cp850', 'utf-16le']
          .map((encoding, at) => `{ name: c${at}, type: ftp, host: h, username: u, encoding: ${encoding} }`)
          .join(', '),
      }),
      lines: [
        /connections\[0\]\.encoding: "cp850"; allowed: a label of the WHATWG Encoding Standard, such as utf-8, windows-1251/,
        /connections\[1\]\.encoding: "utf-16le"; allowed: a label /,
      ],
    },
    {
      name: 'URLs of other protocols',
      yaml: 'server: { publicUrl: "ftp://x" }\ndatabase: { url: "mysql://h/db" }',
      lines: [
        /^server\.publicUrl: "ftp:\/\/x\/…"; allowed: an http or https URL/,
        /^database\.url: "mysql:\/\/h\/…"; allowed: a URL postgres:/,
      ],
    },
    {
      name: 'an account without its keys',
      yaml: 'accounts: [{ email: nobody }]',
      lines: [
        /^accounts\[0\]\.plan: missing; allowed: the name of a plan under limits\.plans/,
        /^accounts\[0\]\.email: "nobody"; allowed: an e-mail address/,
      ],
    },
    {
      name: 'a plan that is not defined',
      yaml: account({ plan: 'gold' }),
      lines: [/^accounts\[0\]\.plan: "gold"; allowed: a plan under limits\.plans: free, pro /],
    },
    {
      name: 'a plan that is not defined, beside a mistake of another kind',
      yaml: `server: { prot: 1 }\n${account({ plan: 'gold' })}`,
      lines: [
        /^server\.prot: unknown key/,
        /^accounts\[0\]\.plan: "gold"; allowed: a plan under limits\.plans: free, pro /,
      ],
    },
    {
      name: 'more active connections than the plan allows',
      yaml: account({ plan: 'free', connections: `{ name: a, ${SFTP} }, { name: b, ${SFTP} }` }),
      lines: [/^accounts\[0\]\.connections: 2 active ones; allowed: at most 1, by limits\.plans\.free\.connections /],
    },
    {
      name: 'an unknown and a missing connection type',
      yaml: account({ connections: '{ name: a, type: ssh }, { name: b }' }),
      lines: [
        /^accounts\[0\]\.connections\[0\]\.type: "ssh"; allowed: one of sftp, ftp, s3 /,
        /^accounts\[0\]\.connections\[1\]\.type: missing; allowed: one of sftp, ftp, s3 /,
      ],
    },
    {
      name: 'a key of another connection type',
      yaml: account({ connections: `{ name: a, ${SFTP}, tls: none }` }),
      lines: [/^accounts\[0\]\.connections\[0\]\.tls: unknown key; allowed: id, name, /],
    },
    {
      name: 'hosts, paths, ids and fingerprints of another form',
      yaml: account({
        connections: `{ id: Ware House, name: a, ${SFTP.replace('sftp.example.com', '"sftp://h"')}, defaultPath: up, hostKey: MD5-1 }`,
      }),
      lines: [
        /\.id: "Ware House"; allowed: a slug: /,
        /\.defaultPath: "up"; allowed: an absolute path, /,
        /\.host: "sftp:\/\/h"; allowed: a host name or IP address, without protocol and port /,
        /\.hostKey: "MD5-1"; allowed: a fingerprint SHA256:… of 43 base64 characters, or a list of such /,
      ],
    },
    {
      name: 'line breaks in what reaches a control connection',
      yaml: account({ connections: '{ name: a, type: ftp, host: h, username: "u\\r\\nDELE x" }' }),
      lines: [/\.username: "u\\r\\nDELE x"; allowed: text of at least one character /],
    },
    {
      name: 'references to secrets that are none',
      yaml: account({
        connections: [
          '{ name: a, type: sftp, host: h, username: u, password: { from: hunter2 } }',
          '{ name: b, type: sftp, host: h, username: u, password: { from: "file:relative" } }',
          '{ name: c, type: sftp, host: h, username: u, password: { form: "file:/x" } }',
          '{ name: d, type: sftp, host: h, username: u, password: 5 }',
          '{ name: e, type: sftp, host: h, username: u, password: pw, proxy: { url: "http://p:1", password: {} } }',
        ].join(', '),
      }),
      lines: [
        /connections\[0\]\.password\.from: a text that is not shown here; allowed: a reference such as file:\/run\/secrets\/acme or /,
        /connections\[1\]\.password\.from: a text that is not shown here; allowed: a reference /,
        /connections\[2\]\.password\.from: missing; allowed: a reference such as /,
        /connections\[2\]\.password\.form: unknown key \(is from meant\?\); allowed: from /,
        /connections\[3\]\.password: a number that is not shown here; allowed: text \(numbers in quotes\), or a mapping with the key from /,
        /connections\[4\]\.proxy\.password\.from: missing; /,
      ],
    },
    {
      name: 'a reference to a Vault that is not named',
      yaml: account({
        connections: '{ name: a, type: sftp, host: h, username: u, password: { from: "vault:kv/data/a#password" } }',
      }),
      lines: [/^secrets\.vault\.address: ""; allowed: the URL of Vault, as a secret refers to it/],
    },
    {
      name: 'a Vault without a login',
      yaml: 'secrets: { vault: { address: "https://vault.example.com" } }',
      lines: [/^secrets\.vault\.tokenFile: ""; allowed: a tokenFile or a role, /],
    },
    {
      name: 'a Vault with two logins',
      yaml: 'secrets: { vault: { address: "https://vault.example.com", tokenFile: /t, role: r } }',
      lines: [/^secrets\.vault\.role: a tokenFile too; allowed: one of the two /],
    },
    {
      name: 'a time and a URL of secrets that are none',
      yaml: 'secrets: { refreshMinutes: 0, vault: { address: vault, tokenFile: /t } }',
      lines: [
        /^secrets\.refreshMinutes: 0; allowed: a whole number from 1 to 1440 /,
        /^secrets\.vault\.address: "vault"; allowed: an http or https URL /,
      ],
    },
    {
      name: 'a reference to AWS without a region',
      yaml: account({
        connections: '{ name: a, type: sftp, host: h, username: u, password: { from: "aws:acme/sftp" } }',
      }),
      lines: [/^secrets\.aws\.region: ""; allowed: a region, as a secret refers to AWS/],
    },
    {
      name: 'a region of AWS that leads elsewhere',
      yaml: 'secrets: { aws: { region: "evil.example.com/" } }',
      lines: [/^secrets\.aws\.region: "evil\.example\.com\/"; allowed: a region such as eu-central-1, or ""/],
    },
    {
      name: 'a reference to Vault without a field',
      yaml: account({
        connections: '{ name: a, type: sftp, host: h, username: u, password: { from: "vault:kv/data/a" } }',
      }),
      lines: [/connections\[0\]\.password\.from: a text that is not shown here; allowed: a reference such as /],
    },
    {
      name: 'an SFTP login without password and key, and one with two keys',
      yaml: account({
        connections:
          '{ name: a, type: sftp, host: h, username: u }, { name: b, type: sftp, host: h, username: u, privateKey: k, privateKeyFile: /dev/null }',
      }),
      lines: [
        /connections\[0\]\.password: no login; allowed: a password, a privateKeyFile or a privateKey /,
        /connections\[1\]\.privateKey: a privateKeyFile too; allowed: one of the two /,
      ],
    },
    {
      name: 'certificates given twice, or with other text, which may be a secret',
      yaml: account({
        connections:
          `{ name: a, ${SFTP}, privateKey: k, certificate: k, certificateFile: /dev/null }, ` +
          `{ name: b, ${SFTP}, certificate: "" }, ` +
          '{ name: c, type: ftp, host: h, username: u, tlsCa: "PLANTED", tlsCaFile: /dev/null }, ' +
          `{ name: d, ${SFTP}, certificate: "PLANTED" }`,
      }),
      lines: [
        /connections\[0\]\.certificate: a certificateFile too; allowed: one of the two /,
        /connections\[0\]\.certificate: a text that is not shown here; allowed: .* one line of a file …-cert\.pub/,
        /connections\[2\]\.tlsCa: a tlsCaFile too; allowed: one of the two /,
        /connections\[2\]\.tlsCa: a text that is not shown here; allowed: .* certificates in PEM form/,
        /connections\[3\]\.certificate: no private key; allowed: a certificate only beside its private key /,
        /connections\[3\]\.certificate: a text that is not shown here; /,
      ],
    },
    {
      name: 'jump hosts in a circle, too many of them, and one that is none',
      yaml: account({
        connections: [
          ['a', 'b'],
          ['b', 'a'],
          ['c', 'c'],
          ['d', ''],
          ['e', 'd'],
          ['f', 'e'],
          ['g', 'f'],
          ['h', 'g'],
          ['i', 'x'],
        ]
          .map(([id = '', via = '']) => `{ id: ${id}, name: ${id}, ${SFTP}, via: "${via}" }`)
          .concat('{ id: x, name: x, type: ftp, host: h, username: u, via: none-such }')
          .join(', '),
      }),
      lines: [
        /connections\[0\]\.via: "b"; allowed: a way that ends: at most 3 jump hosts, and no circle /,
        /connections\[1\]\.via: "a"; allowed: a way that ends/,
        /connections\[2\]\.via: "c"; allowed: a way that ends/,
        /connections\[7\]\.via: "g"; allowed: a way that ends/,
        /connections\[8\]\.via: "x"; allowed: the id of an SFTP connection of the same account /,
        /connections\[9\]\.via: "none-such"; allowed: the id of an SFTP connection of the same account /,
      ],
    },
    {
      name: 'encryption without what it needs, and a key that would travel in the clear',
      yaml: account({
        connections: ['kms', 'customer', `customer, key: ${AES_KEY}`]
          .map(
            (type, at) =>
              `{ name: s${at}, type: s3, bucket: b, accessKeyId: a, secretAccessKey: s, endpoint: "http://h", encryption: { type: ${type} } }`,
          )
          .join(', '),
      }),
      lines: [
        /connections\[0\]\.encryption\.keyId: no id; allowed: the id of a key, because the type is kms /,
        /connections\[1\]\.encryption\.key: no key; allowed: 32 bytes in base64, because the type is customer /,
        /connections\[2\]\.encryption\.type: an endpoint with http; allowed: another one than customer /,
      ],
    },
    {
      name: 'an access key that is missing, or that nothing would use',
      yaml: account({
        connections:
          '{ name: a, type: s3, bucket: b }, ' +
          '{ name: b, type: s3, bucket: b, credentials: instance, accessKeyId: a, secretAccessKey: s, sessionToken: t }, ' +
          '{ name: c, type: s3, bucket: b, accessKeyId: a, credentials: static }',
      }),
      lines: [
        /connections\[0\]\.accessKeyId: nothing; allowed: .*, because credentials is static /,
        /connections\[0\]\.secretAccessKey: nothing; allowed: .*, because credentials is static /,
        /connections\[1\]\.accessKeyId: a value; allowed: absent, because credentials is instance /,
        /connections\[1\]\.secretAccessKey: a value; allowed: absent, because credentials is instance /,
        /connections\[1\]\.sessionToken: a value; allowed: absent, because credentials is instance /,
        /connections\[2\]\.secretAccessKey: nothing; allowed: .*, because credentials is static /,
      ],
    },
    {
      name: 'credentials of another kind',
      yaml: account({ connections: '{ name: a, type: s3, bucket: b, credentials: profile }' }),
      lines: [
        /connections\[0\]\.credentials: a text that is not shown here; allowed: one of static, environment, instance, webIdentity /,
      ],
    },
    {
      name: 'a reference to the key of an encryption that has none',
      yaml: account({
        connections:
          '{ name: a, type: s3, bucket: b, accessKeyId: a, secretAccessKey: s, encryption: { type: aes256, key: { from: "file:/k" } } }',
      }),
      lines: [/connections\[0\]\.encryption\.key: type aes256; allowed: absent, unless the type is customer /],
    },
    {
      name: 'encryption of another form',
      yaml: account({
        connections: ['rot13', `customer, key: ${AES_KEY}A`, 'customer, key: { from: hunter2 }', 'customer, key: {}']
          .map(
            (type, at) =>
              `{ name: s${at}, type: s3, bucket: b, accessKeyId: a, secretAccessKey: s, encryption: { type: ${type} } }`,
          )
          .join(', '),
      }),
      lines: [
        /connections\[0\]\.encryption\.type: "rot13"; allowed: /,
        /connections\[1\]\.encryption\.key: a text that is not shown here; allowed: 32 bytes in base64, or a mapping /,
        /connections\[2\]\.encryption\.key\.from: a text that is not shown here; allowed: a reference such as /,
        /connections\[3\]\.encryption\.key\.from: missing; allowed: a reference such as /,
      ],
    },
    {
      name: 'files that are not there',
      yaml:
        'server: { tls: { certFile: /nope/c.pem, keyFile: /tmp } }\n' +
        account({
          connections: `{ name: a, ${SFTP}, privateKeyFile: /nope/key }, { name: b, type: ftp, host: h, username: u, tlsCaFile: /nope/ca }`,
        }),
      lines: [
        /^server\.tls\.certFile: "\/nope\/c\.pem", which does not exist; allowed: a file that can be read/,
        /^server\.tls\.keyFile: "\/tmp", which is a folder; /,
        /connections\[0\]\.privateKeyFile: "\/nope\/key", which does not exist; /,
        /connections\[1\]\.tlsCaFile: "\/nope\/ca", which does not exist; /,
      ],
    },
    {
      name: 'the brand of an account',
      yaml: 'accounts: [{ email: a@example.com, plan: pro, ' + 'brand: { color: "red", name: "" } }]',
      lines: [/accounts\[0\]\.brand\.name: ""; allowed: text of 1 to 80/, /brand\.color: "red"; allowed: # and six/],
    },
    {
      name: 'a logo that is no image',
      yaml: 'accounts: [{ email: a@example.com, plan: pro, brand: { logoFile: package.json } }]',
      lines: [/brand\.logoFile: "package\.json", which holds something else; allowed: a PNG, JPEG or WebP/],
    },
    {
      name: 'rights of files and folders',
      yaml: account({
        connections: `{ name: a, ${SFTP}, fileMode: 0640, folderMode: "0640" }, { name: b, ${SFTP}, fileMode: "999" }`,
      }),
      lines: [
        /connections\[0\]\.fileMode: 640; allowed: 3 or 4 octal digits in quotes, such as "0640"/,
        /connections\[0\]\.folderMode: "0640"; allowed: 3 or 4 octal digits in quotes, .* enter \(7\)/,
        /connections\[1\]\.fileMode: "999"; allowed: /,
      ],
    },
    {
      name: 'a certificate without its key',
      yaml: 'server: { tls: { certFile: /dev/null } }',
      lines: [/^server\.tls\.keyFile: ""; allowed: certFile and keyFile together, or neither /],
    },
    {
      name: 'scopes, addresses and dates of a key',
      yaml: account({
        keys: `{ name: a, key: ${KEY}, scopes: [raed], allowedIps: [home], expiresAt: 2027-01-01 }, { name: b, key: ${KEY}2, scopes: [], connections: [x, x] }`,
      }),
      lines: [
        /apiKeys\[0\]\.scopes\[0\]: "raed"; allowed: one of read, write, exec, watch, admin /,
        /apiKeys\[0\]\.allowedIps\[0\]: "home"; allowed: an IP address or CIDR block /,
        /apiKeys\[0\]\.expiresAt: "2027-01-01"; allowed: a date-time such as 2027-01-31T00:00:00Z, or null /,
        /apiKeys\[1\]\.scopes: an empty list; allowed: at least one item: /,
        /apiKeys\[1\]\.connections: items 0 and 1 are the same; allowed: each item once /,
      ],
    },
    {
      name: 'a second that no clock shows',
      yaml: account({ keys: `{ name: a, key: ${KEY}, expiresAt: "2016-12-31T23:59:60Z" }` }),
      lines: [/apiKeys\[0\]\.expiresAt: "2016-12-31T23:59:60Z"; allowed: a date-time/],
    },
    {
      name: 'a key for a connection that does not exist',
      yaml: account({
        keys: `{ name: a, key: ${KEY}, connections: [lake] }`,
        connections: `{ id: w, name: w, ${SFTP} }`,
      }),
      lines: [/connections\[0\]: "lake"; allowed: the id of a connection of the same account \(w\) /],
    },
    {
      name: 'names, ids, keys and e-mail addresses that come twice',
      yaml:
        account({
          keys: `{ name: a, key: ${KEY} }, { name: a, key: ${KEY} }`,
          connections: `{ id: w, name: n, ${SFTP} }, { id: w, name: n, ${SFTP} }`,
        }) + '  - { email: OPS@example.com, plan: pro }\n',
      lines: [
        /^accounts\[0\]\.apiKeys\[1\]\.key: the same a second time; allowed: each key once, over all accounts /,
        /^accounts\[0\]\.connections\[1\]\.id: the same a second time; /,
        /^accounts\[1\]\.email: the same a second time; allowed: each e-mail address once /,
        /^accounts\[0\]\.apiKeys\[1\]\.name: the same a second time; /,
        /^accounts\[0\]\.connections\[1\]\.name: the same a second time; /,
      ],
    },
    {
      name: 'access keys of keys: two with one id, and what is none',
      yaml: account({
        keys:
          `{ name: a, key: ${KEY}, s3: { accessKeyId: FTGA000000000001, secretAccessKey: 0123456789abcdef } },` +
          `{ name: b, key: ${KEY}2, s3: { accessKeyId: FTGA000000000001, secretAccessKey: 0123456789abcdef } }`,
      }),
      lines: [
        /^accounts\[0\]\.apiKeys\[1\]\.s3\.accessKeyId: the same a second time; allowed: each accessKeyId once, over all accounts /,
      ],
    },
    {
      name: 'an access key whose parts are too short, have other characters, or are absent',
      yaml: account({
        keys:
          `{ name: a, key: ${KEY}, s3: { accessKeyId: FTGA-short, secretAccessKey: never-shown } },` +
          `{ name: b, key: ${KEY}2, s3: { accessKeyId: FTGA000000000001, secretAccessKey: "never shown, has spaces" } },` +
          `{ name: c, key: ${KEY}3, s3: { accessKeyId: FTGA000000000002 } }`,
      }),
      lines: [
        /apiKeys\[0\]\.s3\.accessKeyId: "FTGA-short"; allowed: 16 to 128 letters, digits and _ /,
        /apiKeys\[0\]\.s3\.secretAccessKey: a text that is not shown here; allowed: 16 to 128 printable ASCII characters/,
        /apiKeys\[1\]\.s3\.secretAccessKey: a text that is not shown here; /,
        /apiKeys\[2\]\.s3\.secretAccessKey: missing; /,
      ],
    },
    {
      name: 'settings of the S3 front',
      yaml: 's3: { enabled: perhaps, port: 65536, region: us east }',
      lines: [
        /^s3\.enabled: "perhaps"; allowed: true or false/,
        /^s3\.port: 65536; allowed: /,
        /^s3\.region: "us east"; allowed: a region such as us-east-1 /,
      ],
    },
    {
      name: 'one port for two listeners',
      yaml: 'server: { port: 9000 }\ns3: { port: 9000 }',
      lines: [/^s3\.port: 9000; allowed: another port than server\.port, or 0 for no second listener /],
    },
    {
      name: 'S3 has no root folder and only whole uploads',
      yaml: account({
        connections:
          '{ name: l, type: s3, bucket: b, accessKeyId: a, secretAccessKey: s, rootPath: /x, atomicUploads: false }',
      }),
      lines: [
        /\.rootPath: "\/x"; allowed: \/ and nothing else /,
        /\.atomicUploads: false; allowed: true and nothing else /,
      ],
    },
    {
      name: 'a variable that is not set',
      yaml: 'server: { port: "${NOPE}" }\nmetrics: { token: "${A}${B}" }',
      env: { A: 'x' },
      lines: [
        'server.port: ${NOPE}, not set in the environment; allowed: a variable that is set, or one with a default: ${NOPE:-default} (gateway.yaml:1:17)',
        /^metrics\.token: \$\{B\}, not set in the environment; /,
      ],
    },
    {
      name: 'a reference of another form',
      yaml: 'dataDir: "/x/${A B}"\nmetrics: { token: "hunter2${" }\nserver: { host: "${A:-${B}}" }',
      lines: [
        /^dataDir: "\/x\/\$\{A B\}", where a "\$\{" begins no variable; allowed: \$\{NAME\} or \$\{NAME:-default\}; \$\$\{/,
        /^metrics\.token: a "\$\{" that begins no variable; /,
        /^server\.host: "\$\{A:-\$\{B\}\}", where /,
      ],
    },
    {
      name: 'a variable of the wrong kind inside the file',
      yaml: 'server: { port: "${P}", threads: "${T:-many}" }',
      env: { P: 'hunter2' },
      lines: [
        /^server\.port: "\$\{P\}", whose value does not fit; /,
        /^server\.threads: "\$\{T:-many\}", whose value does not fit; /,
      ],
    },
    {
      name: 'a variable that wins over the file',
      yaml: 'server: { port: 1 }',
      env: { PORT: 'http', LOG_LEVEL: 'loud' },
      lines: [
        'server.port: "http"; allowed: a whole number from 0 to 65535 (PORT)',
        'log.level: "loud"; allowed: one of trace, debug, info, warn, error, fatal, silent (LOG_LEVEL)',
      ],
    },
    {
      name: 'a master key of another length',
      yaml: '',
      env: { GATEWAY_MASTER_KEY: 'hunter2' },
      lines: [
        'GATEWAY_MASTER_KEY: a text of 7 characters that is no key; allowed: 32 bytes as base64 or as 64 hex digits',
      ],
    },
    {
      name: 'a key that appears twice',
      yaml: 'server: { port: 1 }\nserver: { port: 2 }',
      lines: ['the file: the same key a second time in one mapping; allowed: YAML 1.2, one mapping (gateway.yaml:2:1)'],
    },
    {
      name: 'braces that need quotes, once and not for all that follows from them',
      yaml: 'server: { threads: ${T} }\nsandbox: true\nmetrics: { token: x }\n',
      lines: [/^the file: an unexpected character; .* need quotes; allowed: .*gateway\.yaml:1:/],
    },
    {
      name: 'a quote that is not closed',
      yaml: 'metrics:\n  token: "hunter2\n',
      lines: [/^the file: a missing character, .*\(gateway\.yaml:3:1\)$/],
    },
    {
      name: 'a tab as indentation',
      yaml: 'server:\n\tport: 1',
      lines: [/^the file: .*; allowed: YAML 1\.2.*gateway\.yaml:2/],
    },
    { name: 'two documents', yaml: 'sandbox: true\n---\nsandbox: false', lines: [/^the file: a second document/] },
    {
      name: 'a password that YAML takes for an alias',
      yaml: 'metrics: { token: *hunter2 }',
      lines: [/^the file: aliases/],
    },
    {
      name: 'a password that YAML takes for a tag',
      yaml: 'metrics: { token: !hunter2 x }',
      lines: [/^the file: a tag/],
    },
    { name: 'a value that holds itself', yaml: 'server: &s { tls: *s }', lines: [/^the file: aliases|^server/] },
    { name: 'a prototype', yaml: '__proto__: { sandbox: true }', lines: [/^__proto__: unknown key; /] },
  ];
  for (const { name, yaml, env, lines } of cases) {
    test(name, async () => {
      const mistakes = await mistakesIn(yaml, env);
      assert.equal(mistakes.length, lines.length, mistakes.join('\n'));
      lines.forEach((line, index) => {
        if (typeof line === 'string') assert.equal(mistakes[index], line);
        else assert.match(mistakes[index] ?? '', line);
      });
      // Secrets of these tests are called hunter2 and keys begin with KEY; no message may contain either.
      assert.doesNotMatch(mistakes.join('\n'), new RegExp(`hunter2|${KEY}`));
    });
  }

  test('a missing file', () => {
    assert.throws(() => loadConfig({ file: '/nope/gateway.yaml', env: {} }), {
      name: 'ConfigError',
      message: 'GATEWAY_CONFIG: "/nope/gateway.yaml", which does not exist; allowed: the path of a readable YAML file',
    });
  });

  test('a certificate with the key of another one', async () => {
    await inFolder(async (folder) => {
      const pem = (name: string): string => path.join(folder, name);
      for (const name of ['a', 'b']) {
        const files = ['-keyout', pem(`${name}.key`), '-out', pem(`${name}.crt`)];
        const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1'];
        execFileSync('openssl', ['req', '-x509', '-nodes', ...newKey, '-subj', '/CN=x', ...files], { stdio: 'ignore' });
      }
      const tls = (cert: string, key: string): string =>
        `server: { tls: { certFile: ${pem(`${cert}.crt`)}, keyFile: ${pem(`${key}.key`)} } }`;
      const [line, ...others] = await mistakesIn(tls('a', 'b'));
      assert.match(line ?? '', /^server\.tls: ".*a\.crt" with ".*b\.key"; allowed: a PEM certificate/);
      assert.deepEqual(others, []);
      assert.equal((await load(tls('a', 'a'))).server.tls.keyFile, pem('a.key'));
    });
  });
});

suite('no secret reaches a message, wherever it is written', () => {
  const planted = 'hunter2Secret';
  const places = {
    'a number-like password': account({
      connections: `{ name: a, type: sftp, host: h, username: u, password: [${planted}] }`,
    }),
    'a short API key': account({ keys: `{ name: a, key: ${planted} }` }),
    'an API key in place of its mapping': account({ keys: planted }),
    'an API key under connections of a key': account({
      keys: `{ name: a, key: ${KEY}, connections: [${KEY}${planted}] }`,
    }),
    'an unknown key': `passwrod: ${planted}`,
    'a URL of the database': `database: { url: "mysql://u:${planted}@h/db" }`,
    'a URL with a slash in the password': `database: { url: "postgres//u:${planted}/x@h/db" }`,
    'the query of a URL': `database: { url: "mysql://h/db?password=${planted}" }`,
    'a login in an endpoint': account({
      connections: `{ name: a, type: s3, bucket: b, accessKeyId: a, secretAccessKey: s, endpoint: "https://u:${planted}@h" }`,
    }),
    'a login in a host': account({ connections: `{ name: a, type: ftp, host: "ftp://u:${planted}@h", username: u }` }),
    'a secret with a control character': account({
      connections: `{ name: a, type: s3, bucket: b, accessKeyId: a, secretAccessKey: "${planted}\\n" }`,
    }),
    'a default of a secret': account({ keys: `{ name: a, key: "\${K:-${planted}}" }` }),
    'a token with a space': `metrics: { token: "${planted} x" }`,
    'a private key in place of its file': account({
      connections: `{ name: a, type: sftp, host: h, username: u, privateKeyFile: "-----BEGIN PRIVATE KEY-----\\n${planted}" }`,
    }),
  };
  for (const [name, yaml] of Object.entries(places)) {
    test(name, async () => assert.doesNotMatch((await mistakesIn(yaml)).join('\n'), /hunter2/));
  }
  test('variables that override the file', async () => {
    const env = { DATABASE_URL: `mysql://u:${planted}@h`, GATEWAY_MASTER_KEY: planted };
    const lines = (await mistakesIn('', env)).join('\n');
    assert.match(lines, /^GATEWAY_MASTER_KEY: .*\ndatabase\.url: "mysql:\/\/h\/…"; .*\(DATABASE_URL\)$/);
    assert.doesNotMatch(lines, /hunter2/);
  });
});

suite('allowed values are loaded', () => {
  test('without a file every value is the default, and nothing can be changed', () => {
    const config = defaults();
    assert.equal(config.server.port, 8080);
    assert.equal(config.masterKey, '');
    const frozen = (value: unknown): boolean =>
      typeof value !== 'object' || value === null || (Object.isFrozen(value) && Object.values(value).every(frozen));
    assert.ok(frozen(config));
    assert.notEqual(defaults(), config);
  });

  test('an empty file and empty sections mean the defaults', async () => {
    assert.deepEqual(await load(''), defaults());
    assert.deepEqual(await load('# nothing\nserver:\npools:\n  default:\naccounts:\n'), defaults());
  });

  test("the operator's plans are added to free and pro", async () => {
    const { plans } = (await load('limits: { plans: { free: { monthlyActions: 5 }, team: { connections: 3 } } }'))
      .limits;
    assert.deepEqual(plans, {
      free: { connections: 1, monthlyActions: 5 },
      pro: { connections: 0, monthlyActions: 0 },
      team: { connections: 3, monthlyActions: 0 },
    });
  });

  test('connections and keys get defaults for absent fields', async () => {
    const yaml = account({
      keys: `{ name: ci, key: ${KEY} }`,
      connections: `{ name: w, ${SFTP} }, { name: f, type: ftp, host: h, username: u }, { name: l, type: s3, bucket: b, accessKeyId: a, secretAccessKey: s }`,
    });
    const [loaded] = (await load(yaml)).accounts;
    const common = { isActive: true, rootPath: '/', atomicUploads: true, pool: {}, digests: 'asked', verify: 'size' };
    const tls = { tlsCaFile: '', tlsVerify: true };
    const server = { username: 'u', host: 'h' };
    assert.deepEqual(loaded?.apiKeys, [
      {
        name: 'ci',
        key: KEY,
        scopes: ['read', 'write', 'exec', 'watch'],
        connections: [],
        allowedIps: [],
      },
    ]);
    assert.deepEqual(loaded?.connections, [
      {
        ...common,
        type: 'sftp',
        name: 'w',
        host: 'sftp.example.com',
        username: 'gw',
        password: 'pw',
        port: 22,
        algorithms: 'default',
        certificateFile: '',
        hostCa: [],
        hostKeyRotation: 'ask',
      },
      {
        ...common,
        ...tls,
        ...server,
        type: 'ftp',
        name: 'f',
        port: 21,
        tls: 'none',
        listing: 'auto',
        encoding: 'utf-8',
      },
      {
        ...common,
        ...tls,
        type: 's3',
        name: 'l',
        bucket: 'b',
        accessKeyId: 'a',
        secretAccessKey: 's',
        credentials: 'static',
        region: 'us-east-1',
        forcePathStyle: true,
        uploader: 'streamed',
        acl: 'none',
        encryption: { type: 'none' },
        requesterPays: false,
        checksums: 'auto',
        prefix: '',
      },
    ]);
  });

  test('each secret of a connection may be a reference, those that are parts of a setting too', async () => {
    const texts = ['secretAccessKey', 'sessionToken'].map((name) => `${name}: { from: "file:/${name}" }`);
    const encryption = 'encryption: { type: customer, key: { from: "file:/encryptionKey" } }';
    const proxy = 'proxy: { url: "http://p:1", password: { from: "file:/proxyPassword" } }';
    const connections = `{ name: l, type: s3, bucket: b, accessKeyId: a, ${texts.join(', ')}, ${encryption}, ${proxy} }`;
    const config = await load(account({ connections }));
    assert.deepEqual(
      [...referencesIn(config)].sort(),
      Object.keys(s3.secrets)
        .map((name) => `file:/${name}`)
        .sort(),
    );
    const [entry] = config.accounts[0]?.connections ?? [];
    assert.ok(entry !== undefined);
    const { settings, references } = await splitConfig(entry);
    assert.deepEqual(Object.keys(references).sort(), Object.keys(s3.secrets).sort());
    assert.doesNotMatch(JSON.stringify(settings), /file:/);
  });

  test('an inactive connection does not count against the plan', async () => {
    const connections = `{ name: a, ${SFTP} }, { name: b, ${SFTP}, isActive: false }`;
    assert.equal((await load(account({ plan: 'free', connections }))).accounts[0]?.connections.length, 2);
  });

  test('an alias gives each place a value of its own', async () => {
    const yaml = 'pools: { default: &d { maxSessions: 3 }, hosts: { "h:22": *d } }';
    const { pools } = await load(yaml);
    assert.deepEqual(pools.hosts, { 'h:22': { maxSessions: 3 } });
    assert.equal(pools.default.maxWaiting, 256);
  });
});

suite('environment variables', () => {
  test('replace ${NAME}, with their defaults where they are unset or empty', async () => {
    const yaml = 'dataDir: "${BASE}/x-${NAME:-a b}-${EMPTY:-e}"\nserver: { host: "${HOST_NAME:-}localhost" }';
    const config = await load(yaml, { BASE: '/srv', EMPTY: '' });
    assert.equal(config.dataDir, '/srv/x-a b-e');
    assert.equal(config.server.host, 'localhost');
  });

  test('are not replaced behind $${, in keys, or in the value of a variable', async () => {
    const yaml = account({
      connections: `{ name: a, ${SFTP.replace('pw', () => '"$${A}$${B}$C"')} }`,
      keys: `{ name: n, key: "\${K}" }`,
    });
    const [loaded] = (await load(yaml, { K: `${KEY}\${A}` })).accounts;
    assert.equal(loaded?.connections[0]?.type === 'sftp' && loaded.connections[0].password, '${A}${B}$C');
    assert.equal(loaded?.apiKeys[0]?.key, `${KEY}\${A}`);
  });

  test('become numbers and booleans where one variable is the whole value of such a key', async () => {
    const yaml =
      'server: { port: "${P}", threads: "${T}" }\nsandbox: ${S:-true}\nlog: { pretty: "${L}" }\nmetrics: { token: "${P}" }';
    const config = await load(yaml, { P: '0', T: '2', L: 'false' });
    assert.equal(config.server.port, 0);
    assert.equal(config.server.threads, 2);
    assert.equal(config.sandbox, true);
    assert.equal(config.log.pretty, false);
    assert.equal(config.metrics.token, '0');
    assert.equal((await load(yaml, { P: '1', T: 'auto', L: 'auto' })).server.threads, 'auto');
  });

  test('override the file, empty ones do not', async () => {
    const yaml =
      'server: { host: 0.0.0.0, port: 1 }\ndataDir: /a\ndatabase: { url: "postgres://a/b" }\nlog: { level: warn }';
    const key = 'ab'.repeat(32);
    const won = await load(yaml, {
      HOST: '::1',
      PORT: '2',
      GATEWAY_DATA_DIR: '/b',
      DATABASE_URL: 'postgresql://c/d',
      LOG_LEVEL: 'debug',
      GATEWAY_MASTER_KEY: ` ${key}\n`,
    });
    const { server, dataDir, database, log, masterKey } = won;
    assert.deepEqual(
      [server.host, server.port, dataDir, database.url, log.level, masterKey],
      ['::1', 2, '/b', 'postgresql://c/d', 'debug', key],
    );
    const kept = await load(yaml, { HOST: '', PORT: '', GATEWAY_DATA_DIR: '', DATABASE_URL: '', LOG_LEVEL: '' });
    assert.deepEqual(kept, await load(yaml));
  });

  test('override the defaults without a file too', () => {
    assert.equal(loadConfig({ env: { PORT: '0' } }).server.port, 0);
  });

  test('the master key may be base64, padded or not', () => {
    for (const key of [Buffer.alloc(32, 7).toString('base64'), Buffer.alloc(32, 255).toString('base64url')]) {
      assert.equal(loadConfig({ env: { GATEWAY_MASTER_KEY: key } }).masterKey, key);
    }
  });
});

test('a relative path stays relative to the working directory, wherever the file is', async () => {
  await inFolder((folder) => {
    const file = path.join(folder, 'gateway.yaml');
    writeFileSync(file, 'dataDir: ./here');
    assert.equal(loadConfig({ file, env: {} }).dataDir, './here');
  });
});
