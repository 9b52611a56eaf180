/** Operations that are a part of something larger, which goes on when one of them fails. */
import type { GatewayError } from '../base/errors.js';
import type { KnownPlaces } from '../remotes/known-places.js';
import type { JobReference } from '../storage/storage.js';

/** The file of a job, a route's copy or a resumable upload: it has one item in the history, whatever it took to come to its end. */
export interface JobPart {
  readonly reference: JobReference | CopyReference | UploadReference;
  /** What the job's other files were told of the places they go to. */
  readonly places?: KnownPlaces;
  /** Whether a try that failed of this is not the file's end: nothing is recorded of it. */
  passesOver(error: GatewayError): boolean;
  /** What is left to do is to record its end. */
  worked(): void;
}

/** Of a route. */
interface CopyReference {
  readonly copyId: string;
}

/** In pieces. */
interface UploadReference {
  readonly uploadId: string;
}

/** What ends with the item of the history. */
export function recordOf(part: JobPart | undefined): {
  readonly job?: JobReference;
  readonly copyId?: string;
  readonly uploadId?: string;
} {
  if (part === undefined) return {};
  const { reference } = part;
  return 'id' in reference ? { job: reference } : reference;
}
