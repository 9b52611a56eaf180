/** Sends bytes to the gateway and reports progress. It uses XMLHttpRequest because fetch reports no upload progress. */
import { t } from '../texts/texts.ts';
import { csrfHeader, toApiError } from './client.ts';

interface Sending {
  readonly method: 'POST' | 'PATCH';
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Blob;
  readonly signal: AbortSignal;
  readonly onBytes: (sent: number) => void;
}

/** Resolves to a reader of the answer's header fields. @throws ApiError, or an Error if no answer came */
export function sendBytes(sending: Sending): Promise<(field: string) => string | null> {
  const { method, target, headers, body, signal, onBytes } = sending;
  return new Promise((resolve, reject) => {
    const call = new XMLHttpRequest();
    const header = (field: string): string | null => call.getResponseHeader(field);
    const abort = (): void => call.abort();
    call.upload.onprogress = ({ loaded }) => onBytes(loaded);
    call.onload = () => {
      if (call.status >= 200 && call.status < 300) resolve(header);
      else reject(toApiError(call.status, header, call.responseText, target));
    };
    call.onerror = () => reject(new Error(t.common.away.broke));
    call.onabort = () => reject(new Error('Cancelled'));
    call.onloadend = () => signal.removeEventListener('abort', abort);
    signal.addEventListener('abort', abort);
    call.open(method, target);
    for (const [field, value] of Object.entries({ ...headers, ...csrfHeader() })) call.setRequestHeader(field, value);
    call.send(body);
  });
}
