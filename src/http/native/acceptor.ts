/**
 * One listening socket for several event loops: it accepts, and passes each connection to the next of the joined
 * servers, in turn. So the port stays exclusive to this process, and connections are spread evenly over the loops,
 * which sockets that share a port (SO_REUSEPORT) do not do on every system.
 * A descriptor is the address of a native app in another thread. It must have left before that thread ends.
 */
import type { AppDescriptor, us_listen_socket } from 'uWebSockets.js';
import type { SocketOptions } from '../front-end.js';
import { createApp, listenOn } from './listening-socket.js';
import { loadUws } from './uws-loader.js';

interface AcceptorOptions extends SocketOptions {
  readonly port: number;
}

/** An acceptor in another thread, which gives a server its share of the connections. */
export interface SharedAcceptor {
  /** 0 before it listens. */
  readonly port: number;
  join(descriptor: AppDescriptor): void;
  leave(descriptor: AppDescriptor): void;
}

export interface Acceptor extends SharedAcceptor {
  /** Throws one clear line if the address cannot be used. At least one server must have joined before. */
  listen(): { readonly port: number };
  /** Accepts nothing from now on; connections that were passed on continue. */
  close(): void;
}

/** @throws Error of one line if certificate and key cannot be used */
export function createAcceptor(options: AcceptorOptions): Acceptor {
  const { uws, build } = loadUws();
  const app = createApp(uws, options);
  let listener: us_listen_socket | undefined;
  let port = 0;
  return {
    get port() {
      return port;
    },
    join: (descriptor) => app.addChildAppDescriptor(descriptor),
    leave: (descriptor) => app.removeChildAppDescriptor(descriptor),
    listen: () => {
      listener = listenOn(app, options.port, options);
      port = uws.us_socket_local_port(listener);
      options.log('info', 'listening', { host: options.host, port, build, tls: options.tls.certFile !== '' });
      return { port };
    },
    close: () => {
      if (listener !== undefined) uws.us_listen_socket_close(listener);
      listener = undefined;
    },
  };
}
