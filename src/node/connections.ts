/**
 * The open connections of a server, so that idle ones can be closed, and all of them on shutdown.
 */
import type { EventEmitter } from 'node:events';
import type { ServerHttp2Session } from 'node:http2';
import type { Socket } from 'node:net';

/** The open connections of a server. */
export interface Connections {
  /** Includes connections on which TLS has not started, which the server itself does not know. */
  readonly sockets: ReadonlySet<Socket>;
  /** Those over HTTP/2. */
  readonly sessions: ReadonlySet<ServerHttp2Session>;
}

/** Tracks the connections of a server and closes HTTP/2 sessions that are idle. Node does that for HTTP/1.1 only. */
export function trackConnections(server: EventEmitter, idleMs: number): Connections {
  const sockets = new Set<Socket>();
  const sessions = new Set<ServerHttp2Session>();
  server.on('connection', (socket: Socket) => {
    // A connection whose request asked for another protocol is announced again.
    if (sockets.has(socket)) return;
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  server.on('session', (session: ServerHttp2Session) => {
    sessions.add(session);
    session.once('close', () => sessions.delete(session));
    closeWhenIdle(session, idleMs);
  });
  return { sockets, sessions };
}

/** A session with an open stream is not idle: a watch may have no events for a long time. */
function closeWhenIdle(session: ServerHttp2Session, idleMs: number): void {
  let streams = 0;
  session.on('stream', (stream) => {
    streams++;
    stream.once('close', () => {
      streams--;
      // Restarts the timer, which has expired if a watch had no events for that long.
      if (!session.destroyed) session.setTimeout(idleMs);
    });
  });
  session.setTimeout(idleMs);
  session.on('timeout', () => {
    if (streams > 0) return;
    // `close` waits for the client to close its end, which a client with unread data never does.
    const closeSocket = session.socket.destroySoon;
    session.close();
    closeSocket();
  });
}
