/**
 * Answers that may take minutes, as Amazon S3 gives them: most clients give up after a minute without a byte. So the
 * head leaves after some time, then white space, and at last the XML, which may be an error.
 */
import { Readable } from 'node:stream';
import { within } from '../base/deadline.js';
import { Periodic } from '../base/periodic.js';
import type { HttpAnswer } from '../http/types.js';
import { XML } from './call.js';
import { DECLARATION } from './xml.js';

/** No client waits that long for the first byte, or for the next one. */
const QUIET_MS = 10_000;

/** The answer of `work`, whole if it comes soon. `failed` makes the answer of an error that comes later. */
export async function answerInTime(
  work: Promise<HttpAnswer>,
  failed: (thrown: unknown) => HttpAnswer,
): Promise<HttpAnswer> {
  return within(work, QUIET_MS, () => lateAnswer(work, failed));
}

function lateAnswer(work: Promise<HttpAnswer>, failed: (thrown: unknown) => HttpAnswer): HttpAnswer {
  const stream = new Readable({ read: () => undefined });
  stream.push(DECLARATION);
  const spaces = new Periodic(() => stream.push(' '), QUIET_MS).start();
  // The client may leave before the end.
  stream.once('close', () => void spaces.stop());
  const end = ({ body }: HttpAnswer): void => {
    void spaces.stop();
    if (stream.destroyed) return;
    stream.push(typeof body === 'string' ? body.slice(DECLARATION.length) : '');
    stream.push(null);
  };
  return { status: 200, headers: XML, body: { stream, length: undefined }, work: work.catch(failed).then(end) };
}
