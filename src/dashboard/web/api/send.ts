/** Sends bytes to the gateway and reports progress. */
import { isGood, send, type Sending } from '../sending/send.ts';
import { t } from '../texts/texts.ts';
import { csrfHeader, toApiError } from './client.ts';

/** Resolves to a reader of the answer's header fields. @throws ApiError, or an Error if no answer came */
export async function sendBytes(
  sending: Sending & { readonly signal: AbortSignal },
): Promise<(field: string) => string | null> {
  const call = await send({ ...sending, headers: { ...sending.headers, ...csrfHeader() } });
  const header = (field: string): string | null => call.getResponseHeader(field);
  if (isGood(call)) return header;
  if (call.status === 0) throw new Error(sending.signal.aborted ? 'Cancelled' : t.common.away.broke);
  throw toApiError(call.status, header, call.responseText, sending.target);
}
