/** The commands of events and webhooks. */
import { type Command, Option } from 'commander';
import { EVENT_TYPES } from '../base/event-types.js';
import { type Actions, number } from './command.js';
import * as events from './commands/events.js';
import { tailEvents, tailTransfers } from './commands/tail.js';

export function addEventCommands(program: Command, actions: Actions): void {
  actions.remote(
    program
      .command('events')
      .description('show what has happened, one event a line, from the oldest that is kept')
      .option('--after <sequence>', 'from behind that one', number(0, Number.MAX_SAFE_INTEGER))
      .option('--follow', 'go on as they come; without --after, those from now on'),
    events.showEvents,
  );
  const tail = program.command('tail').description('show the last transfers or events, and those to come');
  const tailed = (name: string, text: string): Command =>
    tail
      .command(name)
      .description(text)
      .option('-n, --lines <number>', 'how many of the past', number(0, 1_000), 10)
      .option('-f, --follow', 'go on with those to come')
      .option('--connection <ids...>', 'only of these connections');
  actions.remote(
    tailed('transfers', 'transfers that have ended, one a line')
      .addOption(new Option('--status <status>', 'only these').choices(['success', 'failed']))
      .option('--type <types...>', 'only these, such as upload download copy'),
    tailTransfers,
  );
  actions.remote(
    tailed('events', 'events, one a line').addOption(
      new Option('--type <types...>', 'only these').choices(EVENT_TYPES),
    ),
    tailEvents,
  );
  const group = program.command('webhooks').description('receivers that are told of events');
  const one = (name: string, text: string): Command =>
    group.command(name).description(text).argument('<id>', 'of the webhook');
  const chosen = (command: Command): Command =>
    command
      .addOption(new Option('--event <types...>', 'types of its events').choices(EVENT_TYPES))
      .option('--connection <ids...>', 'only events that are about no other connections');
  actions.remote(group.command('list', { isDefault: true }).description('list webhooks'), events.listWebhooks);
  const add = group.command('add').description('tell a receiver of events; shows its secret, this once');
  actions.remote(chosen(add.argument('<url>', 'of the receiver')), events.addWebhook);
  const edit = one('edit', 'change it; what is not said stays').option('--url <url>', 'another receiver');
  actions.remote(chosen(edit), events.editWebhook);
  actions.remote(one('pause', 'tell it of no new events'), events.switchWebhook(false));
  actions.remote(one('resume', 'tell it again, also after its 410'), events.switchWebhook(true));
  actions.remote(one('rm', 'delete it, with what is undelivered'), events.removeWebhook);
  actions.remote(one('test', 'send it one message, and show what it answers'), events.testWebhook);
  actions.remote(one('rotate-secret', 'make a new secret; the former one signs along for a day'), events.rotateSecret);
}
