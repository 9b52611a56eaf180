/**
 * Completion for bash, zsh and fish. The scripts are small and know nothing: they ask `ftg __complete` with the words so
 * far, so that one place knows the commands, and connections are completed too.
 */
import type { Command, Option } from 'commander';
import { openGateway } from './gateway.js';
import { findAccess } from './profiles.js';

export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

export const SCRIPTS: Readonly<Record<Shell, string>> = {
  // Bash splits words at ":", so the line is split anew; behind ":" nothing of ours is left to complete.
  bash: `# ftg completion for bash: source <(ftg completion bash)
_ftg() {
  local line="\${COMP_LINE:0:COMP_POINT}" words
  read -ra words <<< "$line"
  if [[ $line == *' ' ]]; then words+=(''); fi
  local IFS=$'\\n'
  COMPREPLY=($(ftg __complete -- "\${words[@]:1}" 2>/dev/null))
  if [[ \${#COMPREPLY[@]} -eq 1 && \${COMPREPLY[0]} == *: ]]; then compopt -o nospace; fi
}
complete -o default -F _ftg ftg
`,
  zsh: `#compdef ftg
# ftg completion for zsh: source <(ftg completion zsh)
_ftg() {
  local -a found places
  found=("\${(@f)$(ftg __complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  places=(\${(M)found:#*:})
  found=(\${found:#*:})
  (( \${#places} )) && compadd -S '' -- $places
  (( \${#found} )) && compadd -- $found
  (( \${#places} + \${#found} )) || _files
}
compdef _ftg ftg
`,
  fish: `# ftg completion for fish: ftg completion fish | source
function __ftg_complete
  set -l words (commandline -opc)[2..] (commandline -ct)
  ftg __complete -- $words 2>/dev/null
end
complete -c ftg -a '(__ftg_complete)'
`,
};

/** Nobody waits longer for a list that is a convenience. */
const CONNECTIONS_MS = 1_500;

/** What the last word can become, given those before it. */
export async function candidates(program: Command, words: readonly string[]): Promise<string[]> {
  const before = words.slice(0, -1);
  const last = words.at(-1) ?? '';
  const { command, position, pending } = walk(program, before);
  const found = pending === undefined ? await wordsOf(command, position, last, before) : (pending.argChoices ?? []);
  return found.filter((word) => word.startsWith(last) && word !== last).sort();
}

async function wordsOf(command: Command, position: number, last: string, before: readonly string[]): Promise<string[]> {
  if (last.startsWith('-'))
    return optionsOf(command).flatMap(({ long }) => (long === null || long === undefined ? [] : [long]));
  const commands = command.commands.map((one) => one.name()).filter((name) => !name.startsWith('__'));
  if (position === 0 && commands.length > 0) return commands;
  const { registeredArguments: taken } = command;
  const argument = taken[position] ?? (taken.at(-1)?.variadic === true ? taken.at(-1) : undefined);
  if (argument === undefined) return [];
  if (argument.argChoices !== undefined) return [...argument.argChoices];
  // What is put is a file of this machine, which the shell completes itself.
  if (argument.name() === 'files' && position === 0) return [];
  const isPlace = PLACES.includes(argument.name());
  if (!isPlace && !CONNECTIONS.includes(argument.name())) return [];
  const ids = await connectionIds(before);
  return isPlace ? ids.map((id) => `${id}:`) : ids;
}

/** Names of arguments, as the commands declare them. */
const PLACES: readonly string[] = ['place', 'places', 'from', 'to', 'files'];
const CONNECTIONS: readonly string[] = ['connection', 'connections'];

interface Position {
  readonly command: Command;
  /** Arguments before the word. */
  readonly position: number;
  /** The option whose value the word is. */
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

/** The one that is reached by the words. */
export function commandOf(program: Command, words: readonly string[]): Command {
  return walk(program, words).command;
}

/** A command's own, and those of the commands above it. */
function optionsOf(command: Command): Option[] {
  const all: Option[] = [];
  for (let one: Command | null = command; one !== null; one = one.parent) {
    all.push(...one.options.filter(({ hidden }) => !hidden));
  }
  return all;
}

async function connectionIds(words: readonly string[]): Promise<string[]> {
  try {
    const signal = AbortSignal.timeout(CONNECTIONS_MS);
    const at = words.indexOf('--profile');
    const access = findAccess(process.env, at < 0 ? undefined : words[at + 1]);
    const listed = await openGateway(access, signal).files.connections({ signal });
    return listed.map(({ id }) => id);
  } catch {
    // No gateway, no key: then there is nothing to complete, and no place to say so.
    return [];
  }
}
