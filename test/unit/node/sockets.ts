/**
 * A client that sends raw bytes and returns what it receives, for what an HTTP library would not send.
 */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, createServer as createSocketServer, type Socket } from 'node:net';
import {
  createListener,
  type Listener,
  type RequestHandler,
  type RequestLogEntry,
} from '../../../src/node/http-listener.js';
import type { Answer } from '../../../src/protocol/http.js';

export interface RawConnection {
  readonly socket: Socket;
  /** All text received so far. */
  text(): string;
  /** Resolves when the received text matches; rejects when the connection ends first. */
  until(pattern: RegExp): Promise<string>;
  /** Resolves with all received text when the server has closed the connection. */
  end(): Promise<string>;
}

export async function openConnection(port: number): Promise<RawConnection> {
  const socket = connect(port, '127.0.0.1');
  let received = '';
  const closed = new Promise<void>((resolve) => socket.on('close', () => resolve()));
  // A reset connection ends like any other; only the received bytes count.
  socket.on('error', () => undefined);
  socket.on('data', (chunk) => {
    received += chunk.toString('latin1');
  });
  await once(socket, 'connect');
  const until = async (pattern: RegExp): Promise<string> => {
    let open = true;
    void closed.then(() => {
      open = false;
    });
    while (!pattern.test(received)) {
      if (!open) throw new Error(`closed without ${pattern}: ${JSON.stringify(received)}`);
      await Promise.race([once(socket, 'data'), closed]);
    }
    return received;
  };
  return { socket, text: () => received, until, end: () => closed.then(() => received) };
}

/** Sends one text and waits for the end of the connection. */
export async function exchange(port: number, text: string): Promise<string> {
  const connection = await openConnection(port);
  connection.socket.write(text, 'latin1');
  return connection.end();
}

export interface FakeSite extends AsyncDisposable {
  readonly port: number;
  readonly server: Server;
  readonly listener: Listener;
  readonly errors: unknown[];
  readonly log: RequestLogEntry[];
  /** Resolves with the log entry of the next request that ends. */
  over(): Promise<RequestLogEntry>;
}

/** The listener of the library in front of a request handler of the test. */
export async function site(handler: RequestHandler | Answer): Promise<FakeSite> {
  const errors: unknown[] = [];
  const log: RequestLogEntry[] = [];
  const waiting: ((entry: RequestLogEntry) => void)[] = [];
  const listener = createListener(typeof handler === 'function' ? handler : async () => handler, {
    origin: () => 'http://site',
    onError: (error) => errors.push(error),
    onRequestEnd: (entry) => {
      log.push(entry);
      for (const resolve of waiting.splice(0)) resolve(entry);
    },
  });
  const server = createServer().on('request', listener.request).on('checkContinue', listener.checkContinue);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    server,
    listener,
    errors,
    log,
    over: () => new Promise((resolve) => waiting.push(resolve)),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export const text = (body: string): Answer => ({ code: 200, headers: [['Content-Type', 'text/plain']], body });

/** Answers every request with the status 101, for another protocol. */
export async function switchingServer(): Promise<AsyncDisposable & { readonly url: string }> {
  const server = createSocketServer((socket) => {
    socket.on('error', () => socket.destroy());
    socket.once('data', () => socket.end('HTTP/1.1 101 Other\r\nConnection: Upgrade\r\nUpgrade: other\r\n\r\n'));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: () => new Promise((resolve) => server.close(() => resolve())),
  };
}
