/**
 * Runs a suite with three transports: a call in this process, HTTP without a socket, and HTTP over sockets. The
 * client behaves the same with each, so such tests do not compare object identity.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, vi } from 'vitest';
import { type Client, createClient } from '../../../src/client/client.js';
import type { ClientDefaults } from '../../../src/client/options.js';
import type { ClusterOptions } from '../../../src/cluster/options.js';
import { createFetchHandler, type FetchHandler, httpTransport } from '../../../src/http/index.js';
import type { Transport } from '../../../src/protocol/transport.js';
import { type TestCluster, testCluster } from '../../../src/testing/test-cluster.js';

export interface Connected {
  /** Prepares objects and reads the state of the server. */
  readonly cluster: TestCluster;
  /** The client under test. */
  readonly client: Client;
  readonly transport: Transport;
}

export type Connect = (options?: Omit<ClusterOptions, 'clock'>, defaults?: ClientDefaults) => Promise<Connected>;

type Route = (cluster: TestCluster) => Promise<Transport>;

const routes: Readonly<Record<string, Route>> = {
  'in process': async (cluster) => cluster,
  'over HTTP in memory': async (cluster) =>
    httpTransport({
      baseUrl: 'http://cluster.local',
      fetch: createFetchHandler(cluster),
      clock: cluster.clock,
      dialect: cluster.dialect.name,
    }),
  'over sockets': async (cluster) => {
    const server = await listen(createFetchHandler(cluster));
    return httpTransport({ baseUrl: server.url, clock: cluster.clock, dialect: cluster.dialect.name });
  },
};

/** Runs the suite once for each transport. Connections of a test are closed after it. */
export function everyTransport(title: string, suite: (connect: Connect, route: string) => void): void {
  describe.each(Object.entries(routes))(`${title}, %s`, (name, route) => {
    suite(async (options, defaults = {}) => {
      const cluster = testCluster(options);
      const transport = await route(cluster);
      closers.push(() => cluster.close());
      return { cluster, transport, client: createClient({ transport, ...defaults }) };
    }, name);
  });
}

const closers: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** A server on a free port, closed at the end of the test. */
export async function listen(handler: FetchHandler): Promise<{ readonly url: string; readonly server: Server }> {
  const server = createServer({ maxHeaderSize: 128 * 1024 }, (incoming, outgoing) => {
    // A client that disconnected gets no response; anything else would be a bug of this adapter.
    pass(handler, incoming, outgoing).catch((error: unknown) => outgoing.destroy(error as Error));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closers.push(() => {
    server.close();
    server.closeAllConnections();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server };
}

async function pass(handler: FetchHandler, incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  const { method = 'GET', url = '/', rawHeaders } = incoming;
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk);
  const disconnected = new AbortController();
  outgoing.on('close', () => disconnected.abort());
  const headers = new Headers();
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) headers.append(rawHeaders[at] ?? '', rawHeaders[at + 1] ?? '');
  const body = chunks.length > 0 ? Buffer.concat(chunks) : null;
  const response = await handler(
    new Request(`http://cluster${url}`, { method, headers, body, signal: disconnected.signal }),
  );
  for (const [name, value] of response.headers) outgoing.appendHeader(name, value);
  outgoing.writeHead(response.status);
  outgoing.flushHeaders();
  const reader = response.body?.getReader();
  for (let next = await reader?.read(); next?.done === false; next = await reader?.read()) {
    if (!outgoing.write(next.value)) await drained(outgoing);
    if (outgoing.destroyed) await reader?.cancel();
  }
  outgoing.end();
}

function drained(outgoing: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      outgoing.off('drain', done).off('close', done);
      resolve();
    };
    outgoing.on('drain', done).on('close', done);
  });
}

/** Waits until a condition holds that depends on the network. */
export function eventually<Value>(check: () => Value | Promise<Value>): Promise<Value> {
  return vi.waitFor(check, { timeout: 10_000, interval: 2 });
}

/** The rejection reason of a promise. */
export async function rejection(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error('it was not rejected');
}
