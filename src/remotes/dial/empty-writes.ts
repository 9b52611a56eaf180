import type { TLSSocket } from 'node:tls';

/**
 * TLS on a stream that is no socket of the system hands an empty write on at once. If TLS itself has to write
 * meanwhile, such as an alert, an assertion of node:tls fails and ends the process. node:http ends each body with an
 * empty write.
 */
export function withoutEmptyWrites(secured: TLSSocket): TLSSocket {
  const write = secured._write.bind(secured);
  secured._write = (chunk: Buffer | string, encoding, done) => {
    if (chunk.length === 0) done();
    else write(chunk, encoding, done);
  };
  const writeAll = secured._writev?.bind(secured);
  secured._writev = (chunks: { chunk: Buffer | string; encoding: BufferEncoding }[], done) => {
    if (chunks.every(({ chunk }) => chunk.length === 0)) done();
    else writeAll?.(chunks, done);
  };
  return secured;
}
