/**
 * Bounds the bytes of an HTTP answer that are no content: heads, informational answers, chunk sizes and extensions, and
 * trailers. Node.js bounds a head, but not how many there are, nor the digits of a chunk size. No time limit ends a
 * server that sends such bytes without a pause.
 */
import type http from 'node:http';
import type { Socket } from 'node:net';

/** Far more than the largest head that Node.js takes (16 KiB), with trailers and some informational answers. */
const MAX_OVERHEAD_BYTES = 64 << 10;
/** For each byte of content: chunks of one byte, with sizes of ten digits, have fewer. */
const OVERHEAD_PER_BYTE = 16;

const WORDS = 'it sends bytes without end that are no content';

/** Ends the request, or its answer, with this error once it has received too much else than content. */
export function limitOverhead(request: http.ClientRequest, failure: (words: string) => Error = noHttp): void {
  let response: http.IncomingMessage | undefined;
  let raw = 0;
  let content = 0;
  request.once('response', (message) => {
    response = message;
    const push = message.push.bind(message);
    message.push = (chunk: Buffer | null) => {
      content += chunk?.length ?? 0;
      return push(chunk);
    };
  });
  request.once('socket', (socket: Socket) => {
    // The parser listens first: the content of these bytes is counted already.
    const count = (bytes: Buffer): void => {
      raw += bytes.length;
      if (raw - content <= MAX_OVERHEAD_BYTES + OVERHEAD_PER_BYTE * content) return;
      socket.off('data', count);
      (response ?? request).destroy(failure(WORDS));
    };
    socket.on('data', count);
    request.once('close', () => socket.off('data', count));
  });
}

/** Limits every request of the agent, including those of libraries. */
export function limitOverheadOf(agent: http.Agent): void {
  // Node.js calls this method for each request. It is old and used by many agents, but has no type.
  if (!('addRequest' in agent) || typeof agent.addRequest !== 'function') return;
  const { addRequest } = agent;
  Object.defineProperty(agent, 'addRequest', {
    value: (request: http.ClientRequest, ...rest: unknown[]): void => {
      limitOverhead(request);
      Reflect.apply(addRequest, agent, [request, ...rest]);
    },
  });
}

/** With a code like those of the parser: the server does not speak HTTP. */
function noHttp(words: string): Error {
  return Object.assign(new Error(words), { code: 'HPE_OVERHEAD' });
}
