/** The manual page ftg(1), made from the commands themselves, with the macros of man(7). */
import type { Argument, Command, Option } from 'commander';
import { capital } from '../../base/letters.js';
import { EXITS } from '../../contract/exit-codes.js';

export function manPage(program: Command, version: string): string {
  return [
    `.TH FTG 1 "" "ftg ${version}" "File Transfer Gateway"`,
    '.SH NAME',
    String.raw`ftg \- move and manage files through a File Transfer Gateway`,
    '.SH SYNOPSIS',
    '.B ftg',
    String.raw`[\fB\-\-json\fR] [\fB\-\-profile\fR \fIname\fR] \fIcommand\fR [\fIoptions\fR] [\fIarguments\fR]`,
    '.SH DESCRIPTION',
    ...paragraphs(DESCRIPTION),
    '.SH OPTIONS',
    'These belong to all commands.',
    ...program.options.flatMap(optionLines),
    '.SH COMMANDS',
    ...program.commands.flatMap((command) => commandLines(command, [])),
    '.SH EXIT STATUS',
    ...Object.values(EXITS).flatMap(({ code, meaning }) => item(String(code), meaning)),
    '.SH ENVIRONMENT',
    ...ENVIRONMENT.flatMap(([name, words]) => item(`\\fB${escaped(name)}\\fR`, words)),
    '.SH FILES',
    ...FILES.flatMap(([name, words]) => item(`\\fI${escaped(name)}\\fR`, words)),
    '.SH EXAMPLES',
    ...EXAMPLES.flatMap(([words, command], at) => [
      ...(at === 0 ? [] : ['.PP']),
      ...[text(words), '.PP', '.nf', '.RS', text(command), '.RE', '.fi'],
    ]),
    '',
  ].join('\n');
}

const DESCRIPTION = [
  'A place on a server is written connection:path, such as warehouse:/upload/report.pdf. A folder ends with a slash. Without a path it is the default folder of the connection. A single - is standard input or output.',
  'Places and local files may hold globs: * matches in one folder, ** at any depth. Quote them, so that the shell leaves them to ftg.',
  'With --json every command prints JSON for programs, one object a line, and errors are JSON on standard error. Colours are never printed. Progress shows on a terminal alone.',
];

const ENVIRONMENT: readonly (readonly [name: string, words: string])[] = [
  ['FTG_URL', 'The address of the gateway. It needs FTG_KEY too, unless it is the address of the profile in use.'],
  ['FTG_KEY', 'The API key. Both count before a profile, unless --profile names one.'],
  ['FTG_PROFILE', 'The profile to use when --profile names none.'],
  ['VISUAL, EDITOR', 'The editor of ftg edit.'],
  ['XDG_CONFIG_HOME, XDG_CACHE_HOME', 'Folders in place of ~/.config and ~/.cache.'],
];

const FILES: readonly (readonly [name: string, words: string])[] = [
  ['~/.config/ftg/profiles.json', 'Gateways and what opens them. Only its owner may read it.'],
  ['~/.config/ftg/uploads, ~/.config/ftg/downloads', 'State of interrupted transfers of large files.'],
  ['~/.cache/ftg/completion', 'Names for the completion of the shell, for a few seconds.'],
];

const EXAMPLES: readonly (readonly [words: string, command: string])[] = [
  ['Upload a file into a folder:', 'ftg put report.csv warehouse:/reports/'],
  ['Upload a folder; after an interruption, do the rest:', 'ftg put -r --on-conflict changed month warehouse:/in/'],
  ['Copy what is new to another server:', 'ftg sync warehouse:/out partner:/in'],
  ['Watch failures as they come:', 'ftg tail transfers --follow --status failed'],
];

function commandLines(command: Command, above: readonly string[]): string[] {
  if (command.name().startsWith('__') || command.name() === 'help') return [];
  const path = [...above, command.name()];
  if (command.commands.length > 0) return command.commands.flatMap((one) => commandLines(one, path));
  const usage = command.usage();
  const described = command.registeredArguments.filter(({ description }) => description !== '');
  return [
    `.SS "ftg ${escaped(`${path.join(' ')} ${usage}`.trim()).replaceAll('"', String.raw`\(dq`)}"`,
    text(`${sentence(command.description())}`),
    ...described.flatMap(argumentLines),
    ...command.options.flatMap(optionLines),
  ];
}

function argumentLines(argument: Argument): string[] {
  return item(`\\fI${escaped(argument.name())}\\fR`, describe(argument.description, argument.argChoices));
}

function optionLines({ flags, description, argChoices, hidden }: Option): string[] {
  if (hidden) return [];
  return item(`\\fB${escaped(flags)}\\fR`, describe(description, argChoices));
}

function describe(words: string, choices: readonly string[] | undefined): string {
  const among = choices === undefined ? '' : `One of: ${choices.join(', ')}.`;
  return `${words === '' ? '' : sentence(words)} ${among}`.trim();
}

function item(tag: string, words: string): string[] {
  return ['.TP', tag, text(words)];
}

function paragraphs(all: readonly string[]): string[] {
  return all.flatMap((one, at) => (at === 0 ? [text(one)] : ['.PP', text(one)]));
}

function sentence(words: string): string {
  // Literal input, such as "connection:path" or "always = …", keeps its case.
  const isTyped = !/^[a-z]+[ ,;]/.test(words) || /^\S+ =/.test(words);
  const whole = isTyped ? words : capital(words);
  return /[.:!?]$/.test(whole) ? whole : `${whole}.`;
}

/** A line that is not interpreted as a request. */
function text(words: string): string {
  const line = escaped(words);
  return /^[.']/.test(line) ? String.raw`\&` + line : line;
}

function escaped(words: string): string {
  return words
    .replaceAll('\\', String.raw`\e`)
    .replaceAll('-', String.raw`\-`)
    .replaceAll('…', '...');
}
