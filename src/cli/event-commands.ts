/** The commands of events and webhooks. */
import { type Command, Option } from 'commander';
import { EVENT_TYPES } from '../contract/event.js';
import { eventFilters } from '../contract/filters.js';
import { ENDED_STATUSES, TRANSFER_TYPES } from '../contract/transfer.js';
import { webhookFields } from '../contract/webhook.js';
import { type Actions, commandsOn } from './command.js';
import * as events from './commands/events.js';
import { tailEvents, tailTransfers } from './commands/tail.js';
import { addFieldOptions } from './field-options.js';
import { number } from './option-values.js';

export function addEventCommands(program: Command, actions: Actions): void {
  actions.remote(
    addFieldOptions(
      program.command('events').description('show events, one a line, from the oldest that is kept'),
      eventFilters,
    ).option('--follow', 'continue with new ones; without --after, only new ones'),
    events.showEvents,
  );
  const tail = program.command('tail').description('show the last transfers or events, and those to come');
  const tailed = (name: string, text: string): Command =>
    tail
      .command(name)
      .description(text)
      .option('-n, --lines <number>', 'how many of the past', number(0, 1_000), 10)
      .option('-f, --follow', 'continue with later ones')
      .option('--connection <ids...>', 'only of these connections');
  actions.remote(
    tailed('transfers', 'transfers that have ended, one a line')
      .addOption(new Option('--status <status>', 'only these').choices(ENDED_STATUSES))
      .addOption(new Option('--type <types...>', 'only these').choices(TRANSFER_TYPES)),
    tailTransfers,
  );
  actions.remote(
    tailed('events', 'events, one a line').addOption(
      new Option('--type <types...>', 'only these').choices(EVENT_TYPES),
    ),
    tailEvents,
  );
  const group = program.command('webhooks').description('URLs that receive events');
  const one = commandsOn(group, '<id>', 'of the webhook');
  actions.remote(group.command('list', { isDefault: true }).description('list webhooks'), events.listWebhooks);
  const add = group.command('add').description('send events to a URL; shows the secret once');
  actions.remote(addFieldOptions(add.argument('<url>', 'of the receiver'), webhookFields, ['url']), events.addWebhook);
  const edit = one('edit', 'change it; options that you leave out change nothing');
  actions.remote(addFieldOptions(edit, webhookFields), events.editWebhook);
  actions.remote(one('pause', 'send no new events'), events.switchWebhook(false));
  actions.remote(one('resume', 'send them again, also after an answer 410'), events.switchWebhook(true));
  actions.remote(one('rm', 'delete it, with its waiting events'), events.removeWebhook);
  actions.remote(one('test', 'send one message, and show the answer'), events.testWebhook);
  actions.remote(one('rotate-secret', 'make a new secret; the old one works for another day'), events.rotateSecret);
}
