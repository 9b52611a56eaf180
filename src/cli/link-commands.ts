/** The commands of links. */
import { Argument, type Command } from 'commander';
import { LINK_OPERATIONS, linkFields } from '../contract/link.js';
import { type Actions, commandsOn } from './command.js';
import * as links from './commands/links.js';
import { addFieldOptions } from './field-options.js';
import { age } from './option-values.js';

export function addLinkCommands(program: Command, actions: Actions): void {
  const group = program.command('link').description('upload and download links, which need no key');
  const one = commandsOn(group, '<id>', 'of the link');
  actions.remote(group.command('list', { isDefault: true }).description('list links'), links.listLinks);
  const operation = new Argument('<operation>', 'what it is for').choices(LINK_OPERATIONS);
  const create = group
    .command('create')
    .description('make a link; its URL is printed only once')
    .addArgument(operation)
    .argument('<place>', 'the folder to upload to, or the file to download: connection:path')
    .option('--expires <age>', 'how long it lives, such as 90s, 12h or 30d; 7d when absent', age)
    .option(
      '--s3',
      'make a presigned URL of the S3 front instead, for one file; with AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY',
    )
    .option('--s3-endpoint <url>', 'where the S3 front is; /s3 of the gateway when absent');
  actions.remote(addFieldOptions(create, linkFields), links.createLink);
  actions.remote(one('show', 'show it, without its URL'), links.showLink);
  actions.remote(one('revoke', 'end it'), links.revokeLink);
}
