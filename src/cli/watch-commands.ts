/** The commands for watched folders and their deliveries. */
import { type Command, Option } from 'commander';
import { CONFLICT_RULES } from '../contract/job.js';
import { deliveryListFilters } from '../contract/filters.js';
import { watchedFolderFields } from '../contract/watched-folder.js';
import { type Actions, commandsOn } from './command.js';
import * as watch from './commands/watch.js';
import { addFieldOptions } from './field-options.js';

export function addWatchCommands(program: Command, actions: Actions): void {
  const group = program.command('watch').description('watched folders, and what is delivered from them');
  const one = commandsOn(group, '<id>', 'of the watched folder');
  actions.remote(group.command('list', { isDefault: true }).description('list watched folders'), watch.listFolders);
  const options = (command: Command): Command =>
    addFieldOptions(command, watchedFolderFields, ['initial'])
      .option('--copy-to <place>', 'connection:folder that each file is copied to before the event')
      .option('--template <template>', 'names of the copies, such as {date}-{filename}')
      .addOption(new Option('--on-conflict <rule>', 'of a file that is where a copy is to go').choices(CONFLICT_RULES));
  actions.remote(
    addFieldOptions(
      options(group.command('add').description('watch a folder').argument('<place>', 'connection:folder')),
      { initial: watchedFolderFields.initial },
    ),
    watch.addFolder,
  );
  actions.remote(
    options(one('edit', 'change it; options that you leave out change nothing, and the value none removes a setting'))
      .option('--no-modified', 'report new files only')
      .option('--no-recursive', 'no sub-folders')
      .option('--path <folder>', 'another folder, whose baseline the next check takes'),
    watch.editFolder,
  );
  actions.remote(one('rm', 'stop watching'), watch.removeFolder);
  actions.remote(one('show', 'show it, and the state of its checks'), watch.showFolder);
  actions.remote(one('pause', 'pause its checks'), watch.switchFolder('pause'));
  actions.remote(one('resume', 'resume its checks'), watch.switchFolder('resume'));
  actions.remote(one('check', 'check it now'), watch.checkFolder);
  actions.remote(one('dry-run', 'show what a check would report now'), watch.dryRun);
  actions.remote(one('checks', 'list its last checks'), watch.listChecks);
  actions.remote(
    one('explain', 'show why each entry of a check was reported or not').argument('<check>', 'id of the check'),
    watch.showCheck,
  );
  actions.remote(
    one('secret', 'print the secret that its webhooks are signed with').option('--rotate', 'make a new one first'),
    watch.showSecret,
  );
  actions.remote(one('test-event', 'send its webhook an event without files'), watch.sendTestEvent);
  actions.remote(
    addFieldOptions(group.command('deliveries').description('list what was delivered'), deliveryListFilters),
    watch.listDeliveries,
  );
  const delivery = commandsOn(group, '<id>', 'of the delivery');
  actions.remote(delivery('attempts', 'list the tries of a delivery'), watch.listAttempts);
  actions.remote(delivery('copies', 'list the files of a delivery that are copied'), watch.listCopies);
  actions.remote(delivery('replay', 'send a delivery again'), watch.replay);
}
