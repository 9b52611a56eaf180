/** What a code means that no transfer ends with: the request itself was refused. The others are in base/error-meanings.ts. */
import type { errorMeanings } from '../base/error-meanings.js';
import type { FtgErrorCode } from '../client/index.js';

type Meaning = readonly [meaning: string, remedy: string];

export const requestErrors: Record<Exclude<FtgErrorCode, keyof typeof errorMeanings>, Meaning> = {
  bad_base64: ['The content is not base64.', 'Send text, or encode the bytes anew.'],
  unauthenticated: ['The API key is missing, unknown, expired or revoked.', 'Ask the user for a key that is valid.'],
  forbidden: ['The API key is not for this connection or this address.', 'Use a connection that the key may use.'],
  scope_missing: ['The API key lacks a scope.', 'Ask the user for a key with the scope that the text names.'],
  unknown_route: ['The gateway has no such endpoint.', 'The gateway may be older than this tool: update it.'],
  unknown_connection: ['There is no connection of this id.', 'List the connections, and use one of their ids.'],
  unknown_watched_folder: ['There is no watched folder of this id.', 'Use an id that exists.'],
  unknown_item: ['There is nothing of this id.', 'List what there is, and use one of those ids.'],
  unknown_upload: ['The upload does not exist or has expired.', 'Begin a new one.'],
  method_not_allowed: ['The gateway does not take this method here.', 'Update the gateway or this tool.'],
  offset_mismatch: ['The upload stands at another byte.', 'Ask for the offset, and go on from there.'],
  idempotency_in_progress: ['The same request still runs.', 'Wait for its answer.'],
  outcome_unknown: ['Nobody knows how the first request ended.', 'Look at the remote file before you try again.'],
  in_use: ['Others depend on it.', 'Remove those first; the text names them.'],
  not_running: ['It is over already.', 'Look at its state.'],
  gone: ['It is no longer kept, or was used up or revoked.', 'Ask for a new one.'],
  unsupported_version: ['The version of the protocol is not supported.', 'Update the client.'],
  unsupported_media_type: ['The endpoint does not take this type of body.', 'Send JSON.'],
  idempotency_mismatch: ['The idempotency key was used for another request.', 'Use a new one.'],
  upload_locked: ['Another request writes to this upload.', 'Wait, then try again.'],
  rate_limited: ['Too many requests came at once.', 'Wait for the seconds of retryAfter, then try again.'],
  checksum_mismatch: ['The bytes do not match their checksum.', 'Send them again.'],
  network_error: ['No whole answer came from the gateway.', 'Check that it runs, and its address. Then try again.'],
  invalid_answer: ['What answered is not the gateway.', 'Check the address of the gateway.'],
  invalid_body: ['The content could not be read.', 'Check what you send.'],
  file_changed: ['The file changed meanwhile.', 'Read it again from the beginning.'],
};
