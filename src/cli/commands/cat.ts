/** `ftg cat`: writes the content of files to standard output, one after the other. */
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Session } from '../command.js';
import { filesIn, globAt, nothingMatches } from '../glob.js';
import { parseFileLocation } from '../location.js';

export async function cat(session: Session, places: readonly string[]): Promise<void> {
  for (const place of places) {
    const location = parseFileLocation(place);
    const glob = await globAt(session, location);
    if (glob === undefined) {
      await printFile(session, location.connectionId, location.path);
      continue;
    }
    let found = 0;
    for await (const { path, rawName } of filesIn(session, location.connectionId, glob)) {
      found += 1;
      await printFile(session, location.connectionId, path, rawName);
    }
    if (found === 0) throw nothingMatches(place);
  }
}

async function printFile(
  { gateway, signal }: Session,
  connectionId: string,
  path: string,
  rawName?: string,
): Promise<void> {
  const { body } = await gateway.files.download(connectionId, path, { rawName, signal });
  // Standard output stays open, because it belongs to the caller.
  await pipeline(Readable.fromWeb(body), process.stdout, { signal, end: false });
}
