/** Operations that are a part of something larger, which continues when one of them fails. */
import type { GatewayError } from '../base/errors.js';
import type { KnownPlaces } from '../remotes/known-places.js';
import type { JobReference } from '../storage/storage.js';

/**
 * The file of a job or of an event, or a resumable upload: a failed try that is passed over leaves no item in the
 * history.
 */
export interface JobPart {
  /** Its row, which ends with the history item; absent: it has none. */
  readonly reference?: JobReference | CopyReference | UploadReference;
  /** Facts about their target folders that the job's other files have learned. */
  readonly places?: KnownPlaces;
  /** Whether a failed try with this error is not the file's end: nothing is recorded for it. */
  passesOver(error: GatewayError): boolean;
  /** Only its end remains to be recorded. */
  worked(): void;
}

/** A copy of a route. */
interface CopyReference {
  readonly copyId: string;
}

/** An upload in pieces. */
interface UploadReference {
  readonly uploadId: string;
}

/** The record that ends with the history item. */
export function recordOf(part: JobPart | undefined): {
  readonly job?: JobReference;
  readonly copyId?: string;
  readonly uploadId?: string;
} {
  const reference = part?.reference;
  if (reference === undefined) return {};
  return 'id' in reference ? { job: reference } : reference;
}
