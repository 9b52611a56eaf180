/** Explanations of technical terms in two or three sentences. A small button beside the term shows them. */
export const terms = {
  whatIs: (word: string): string => `What is “${word}”?`,
  connection: {
    word: 'Connection',
    text: 'One login on an SFTP, FTP or S3 server. Programs use it by its id and never see the password.',
  },
  connectionId: {
    word: 'Id of a connection',
    text: 'The short name that programs put into their requests, such as /api/list/warehouse. It cannot be changed later.',
  },
  hostKey: {
    word: 'Host key',
    text: 'An SSH server proves its identity with this key. The gateway remembers it. If the key changes, the gateway refuses to log in, because someone could be intercepting the connection.',
  },
  fingerprint: {
    word: 'Fingerprint',
    text: 'A short form of a key. Compare it with the one from the owner of the server. Equal fingerprints mean equal keys.',
  },
  pinned: {
    word: 'Pinned',
    text: 'You confirmed that this key is right. The gateway logs in only to a server that has it.',
  },
  keyPair: {
    word: 'Key pair',
    text: 'A private key, which stays in the gateway, and a public one, which you give to the server. With it no password is needed.',
  },
  passphrase: {
    word: 'Passphrase',
    text: 'Some private keys are encrypted in their file. The passphrase opens them.',
  },
  rootFolder: {
    word: 'Root folder',
    text: 'The top folder of this connection. Nothing above it can be reached.',
  },
  atomicUpload: {
    word: 'Hidden name, then rename',
    text: 'A file is uploaded under a hidden name and renamed once it is complete. No one ever reads half a file.',
  },
  apiKey: {
    word: 'API key',
    text: 'A program sends it with each request, like a password. Issue one key per program. Then you can revoke one without affecting the others.',
  },
  rights: {
    word: 'Rights',
    text: 'What a key may do: read, write, watch folders, run commands, or everything. Give each program what it needs and no more.',
  },
  rotate: {
    word: 'Rotate',
    text: 'A new key replaces the current one. Both work for a while, so that no program stops.',
  },
  secondFactor: {
    word: 'Second factor',
    text: 'A code from an app on your phone, asked for after the password. A stolen password alone is then useless.',
  },
  recoveryCodes: {
    word: 'Recovery codes',
    text: 'Each one replaces a code from the app, once. You need them if you lose the phone.',
  },
  watchedFolder: {
    word: 'Watched folder',
    text: 'The gateway checks a folder on a server at set intervals. It reports new and changed files to a webhook.',
  },
  baseline: {
    word: 'Baseline',
    text: 'The list of files at the first check. Only files that are new or changed after that are reported.',
  },
  settle: {
    word: 'Settled',
    text: 'A file has settled when its size and time stay the same between two checks. Before that, someone may still be writing it.',
  },
  webhook: {
    word: 'Webhook',
    text: 'A URL of yours that the gateway calls when something happens. Each call is signed, and repeated if it fails.',
  },
  deadLetter: {
    word: 'Dead letter',
    text: 'A message that could not be delivered in any attempt. It is kept, and you can send it again.',
  },
  glob: {
    word: 'Pattern',
    text: '* matches any characters, ? matches one. *.csv matches every name that ends in .csv.',
  },
  digest: {
    word: 'Digest',
    text: 'A number computed from every byte of a file (SHA-256). Files with the same digest are the same.',
  },
  receipt: {
    word: 'Receipt',
    text: 'A signed record of what was moved, when and where. Receipts form a chain, so a changed or missing one is noticed.',
  },
  requestId: {
    word: 'Request id',
    text: 'Each response of the API has one, in X-Request-Id. Use it to find the request in the history and in the log.',
  },
  cron: {
    word: 'Cron',
    text: 'Five fields for minute, hour, day, month and weekday. 30 2 * * 1-5 is half past two on working days.',
  },
  dryRun: {
    word: 'Dry run',
    text: 'Shows what would happen, and changes nothing.',
  },
  resumable: {
    word: 'Resumable upload',
    text: 'An upload that continues after a lost connection instead of starting over.',
  },
  session: {
    word: 'Session',
    text: 'One open login on a server. Servers limit how many there are, so requests share them.',
  },
  p95: {
    word: 'p95',
    text: '95 of 100 were this fast or faster. It shows the slow cases that an average hides.',
  },
  availability: {
    word: 'Availability',
    text: 'The share of checks that found the server working.',
  },
  outage: {
    word: 'Outage',
    text: 'The time from the first failed check to the next successful one.',
  },
  route: {
    word: 'Route',
    text: 'A watched folder that also copies what it finds to another connection.',
  },
  plan: {
    word: 'Plan',
    text: 'How many connections and actions a month the account has. The operator of the gateway sets it.',
  },
};
