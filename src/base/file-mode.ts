/** Rights of files and folders as octal text, as chmod takes them: `0640`, `750`. */

/** What the owner must be allowed, or the gateway would lock itself out. */
const OWNER = { file: 0o600, folder: 0o700 } as const;
const OWNER_WORDS = {
  file: 'the owner must be allowed to read and write (such as "0640")',
  folder: 'the owner must be allowed to read, write and enter (such as "0750")',
} as const;

export type ModeKind = keyof typeof OWNER;

/** The reason why such a file or folder cannot be made; undefined if it can. */
export function modeRefusal(kind: ModeKind, text: string): string | undefined {
  if (!/^[0-7]{3,4}$/.test(text)) return `must be 3 or 4 octal digits, such as "${kind === 'file' ? '0640' : '0750'}"`;
  return (modeBits(text) & OWNER[kind]) === OWNER[kind] ? undefined : OWNER_WORDS[kind];
}

/** The bits of a mode that was not refused. */
export const modeBits = (text: string): number => Number.parseInt(text, 8);

const RIGHTS = 0o7777;

/** The rights in the mode of a file, which has its kind as well. */
export const rightsIn = (mode: number): number => mode & RIGHTS;

/** Texts that were made: a list has few different ones, and as many entries as a folder. */
const texts: string[] = [];

/** Always four digits. */
export function modeText(mode: number): string {
  const rights = rightsIn(mode);
  return (texts[rights] ??= rights.toString(8).padStart(4, '0'));
}
