/** What hard words mean: two or three sentences each, shown by a small button beside the word. */
export const terms = {
  whatIs: (word: string): string => `What is “${word}”?`,
  connection: {
    word: 'Connection',
    text: 'One login on one SFTP, FTP or S3 server, kept under a name. Programs name it in their requests and never see its password.',
  },
  connectionId: {
    word: 'Id of a connection',
    text: 'The short name that programs put into their requests, such as /api/list/warehouse. It cannot be changed later.',
  },
  hostKey: {
    word: 'Host key',
    text: 'What an SSH server proves its identity with. The gateway remembers it, and refuses to log in when another one is shown: somebody could stand in between.',
  },
  fingerprint: {
    word: 'Fingerprint',
    text: 'A short form of a key. Compare it with the one that the owner of the server tells you: equal fingerprints mean equal keys.',
  },
  pinned: {
    word: 'Pinned',
    text: 'You have said that this key is the right one. Only a server that shows it is logged in to.',
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
    text: 'The top of what this connection shows. Nothing above it can be reached with it.',
  },
  atomicUpload: {
    word: 'Hidden name, then rename',
    text: 'A file arrives under a hidden name and gets its own when it is whole. Nobody ever reads half a file.',
  },
  apiKey: {
    word: 'API key',
    text: 'What a program shows with each request, as a person shows a password. Issue one for each program: then one can be stopped without the others.',
  },
  rights: {
    word: 'Rights',
    text: 'What a key may do: read, write, watch folders, run commands, or everything. Give each program what it needs and no more.',
  },
  rotate: {
    word: 'Rotate',
    text: 'A new key takes the place of the present one. Both work for a while, so that no program stops in between.',
  },
  secondFactor: {
    word: 'Second factor',
    text: 'A code from an app on your phone, asked for after the password. A stolen password alone then opens nothing.',
  },
  recoveryCodes: {
    word: 'Recovery codes',
    text: 'Each stands in for a code of the app once, for the day on which the phone is lost.',
  },
  watchedFolder: {
    word: 'Watched folder',
    text: 'The gateway looks into a folder on a server again and again, and tells a webhook of each file that is new or has changed.',
  },
  baseline: {
    word: 'Baseline',
    text: 'The list of what was in the folder at the first look. Only what is new or different after that is reported.',
  },
  settle: {
    word: 'Settled',
    text: 'A file has settled when its size and time stay the same between two looks. Until then somebody may still be writing it.',
  },
  webhook: {
    word: 'Webhook',
    text: 'An address of yours that the gateway calls when something happens. Each call is signed and tried again until it is answered.',
  },
  signingSecret: {
    word: 'Signing secret',
    text: 'Each message is signed with it. Your program checks the signature, and so knows that the gateway sent the message.',
  },
  deadLetter: {
    word: 'Dead letter',
    text: 'A message that was tried as often as is allowed and never answered well. It is kept, and you can send it again.',
  },
  glob: {
    word: 'Pattern',
    text: '* stands for any characters, ? for one. *.csv fits every name that ends in .csv.',
  },
  digest: {
    word: 'Digest',
    text: 'A number that is worked out from every byte of a file (SHA-256). Two files with one digest are the same.',
  },
  receipt: {
    word: 'Receipt',
    text: 'A signed record of what was moved, when and where to. Receipts form a chain: one that was changed or taken out shows.',
  },
  requestId: {
    word: 'Request id',
    text: 'Each answer of the API names one, in X-Request-Id. It finds the request in the history and in the log.',
  },
  cron: {
    word: 'Cron',
    text: 'Five fields for minute, hour, day, month and weekday. 30 2 * * 1-5 is half past two on working days.',
  },
  dryRun: {
    word: 'Dry run',
    text: 'Shows what would be done, and does nothing.',
  },
  resumable: {
    word: 'Resumable upload',
    text: 'An upload that goes on where it was when the line broke, instead of starting anew.',
  },
  session: {
    word: 'Session',
    text: 'One open login on a server. Servers allow only so many at once; the gateway shares them between requests.',
  },
  p95: {
    word: 'p95',
    text: '95 of 100 took no longer than this. It shows what slow cases are like, which an average hides.',
  },
  availability: {
    word: 'Availability',
    text: 'The part of the looks at the server that found it well.',
  },
  outage: {
    word: 'Outage',
    text: 'The time from the first look that failed to the next one that went well.',
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
