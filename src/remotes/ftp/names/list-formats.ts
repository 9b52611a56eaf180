/** The formats of LIST lines, and the headings that announce them. */
import type { FtpConnection } from '../../../connections/connection.js';
import {
  isVmsHeading,
  parseDataSet,
  parseEplfLine,
  parseIbmiLine,
  parseMember,
  parseModule,
  parseVmsLine,
} from './host-lists.js';
import { isHeading, type ListedLine, parseDosLine, parseNetwareLine, parseUnixLine } from './list-lines.js';

export type ListFormat = FtpConnection['listing'];
/** A format, or what its heading announces: members of a data set, or load modules. */
export type Layout = ListFormat | 'members' | 'modules';

type Parse = (line: string, now: Date) => ListedLine | undefined;

const PARSERS: Readonly<Record<Layout, Parse>> = {
  // z/OS announces its lists by a heading; without it, its lines could be anything.
  auto: (line, now) =>
    parseUnixLine(line, now) ??
    parseDosLine(line, now) ??
    parseNetwareLine(line, now) ??
    parseEplfLine(line) ??
    parseVmsLine(line, now) ??
    parseIbmiLine(line, now),
  unix: parseUnixLine,
  dos: parseDosLine,
  ibmi: parseIbmiLine,
  netware: parseNetwareLine,
  vms: parseVmsLine,
  mvs: parseDataSet,
  members: parseMember,
  modules: parseModule,
  eplf: parseEplfLine,
};

/** Undefined for a line in another format. `now`: the server's clock, as UTC. */
export const parseListedLine = (line: string, now: Date, layout: Layout): ListedLine | undefined =>
  PARSERS[layout](line, now);

const MVS_HEADINGS: readonly (readonly [RegExp, Layout])[] = [
  [/^ ?Volume +Unit +Referred /, 'mvs'],
  [/^ ?Name +VV\.MM +Created /, 'members'],
  [/^ ?Name +Size +TTR /, 'modules'],
];

/** The layout of the lines below a heading; undefined if the line is no heading of this format. */
export function announcedBy(line: string, format: ListFormat): Layout | undefined {
  const isOf = (...formats: ListFormat[]): boolean => format === 'auto' || formats.includes(format);
  if (isOf('unix', 'netware') && isHeading(line)) return format;
  if (isOf('vms') && isVmsHeading(line)) return 'vms';
  return isOf('mvs') ? MVS_HEADINGS.find(([heading]) => heading.test(line))?.[1] : undefined;
}
