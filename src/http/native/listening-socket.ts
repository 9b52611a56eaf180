/** The listening socket and the app behind it: common to a server with one event loop and an acceptor for several. */
import type { TemplatedApp, us_listen_socket } from 'uWebSockets.js';
import { noListener, type SocketOptions } from '../front-end.js';
import { boundReceiveBuffer, openSockets } from './receive-buffer.js';
import type { UwsModule } from './uws-loader.js';

/** LIBUS_LISTEN_EXCLUSIVE_PORT, an ambient enum that the modules do not type as a value. */
const EXCLUSIVE_PORT = 1;

/** @throws Error of one line if certificate and key cannot be used */
export function createApp(uws: UwsModule, { tls }: Pick<SocketOptions, 'tls'>): TemplatedApp {
  if (tls.certFile === '') return uws.App();
  try {
    return uws.SSLApp({ cert_file_name: tls.certFile, key_file_name: tls.keyFile });
  } catch (error) {
    throw new Error('server.tls: the certificate or its key cannot be used; both must be PEM and belong together', {
      cause: error,
    });
  }
}

/** @throws Error of one line if the address cannot be used */
export function listenOn(app: TemplatedApp, port: number, options: SocketOptions): us_listen_socket {
  const before = openSockets();
  let socket: us_listen_socket | false = false;
  // Without the exclusive flag two gateways would silently share the port.
  app.listen(options.host, port, EXCLUSIVE_PORT as never, (opened) => {
    socket = opened;
  });
  if (!socket) {
    app.close();
    throw new Error(noListener(port, options));
  }
  boundBuffer(before, options);
  return socket;
}

function boundBuffer(before: ReadonlySet<string>, options: SocketOptions): void {
  if (options.receiveBufferBytes === 0) return;
  const set = boundReceiveBuffer(before, options.receiveBufferBytes);
  if (set === 0) options.log('warn', 'server.receiveBufferBytes could not be applied on this platform');
}
