import { setFlagsFromString } from 'node:v8';

/**
 * Suits the garbage collector to a process that moves bytes: few objects that last, hundreds of MB of buffers a second
 * that do not. Holds for the whole process.
 *
 * The other half stands where Node.js is started, since V8 must not be told while it marks: --no-incremental-marking. V8
 * counts those buffers, too, when it decides whether to begin marking the old objects; once a first full collection has
 * set that limit to little more than the small heap itself, it marks all of it again every 10 MB or so, and a transfer
 * costs two to three times the processor time. Without incremental marking a full collection happens when the memory is
 * really needed; on a heap as small as ours it takes 5 to 20 ms.
 */
export function suitCollectorToStreams(): void {
  // Else a function whose objects have lived through one long batch makes all of them in the old part of the heap from
  // then on, where only full collections find them: a folder of a million entries fills it, again and again.
  setFlagsFromString('--no-allocation-site-pretenuring');
}
