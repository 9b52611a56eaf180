/** Tools for S3 as Debian has them, unchanged, over one server; the result is read on the server's own disk. */
import { after, before, describe } from 'node:test';
import type { ServerEntry } from '../../servers/catalogue.js';
import { awsTests } from './aws.js';
import { boto3Tests } from './boto3.js';
import { duplicityTests } from './duplicity.js';
import { openPlace, type Place } from './place.js';
import { rcloneTests } from './rclone.js';
import { resticTests } from './restic.js';
import { s3cmdTests } from './s3cmd.js';
import { s3fsTests } from './s3fs.js';

/** The tests of one tool; its place is open once they run. */
export type ToolTests = (place: () => Place) => void;

const TOOLS: Readonly<Record<string, ToolTests>> = {
  awscli: awsTests,
  boto3: boto3Tests,
  s3cmd: s3cmdTests,
  rclone: rcloneTests,
  restic: resticTests,
  duplicity: duplicityTests,
  s3fs: s3fsTests,
};

export function toolsSuite(entry: ServerEntry): void {
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
    for (const [name, tests] of Object.entries(TOOLS)) describe(name, { concurrency: 1 }, () => tests(place));
  });
}
