/** Finds possible next words: commands, options, choices, connections and remote paths. */
import { visible } from '../../base/visible.js';
import type { Command, Option } from 'commander';
import { profilePath, readProfiles } from '../profiles.js';
import { RemoteNames } from './remote.js';
import type { Shell } from './scripts.js';
import { inBash, splitLine } from './shell-words.js';

/** For bash, `given` is the line up to the cursor and the part to complete; for the others, the words. */
export async function complete(program: Command, shell: Shell, given: readonly string[]): Promise<readonly string[]> {
  if (shell !== 'bash') return candidates(program, given);
  const [line = '', part = ''] = given;
  const last = splitLine(line);
  return inBash(await candidates(program, last.words.slice(1)), last, part);
}

/** The candidates for the last word, given those before it. */
async function candidates(program: Command, words: readonly string[]): Promise<readonly string[]> {
  const before = words.slice(0, -1);
  const last = words.at(-1) ?? '';
  const found = await wordsAt(walk(program, before), last, before);
  // A name with control characters for the terminal is left out.
  return found.filter((word) => word.startsWith(last) && word !== last && visible(word) === word).sort();
}

async function wordsAt(
  { command, position, pending }: Position,
  last: string,
  before: readonly string[],
): Promise<readonly string[]> {
  const at = before.indexOf('--profile');
  const remote = new RemoteNames(at < 0 ? undefined : before[at + 1]);
  if (pending !== undefined) return pending.argChoices ?? valuesOf(pending, last, remote);
  if (last.startsWith('-')) return optionsOf(command).flatMap(({ long }) => (typeof long === 'string' ? [long] : []));
  const commands = command.commands.map((one) => one.name()).filter((name) => !name.startsWith('__'));
  if (position === 0 && commands.length > 0) return commands;
  const { registeredArguments: taken } = command;
  const argument = taken[position] ?? (taken.at(-1)?.variadic === true ? taken.at(-1) : undefined);
  if (argument === undefined) return [];
  if (argument.argChoices !== undefined) return argument.argChoices;
  // The source of put is a local file, which the shell completes itself.
  if (argument.name() === 'files' && position === 0) return [];
  if (PLACES.includes(argument.name())) return remote.places(last);
  return CONNECTIONS.includes(argument.name()) ? remote.connectionIds() : [];
}

/** Names of arguments in the declarations of the commands. */
const PLACES: readonly string[] = ['place', 'places', 'from', 'to', 'files'];
const CONNECTIONS: readonly string[] = ['connection', 'connections'];

async function valuesOf({ long }: Option, last: string, remote: RemoteNames): Promise<readonly string[]> {
  if (long === '--connection') return remote.connectionIds();
  if (long === '--copy-to') return remote.places(last);
  return long === '--profile' ? profileNames() : [];
}

function profileNames(): readonly string[] {
  try {
    return Object.keys(readProfiles(profilePath(process.env)).profiles);
  } catch {
    return [];
  }
}

interface Position {
  readonly command: Command;
  /** Number of arguments before the word. */
  readonly position: number;
  /** The option to which the word belongs as a value. */
  readonly pending: Option | undefined;
}

function walk(program: Command, words: readonly string[]): Position {
  let [command, position, pending]: [Command, number, Option | undefined] = [program, 0, undefined];
  for (const word of words) {
    if (pending !== undefined) {
      pending = undefined;
      continue;
    }
    if (word.startsWith('-') && word !== '-') {
      const option = optionsOf(command).find(({ long, short }) => word === long || word === short);
      pending = option?.required === true || option?.optional === true ? option : undefined;
      continue;
    }
    const next = position === 0 ? command.commands.find((one) => one.name() === word) : undefined;
    if (next === undefined) position++;
    else command = next;
  }
  return { command, position, pending };
}

/** The command that the words select. */
export function commandOf(program: Command, words: readonly string[]): Command {
  return walk(program, words).command;
}

/** A command's own options, and those of its parents. */
function optionsOf(command: Command): Option[] {
  const all: Option[] = [];
  for (let one: Command | null = command; one !== null; one = one.parent) {
    all.push(...one.options.filter(({ hidden }) => !hidden));
  }
  return all;
}
