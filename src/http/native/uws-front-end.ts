/** The listener of uWebSockets.js: its own listening socket, or its share of an acceptor's connections. */
import type { TemplatedApp } from 'uWebSockets.js';
import { ClientConnections, type ConnectionsOptions } from '../connections.js';
import type { ClientSocket, FrontEnd, SocketOptions } from '../front-end.js';
import type { SharedAcceptor } from './acceptor.js';
import { createApp, listenOn } from './listening-socket.js';
import { openConnectionsOf } from './open-connections.js';
import { loadUws } from './uws-loader.js';
import { addressText, UwsSocket } from './uws-socket.js';

/** The source of connections. */
interface Listener {
  readonly port: number;
  close(): void;
}

/** @throws Error of one line if no build runs here, or certificate and key cannot be used */
export function openUwsFrontEnd(
  options: SocketOptions,
  acceptor: SharedAcceptor | undefined,
  bounds: ConnectionsOptions,
  begin: (socket: ClientSocket) => void,
): FrontEnd {
  const { uws, build } = loadUws();
  /** The current app and, after a reload, older ones whose connections are still open. */
  const apps = new Set<TemplatedApp>();
  let listener: Listener | undefined;
  const connections = boundConnections(bounds, () => acceptor?.port ?? listener?.port ?? 0);

  function createServer(): TemplatedApp {
    const app = createApp(uws, options);
    app.filter((res, change) => {
      if (Number(change) < 0) connections.closed();
      // Its end is reported before this call returns.
      else if (!connections.opened(addressText(res))) res.close();
    });
    app.any('/*', (res, req) => begin(new UwsSocket(res, req, options.keepAliveSeconds)));
    return app;
  }

  /** Under an acceptor the port belongs to the acceptor: 0. */
  function open(app: TemplatedApp, port: number): Listener {
    if (acceptor !== undefined) {
      const descriptor = app.getDescriptor();
      apps.add(app);
      acceptor.join(descriptor);
      return { port: 0, close: () => acceptor.leave(descriptor) };
    }
    const socket = listenOn(app, port, options);
    apps.add(app);
    return { port: uws.us_socket_local_port(socket), close: () => uws.us_listen_socket_close(socket) };
  }

  return {
    build,
    refusedConnections: connections.refused,

    listen: async (port) => {
      listener = open(createServer(), port);
      return listener.port;
    },

    reloadTls: () => {
      if (listener === undefined) return;
      // Created first: a bad certificate must not cost the listener.
      const app = createServer();
      // An address is free only when the former socket is closed; an acceptor must always have a server.
      if (acceptor === undefined) listener.close();
      const former = listener;
      listener = open(app, former.port);
      if (acceptor !== undefined) former.close();
    },

    stopListening: () => {
      listener?.close();
      listener = undefined;
    },

    closeSockets: () => {
      for (const app of apps) app.close();
    },
  };
}

/** The front end does not report the address of a connection that has ended. */
function boundConnections(bounds: ConnectionsOptions, port: () => number): ClientConnections {
  const recount = openConnectionsOf(port);
  if (recount !== undefined || bounds.perAddress === 0) return new ClientConnections(bounds, recount);
  bounds.log('warn', 'server.connectionsPerAddress could not be applied on this platform');
  return new ClientConnections({ ...bounds, perAddress: 0 });
}
