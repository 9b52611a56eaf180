import type { Client } from 'ssh2';

/** ssh2 shows its users only the results of a handshake. */
interface Inside {
  readonly _protocol: {
    _onHeader: (header: unknown) => unknown;
    /** Made once the server's identification has come; another one replaces it with the first keys. */
    readonly _decipher: { _onPayload: (payload: Buffer) => unknown };
  };
}

/** Calls `listener` with each packet of the first handshake, before ssh2 reads it. Call before the first byte arrives. */
export function onFirstPayloads(client: Client, listener: (payload: Buffer) => void): void {
  const { _protocol: protocol } = client as unknown as Inside;
  const onHeader = protocol._onHeader;
  protocol._onHeader = (header) => {
    const { _decipher: plain } = protocol;
    const onPayload = plain._onPayload;
    plain._onPayload = (payload) => {
      listener(payload);
      return onPayload(payload);
    };
    return onHeader(header);
  };
}
