/** Sends a request and reports the progress of its body. It uses XMLHttpRequest because fetch reports none. */
export interface Sending {
  readonly method: 'POST' | 'PUT' | 'HEAD' | 'PATCH';
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Blob | undefined;
  readonly signal?: AbortSignal;
  readonly onBytes?: ((sent: number) => void) | undefined;
}

/** Resolves with the answer, even if it is an error; its status is 0 if none came. */
export function send({ method, target, headers, body, signal, onBytes }: Sending): Promise<XMLHttpRequest> {
  return new Promise((resolve) => {
    const call = new XMLHttpRequest();
    const abort = (): void => call.abort();
    call.upload.onprogress = ({ loaded }) => onBytes?.(loaded);
    call.onloadend = () => {
      signal?.removeEventListener('abort', abort);
      resolve(call);
    };
    signal?.addEventListener('abort', abort);
    call.open(method, target);
    for (const [field, value] of Object.entries(headers)) call.setRequestHeader(field, value);
    call.send(body);
    // It may have been aborted before anything listened.
    if (signal?.aborted === true) call.abort();
  });
}

export const isGood = ({ status }: XMLHttpRequest): boolean => status >= 200 && status < 300;
