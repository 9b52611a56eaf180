/** The machine-readable lines of MLST and MLSD: `type=file;size=3;modify=20260102030405; name` (RFC 3659, 7.2). */

export interface Facts {
  readonly type: 'file' | 'folder' | 'link' | 'self';
  readonly size: number | undefined;
  /** UTC. */
  readonly modifiedAt: Date | undefined;
  readonly name: string;
}

const FACTS = /^((?:[^=; ]+=[^;]*;)+) (.*)$/s;

/** Undefined for a line of another format. */
export function parseFacts(line: string): Facts | undefined {
  const [, packed, name] = FACTS.exec(line) ?? [];
  if (packed === undefined || name === undefined || name === '') return undefined;
  let type: Facts['type'] | undefined;
  let size: number | undefined;
  let modifiedAt: Date | undefined;
  let isOpenToAll = false;
  for (const fact of packed.split(';')) {
    const equals = fact.indexOf('=');
    const value = fact.slice(equals + 1);
    switch (fact.slice(0, Math.max(equals, 0)).toLowerCase()) {
      case 'type':
        type = typeOf(value.toLowerCase());
        break;
      case 'size':
        if (/^\d{1,16}$/.test(value)) size = Number(value);
        break;
      case 'modify':
        modifiedAt = parseTimeValue(value);
        break;
      case 'unix.mode':
        isOpenToAll = value === '0777';
        break;
      default:
    }
  }
  if (type === undefined) return undefined;
  // ProFTPD calls a link to a file a file, with the size of the link; its mode alone gives it away.
  return { type: type === 'file' && isOpenToAll ? 'link' : type, size, modifiedAt, name };
}

function typeOf(value: string): Facts['type'] {
  if (value === 'file') return 'file';
  if (value === 'dir') return 'folder';
  if (value === 'cdir' || value === 'pdir') return 'self';
  // "OS.unix=slink:/target" and "OS.unix=symlink": both are in use, neither is in the RFC.
  return value.includes('slink') || value.includes('symlink') ? 'link' : 'file';
}

const TIME_VALUE =
  /^(\d{4})(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])([01]\d|2[0-3])([0-5]\d)([0-5]\d|60)(?:\.(\d{1,3})\d*)?$/;

/** `20260102030405` or `20260102030405.678`, always UTC (RFC 3659, 2.3). */
export function parseTimeValue(text: string): Date | undefined {
  const parts = TIME_VALUE.exec(text);
  if (parts === null) return undefined;
  const [year, month, day, hour, minute, second] = parts.slice(1, 7).map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  const milliseconds = Number((parts[7] ?? '0').padEnd(3, '0'));
  const time = Date.UTC(year, month - 1, day, hour, minute, second, milliseconds);
  return Number.isNaN(time) ? undefined : new Date(time);
}
