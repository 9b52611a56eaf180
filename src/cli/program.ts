/** The tree of commands. Start reading here: a line names its action, and the action its requests to the gateway. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { Argument, Command, Option } from 'commander';
import { readManifest } from '../base/package-root.js';
import { apiKeyFields } from '../contract/api-key.js';
import { brandFields } from '../contract/brand.js';
import { EXITS } from '../contract/exit-codes.js';
import { auditListFilters, managedTransferFilters, receiptFilters, transferListFilters } from '../contract/filters.js';
import { EXPORT_FORMATS } from '../contract/transfer.js';
import { Actions, commandsOn } from './command.js';
import * as accounts from './commands/accounts.js';
import * as connections from './commands/connections.js';
import { doctor } from './commands/doctor.js';
import type { init as initCommand } from './commands/init.js';
import * as keys from './commands/keys.js';
import * as login from './commands/login.js';
import { addMcpCommand } from './commands/mcp.js';
import * as receipts from './commands/receipts.js';
import * as transfers from './commands/transfers.js';
import { verifyFile } from './commands/verify.js';
import { SCRIPTS, type Shell, SHELLS } from './completion/scripts.js';
import { complete } from './completion/words.js';
import type { FieldOption } from './connection-options.js';
import { UsageError } from './exit-codes.js';
import { addEventCommands } from './event-commands.js';
import { addFieldOptions } from './field-options.js';
import { addFileCommands, addJobCommands, addScheduleCommands } from './file-commands.js';
import { addLinkCommands } from './link-commands.js';
import { number } from './option-values.js';
import { addWatchCommands } from './watch-commands.js';

interface ProgramOptions {
  /** The command line. */
  readonly words: readonly string[];
  /** Aborted by Ctrl-C and SIGTERM. */
  readonly signal: AbortSignal;
  readonly version: string;
  /** Leaves signals, exit code and the end of the process to the program that starts now. */
  readonly handOver: () => void;
}

export async function createProgram({ words, signal, version, handOver }: ProgramOptions): Promise<Command> {
  const program = new Command('ftg')
    .description('Moves and manages files on SFTP, FTP and S3 servers through a File Transfer Gateway.')
    .version(version)
    .option('--json', 'print JSON for programs, errors too')
    .option('--profile <name>', 'which gateway, of those that "ftg profiles" lists; counts before FTG_URL and FTG_KEY')
    // Commands inherit both: main.ts prints errors and ends the process.
    .exitOverride()
    .configureOutput({ outputError: () => undefined })
    .addHelpText('after', HELP);
  const actions = new Actions(signal);
  addFileCommands(program, actions);
  addJobCommands(program, actions);
  addScheduleCommands(program, actions);
  addEventCommands(program, actions);
  addLinkCommands(program, actions);
  // The definitions take longer to load than everything else; only these commands need them.
  const options = /\b(connections|init)\b/.test(words.join(' '))
    ? await import('./connection-options.js')
    : { TYPES: [], FIELD_OPTIONS: [] };
  addConnectionCommands(program, actions, options);
  addKeyCommands(program, actions);
  addAccountCommands(program, actions);
  addTransferCommands(program, actions);
  addWatchCommands(program, actions);
  addLocalCommands(program, actions);
  addInit(program, actions, options);
  addMcpCommand(program, actions, version);
  addServe(program, actions, handOver);
  return program;
}

const HELP = `
A place is written connection:path, such as warehouse:/upload/report.pdf. A folder ends with /. Without a path it is the
connection's default folder. "-" is standard input or output.

Exit codes:
${Object.values(EXITS)
  .map(({ code, meaning }) => `  ${String(code).padStart(3)}  ${meaning}`)
  .join('\n')}`;

interface ConnectionOptions {
  readonly TYPES: readonly string[];
  readonly FIELD_OPTIONS: readonly FieldOption[];
}

function addConnectionCommands(program: Command, actions: Actions, { TYPES, FIELD_OPTIONS }: ConnectionOptions): void {
  const group = program.command('connections').description('the servers of the account');
  actions.remote(
    group.command('list', { isDefault: true }).description('list connections'),
    connections.listConnections,
  );
  const one = commandsOn(group, '<connection>', 'id of the connection');
  actions.remote(one('show', 'show a connection'), connections.showConnection);
  const withFields = (command: Command): Command => {
    for (const { option } of FIELD_OPTIONS) command.addOption(option);
    return command.option('--from <file>', 'a JSON object with any fields of a connection, or - for standard input');
  };
  const create = withFields(group.command('create').description('register a connection'))
    .argument('[id]', 'its id; made when absent')
    .addOption(new Option('--type <type>', 'protocol').choices(TYPES));
  actions.remote(create, connections.createConnection(FIELD_OPTIONS));
  actions.remote(withFields(one('edit', 'change a connection')), connections.editConnection(FIELD_OPTIONS));
  actions.remote(
    one('test', 'test it step by step').option('--probe', 'also write, rename and delete a small file'),
    connections.testConnection,
  );
  actions.remote(one('activate', 'switch it on'), connections.switchConnection('activate'));
  actions.remote(one('deactivate', 'switch it off'), connections.switchConnection('deactivate'));
  actions.remote(
    one('duplicate', 'make another one like it, with its secrets')
      .argument('[id]', 'id of the new one')
      .option('--name <name>', 'name of the new one')
      .option('--via <connection>', 'jump host of the new one, if another; empty = none'),
    connections.duplicateConnection,
  );
  actions.remote(
    one('rm', 'delete it').option('-f, --force', 'although others depend on it'),
    connections.deleteConnection,
  );
  const hostKeys = group.command('host-keys').description('which host keys a connection trusts');
  const ofHost = commandsOn(hostKeys, '<connection>', 'id of the connection');
  actions.remote(
    ofHost('list', 'show those that are pinned, and those that the server announces'),
    connections.showHostKeys,
  );
  actions.remote(ofHost('scan', 'ask the server which ones it shows now'), connections.scanHostKeys);
  actions.remote(
    ofHost('pin', 'trust one more').argument('<fingerprint>', 'SHA256:…').option('--replace', 'in place of the others'),
    connections.pinHostKey,
  );
  const announced = (name: string, text: string): Command => ofHost(name, text).argument('<fingerprint>', 'SHA256:…');
  actions.remote(announced('accept', 'trust one that the server announces'), connections.decideOnHostKey('accept'));
  actions.remote(
    announced('reject', 'never by a rule trust one that it announces'),
    connections.decideOnHostKey('reject'),
  );
  actions.remote(ofHost('forget', 'trust the next one that is shown'), connections.forgetHostKeys);
  const pairs = group.command('key-pairs').description('key pairs that the gateway made for SFTP logins');
  actions.remote(pairs.command('list', { isDefault: true }).description('list key pairs'), connections.listKeyPairs);
  actions.remote(
    pairs.command('create').description('make one; prints its public key').argument('<name>'),
    connections.createKeyPair,
  );
  actions.remote(pairs.command('rm').description('delete one').argument('<id>'), connections.deleteKeyPair);
}

function addKeyCommands(program: Command, actions: Actions): void {
  const group = program.command('keys').description('API keys of the account');
  actions.remote(group.command('list', { isDefault: true }).description('list keys'), keys.listKeys);
  const create = group.command('create').description('issue a key; it is printed only once');
  actions.remote(addFieldOptions(create.argument('<name>', 'name of the key'), apiKeyFields, ['name']), keys.createKey);
  const edit = group.command('edit').description('change a key').argument('<id>');
  actions.remote(addFieldOptions(edit, apiKeyFields), keys.editKey);
  actions.remote(
    group
      .command('rotate')
      .description('replace a key; the new one is printed only once')
      .argument('<id>')
      .option('--overlap <minutes>', 'how long the former one still works; 60 when absent', number(0, 43_200)),
    keys.rotateKey,
  );
  actions.remote(group.command('revoke').description('end a key').argument('<id>'), keys.revokeKey);
  const s3 = group.command('s3').description('access keys of API keys for programs that use S3');
  actions.remote(s3.command('list', { isDefault: true }).description('list them'), keys.listS3Keys);
  actions.remote(
    s3.command('create').description('make one; its secret is printed only once').argument('<id>', 'of the API key'),
    keys.createS3Key,
  );
  actions.remote(
    s3.command('rm').description('delete one').argument('<id>', 'of the API key').argument('<access-key-id>'),
    keys.deleteS3Key,
  );
}

function addAccountCommands(program: Command, actions: Actions): void {
  const group = program.command('accounts').description('the account of the key or login');
  actions.remote(group.command('show', { isDefault: true }).description('whose key it is'), accounts.showAccount);
  actions.remote(group.command('usage').description('the month against the plan'), accounts.showUsage);
  actions.remote(group.command('overview').description('today, and what needs a person'), accounts.showOverview);
  actions.remote(
    addFieldOptions(group.command('audit').description('what was changed, by whom'), auditListFilters),
    accounts.listAudit,
  );
  const brand = group.command('brand').description('who asks, on the pages of links');
  actions.remote(brand.command('show', { isDefault: true }).description('show it'), accounts.showBrand);
  const set = brand.command('set').description('change it; "" removes a part');
  actions.remote(
    addFieldOptions(set, brandFields).option('--logo <file>', 'PNG, JPEG or WebP, at most 64 KiB'),
    accounts.setBrand,
  );
  const sessions = group.command('sessions').description('login sessions');
  actions.remote(sessions.command('list', { isDefault: true }).description('who is logged in'), accounts.listSessions);
  actions.remote(sessions.command('revoke').description('end one').argument('<id>'), accounts.revokeSession);
  actions.remote(
    group
      .command('password')
      .description('change the password; asks for both')
      .option('--current-file <file>', 'a file with the password until now, or -')
      .option('--new-file <file>', 'a file with the new one, or -'),
    accounts.changePassword,
  );
}

function addTransferCommands(program: Command, actions: Actions): void {
  const group = program.command('transfers').description('the history, and what runs now');
  const list = group.command('list', { isDefault: true }).description('list the history, newest first');
  actions.remote(addFieldOptions(list, transferListFilters), transfers.listTransfers);
  actions.remote(group.command('show').description('show one').argument('<id>'), transfers.showTransfer);
  actions.remote(
    group.command('receipt').description('print the receipt of one, which ftg verify checks').argument('<id>'),
    receipts.showReceipt,
  );
  actions.remote(group.command('live').description('those that run now'), transfers.listLive);
  actions.remote(group.command('cancel').description('end a running one').argument('<id>'), transfers.cancelTransfer);
  actions.remote(group.command('again').description('repeat a failed one').argument('<id>'), transfers.repeatTransfer);
  actions.remote(
    addFieldOptions(
      group.command('export').description('the whole history to standard output'),
      managedTransferFilters,
    ).addOption(new Option('--format <format>').choices(EXPORT_FORMATS).default(EXPORT_FORMATS[0])),
    transfers.exportTransfers,
  );
  const chain = program
    .command('receipts')
    .description('fetch the chain of receipts, which ftg verify checks')
    .argument('[file]', 'that holds it then; standard output when absent');
  actions.remote(
    addFieldOptions(chain, receiptFilters).option(
      '--no-overwrite',
      'leave a local file of that name as it is (exit code 5)',
    ),
    receipts.fetchReceipts,
  );
}

function addLocalCommands(program: Command, actions: Actions): void {
  actions.many(
    program
      .command('doctor')
      .description('check everything between here and the remote servers, and say what to do')
      .argument('[connections...]', 'ids of connections; all active ones when absent'),
    doctor,
  );
  actions.local(
    program
      .command('verify')
      .description('verify a receipt, or a chain of them as ftg receipts fetches it, without the gateway')
      .argument('<file>', 'that holds it, or - for a chain from standard input')
      .option('--keys <file-or-url>', 'a JWK set, or the address of the gateway; that of the profile when absent'),
    verifyFile,
  );
  actions.local(
    program
      .command('login')
      .description('log in with e-mail and password; kept in the profile')
      .option('--url <url>', 'where the gateway is')
      .option('--email <email>', 'asked for when absent')
      .option('--password-file <file>', 'a file that holds it, or - for standard input; asked for when absent')
      .option('--code <code>', 'of the authenticator; asked for when it is needed'),
    login.login,
  );
  actions.local(program.command('logout').description('log out, and forget the profile'), login.logout);
  const group = program.command('profiles').description('gateways and what opens them');
  actions.local(group.command('list', { isDefault: true }).description('list profiles'), login.listProfiles);
  actions.local(
    group
      .command('add')
      .description('keep a gateway and an API key')
      .argument('<name>')
      .requiredOption('--url <url>', 'where the gateway is')
      .option('--key-file <file>', 'a file that holds the key, or - for standard input; asked for when absent'),
    login.addProfile,
  );
  actions.local(group.command('use').description('use this one from now on').argument('<name>'), login.useProfile);
  actions.local(group.command('rm').description('forget one').argument('<name>'), login.removeProfile);
  const shell = new Argument('<shell>').choices(SHELLS);
  actions.local(
    program.command('completion').description('print the completion script of a shell').addArgument(shell),
    async (_, [wanted]) => void process.stdout.write(SCRIPTS[wanted as Shell]),
  );
  program
    .command('__complete', { hidden: true })
    .addArgument(new Argument('<shell>').choices(SHELLS))
    .argument('[words...]')
    .action(async (wanted: Shell, words: string[]) => {
      process.stdout.write((await complete(program, wanted, words)).map((word) => `${word}\n`).join(''));
    });
}

function addInit(program: Command, actions: Actions, { TYPES, FIELD_OPTIONS }: ConnectionOptions): void {
  const command = program
    .command('init')
    .description('write a configuration of the gateway, by questions or by these options')
    .argument('[file]', 'the file to write', 'gateway.yaml')
    .option('-y, --yes', 'ask nothing: what no option says has its default')
    .option('--force', 'replace a file that exists; variables in the environment file stay')
    .option('--env-file <file>', 'file for the secrets; beside the configuration when absent')
    .option('--no-env-file', 'write no secrets: only name the variables to set')
    .option('--listen <address:port>', 'where the gateway listens; 127.0.0.1:8080 when absent')
    .option('--public-url <url>', 'URL that clients use, if it is another one')
    .option('--tls-cert <file>', 'certificate for HTTPS (PEM)')
    .option('--tls-key <file>', 'private key of the certificate (PEM)')
    .option('--data-dir <folder>', 'folder for data; ./data when absent')
    .option('--database-url-file <file>', 'a file with the URL of a PostgreSQL database, or -; embedded when absent')
    .option('--email <email>', 'the owner, who logs in to the dashboard')
    .option('--owner-password-file <file>', 'a file with the password of the dashboard, or -; made when absent')
    .option('--sandbox', 'add a sandbox server to try the gateway')
    .option('--id <id>', 'id of the first connection; its type when absent')
    .addOption(new Option('--type <type>', 'type of the first connection').choices(TYPES));
  for (const { option } of FIELD_OPTIONS) command.addOption(option);
  actions.local<Parameters<typeof initCommand>[2]>(command, async (context, args, given) => {
    // It loads the configuration, which takes longer than all other commands.
    const { init } = await import('./commands/init.js');
    await init(context, args, given);
  });
}

function addServe(program: Command, actions: Actions, handOver: () => void): void {
  actions.local<{ readonly config?: string; readonly envFile?: string }>(
    program
      .command('serve')
      .description('start the gateway itself')
      .option('--config <file>', 'its configuration; GATEWAY_CONFIG, or the quick start, when absent')
      .option(
        '--env-file <file>',
        'a file with variables, such as init writes; those of the environment count before it',
      ),
    async (_, __, { config, envFile }) => {
      if (!('file-transfer-gateway' in readManifest().bin)) throw new UsageError(WITHOUT_GATEWAY);
      if (envFile !== undefined) setVariables(envFile);
      handOver();
      await serve(config);
    },
  );
}

function setVariables(file: string): void {
  for (const [name, value] of Object.entries(parseEnv(readFileSync(file, 'utf8')))) process.env[name] ??= value;
}

const WITHOUT_GATEWAY =
  'this package is ftg alone; the gateway comes with another one: npm install file-transfer-gateway';

/** Resolves when the gateway serves, or has reported why it cannot; from then on it controls the process. */
async function serve(config: string | undefined): Promise<void> {
  process.setSourceMapsEnabled(true);
  if (config !== undefined) process.env['GATEWAY_CONFIG'] = resolve(config);
  await import('../main.js');
}
