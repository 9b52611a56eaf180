/** Tools for S3 as Debian has them, unchanged, over one server; the result is read on the server's own disk. */
import { after, before, describe } from 'node:test';
import type { ServerEntry } from '../../servers/catalogue.js';
import { awsFileTests, awsTests } from './aws.js';
import { boto3PartsTests, boto3Tests } from './boto3.js';
import { duplicityTests } from './duplicity.js';
import { openPlace, type Place } from './place.js';
import { rcloneTests } from './rclone.js';
import { resticTests } from './restic.js';
import { s3cmdTests } from './s3cmd.js';
import { s3fsTests } from './s3fs.js';

/** The tests of one tool; its place is open once they run. */
export type ToolTests = (place: () => Place) => void;

const TOOLS = {
  awscli: awsTests,
  'awscli, files': awsFileTests,
  boto3: boto3Tests,
  'boto3, in parts': boto3PartsTests,
  s3cmd: s3cmdTests,
  rclone: rcloneTests,
  restic: resticTests,
  duplicity: duplicityTests,
  s3fs: s3fsTests,
} satisfies Readonly<Record<string, ToolTests>>;
type Tool = keyof typeof TOOLS;

const ALL_TOOLS: readonly Tool[] = (Object.keys(TOOLS) as readonly Tool[]).filter((name) => name !== 'awscli, files');
/** The tools for the first server of the other protocols. */
export const FILE_TOOLS: readonly Tool[] = ALL_TOOLS.map((name) => (name === 'awscli' ? 'awscli, files' : name));
/** They send parts, list, copy, delete, and set times. */
const FEW_TOOLS: readonly Tool[] = ['boto3, in parts', 'rclone'];

/** The tools for servers other than the first of a protocol. All of them would take too long, except by hand. */
export const OTHERS_TOOLS = process.env['TEST_TOOLS'] === 'all' ? ALL_TOOLS : FEW_TOOLS;

export function toolsSuite(entry: ServerEntry, tools: readonly Tool[] = ALL_TOOLS): void {
  if (entry.isSeamOnly === true) return;
  describe(`tools for S3 on ${entry.name}`, { concurrency: 1 }, () => {
    let opened: Place | undefined;
    const place = (): Place => {
      if (opened === undefined) throw new Error('the gateway has not started');
      return opened;
    };
    before(async () => {
      opened = await openPlace(entry);
    });
    after(async () => {
      await opened?.close();
    });
    for (const name of tools) describe(name, { concurrency: 1 }, () => TOOLS[name](place));
  });
}
