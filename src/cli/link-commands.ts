/** The commands of links. */
import { Argument, type Command } from 'commander';
import { type Actions } from './command.js';
import * as links from './commands/links.js';
import { age, bytes, number } from './option-values.js';

export function addLinkCommands(program: Command, actions: Actions): void {
  const group = program.command('link').description('upload and download links, which need no key');
  const one = (name: string, text: string): Command =>
    group.command(name).description(text).argument('<id>', 'of the link');
  actions.remote(group.command('list', { isDefault: true }).description('list links'), links.listLinks);
  const operation = new Argument('<operation>', 'what it is for').choices(['upload', 'download']);
  actions.remote(
    group
      .command('create')
      .description('make a link; prints its URL, this once')
      .addArgument(operation)
      .argument('<place>', 'the folder to upload to, or the file to download: connection:path')
      .option('--expires <age>', 'how long it lives, such as 90s, 12h or 30d; 7d when absent', age)
      .option('--max-bytes <size>', 'the largest file, such as 512K or 10M', bytes)
      .option('--max-uses <number>', 'how often it may be used', number(1, 1_000_000))
      .option('--name <name>', 'what the file is called, whatever its sender says')
      .option('--overwrite', 'an upload may replace a file of its name')
      .option('--digest <digest>', 'what the file must be: sha-256: and 64 hexadecimal digits'),
    links.createLink,
  );
  actions.remote(one('show', 'show it, without its URL'), links.showLink);
  actions.remote(one('revoke', 'end it'), links.revokeLink);
}
