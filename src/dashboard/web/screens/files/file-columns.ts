/** The columns after the name in a list of files. */
import { useMemo } from 'react';
import type { FileInfo } from '../../api/types.ts';
import { formatBytes, formatDateTime, formatShortTime } from '../../format.ts';
import { type FileColumnName, useFileColumns } from '../../preferences.ts';
import { t } from '../../texts/texts.ts';

export interface FileColumn {
  readonly name: FileColumnName;
  readonly head: string;
  readonly width: string;
  readonly text: (file: FileInfo) => string;
  readonly title?: (file: FileInfo) => string | undefined;
}

/** An S3 folder has no time. */
export const isDated = ({ modifiedAt }: FileInfo): boolean => Date.parse(modifiedAt) !== 0;

const USUAL: readonly FileColumn[] = [
  {
    name: 'size',
    head: t.words.size,
    width: '7rem',
    text: ({ isDirectory, size }) => (isDirectory ? '' : formatBytes(size)),
  },
  {
    name: 'modifiedAt',
    head: t.files.changed,
    width: '10rem',
    text: (file) => (isDated(file) ? formatShortTime(file.modifiedAt) : ''),
    title: (file) => (isDated(file) ? formatDateTime(file.modifiedAt) : undefined),
  },
];
const RIGHTS: readonly FileColumn[] = [
  { name: 'mode', head: t.files.mode, width: '5rem', text: ({ mode = '' }) => mode },
  { name: 'owner', head: t.files.owner, width: '8rem', text: ({ owner = '' }) => owner },
  { name: 'group', head: t.files.group, width: '8rem', text: ({ group = '' }) => group },
];

/** Those of `files`, and the chosen ones among them. Rights are a choice where the server reports any. */
export function useColumnsOf(files: readonly FileInfo[]): Readonly<Record<'all' | 'shown', readonly FileColumn[]>> {
  const chosen = useFileColumns();
  const hasRights = useMemo(() => files.some(({ mode, owner }) => mode !== undefined || owner !== undefined), [files]);
  return useMemo(() => {
    const all = hasRights ? [...USUAL, ...RIGHTS] : USUAL;
    return { all, shown: all.filter(({ name }) => chosen.includes(name)) };
  }, [hasRights, chosen]);
}

/** Rights, owner and group in one line, as far as they are known. */
export function rightsText({ mode, owner, group }: FileInfo): string {
  const names = [owner, group].filter((name) => name !== undefined);
  return [mode, names.join(':')].filter((part) => part !== undefined && part !== '').join(' ');
}
