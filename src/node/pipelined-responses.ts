/**
 * Responses of a client that sends the next request before it has received the response (pipelining). Node queues them: a
 * response gets the connection when the earlier ones are finished.
 */
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** False if the connection has an unfinished response: the client did not wait for it. */
export function tryAssignSocket(outgoing: ServerResponse, socket: Socket): boolean {
  try {
    outgoing.assignSocket(socket);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ERR_HTTP_SOCKET_ASSIGNED') return false;
    throw error;
  }
}

/** The responses of a connection that wait for an earlier one. */
const waitingResponses = new WeakMap<object, Set<ServerResponse>>();

/** Node does not close a response that waits for an earlier one when the client disconnects. */
export function closeWithConnection(outgoing: ServerResponse, socket: Socket): void {
  let waiting = waitingResponses.get(socket);
  if (waiting === undefined) {
    const created = new Set<ServerResponse>();
    waiting = created;
    waitingResponses.set(socket, created);
    socket.once('close', () => {
      for (const each of created) {
        if (each.socket !== null || each.writableFinished) continue;
        each.destroy();
        each.emit('close');
      }
    });
  }
  waiting.add(outgoing);
  outgoing.once('close', () => waiting.delete(outgoing));
}

/**
 * Resolves with true when the earlier responses of the connection are finished, and with false when it is closed. Requests of a
 * connection are executed one after another, as by the reference server: otherwise a client that never reads could make the
 * server keep thousands of responses.
 */
export function untilFirst(outgoing: ServerResponse): Promise<boolean> {
  return new Promise((resolve) => {
    outgoing.once('socket', () => resolve(true));
    outgoing.once('close', () => resolve(false));
  });
}

/** More than clients send without waiting for responses, and than one read of a socket usually contains. */
const MAX_PIPELINED = 2_000;

/** The unanswered requests of a connection. */
const unanswered = new WeakMap<Socket, number>();

/** Closes a connection with too many unanswered requests: a client that never waits would fill the memory. */
export function limitPipeline(outgoing: ServerResponse, socket: Socket): void {
  const count = (unanswered.get(socket) ?? 0) + 1;
  unanswered.set(socket, count);
  outgoing.on('close', () => unanswered.set(socket, (unanswered.get(socket) ?? 1) - 1));
  if (count > MAX_PIPELINED) socket.destroy();
}
