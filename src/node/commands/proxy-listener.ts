/**
 * The HTTPS servers of `orchplane record` and `orchplane replay --serve`: clients connect with a generated kubeconfig.
 */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Duplex } from 'node:stream';
import { messageOf } from '../../util/message-of.js';
import { kubeconfigText, writeKubeconfig } from '../kubeconfig.js';
import { certificateForHost } from '../serve.js';
import { type CommandOptions, type CommandValues, readHost, readPort, UsageError } from './command.js';

export const LISTENER_OPTIONS = {
  port: { type: 'string', value: 'N', help: 'the port; default: any free port' },
  host: { type: 'string', value: 'ADDRESS', help: 'the address to listen on; default: 127.0.0.1' },
  'client-kubeconfig': {
    type: 'string',
    value: 'FILE',
    writes: 'file',
    help: 'where to write the kubeconfig of clients; default: a temporary file',
  },
} as const satisfies CommandOptions;

export interface ProxyHandlers {
  request(request: IncomingMessage, response: ServerResponse): void;
  /** Absent: upgrades are refused. */
  upgrade?(request: IncomingMessage, socket: Duplex, head: Buffer): void;
}

export interface ProxyListener extends AsyncDisposable {
  readonly url: string;
  /** The path of the kubeconfig for clients. */
  readonly kubeconfig: string;
}

/** Starts a server on this machine. Requests without the token of the kubeconfig are refused. Throws UsageError. */
export async function startListener(
  values: CommandValues<typeof LISTENER_OPTIONS>,
  handlers: ProxyHandlers,
): Promise<ProxyListener> {
  const port = readPort(values.port ?? '0');
  const host = readHost(values.host) ?? '127.0.0.1';
  const { cert, key, ca } = await certificateForHost(host);
  const token = randomBytes(32).toString('base64url');
  const server = createServer({ cert, key });
  server.on('request', (request, response) => {
    if (!isAllowed(request, token)) return refuse(response);
    try {
      handlers.request(request, response);
    } catch (error) {
      // An exception in a listener would end the process.
      if (response.headersSent) response.destroy();
      else sendStatus(response, 500, messageOf(error));
    }
  });
  // The server does not close upgraded connections.
  const upgraded = new Set<Duplex>();
  server.on('upgrade', (request, socket, head) => {
    upgraded.add(socket);
    socket.on('close', () => upgraded.delete(socket));
    // A client that is refused may reset the connection.
    socket.on('error', () => socket.destroy());
    if (isAllowed(request, token) && handlers.upgrade !== undefined) handlers.upgrade(request, socket, head);
    else socket.end('HTTP/1.1 403 Forbidden\r\nConnection: close\r\nContent-Length: 0\r\n\r\n');
  });
  server.listen(port, host);
  await once(server, 'listening').catch((error: NodeJS.ErrnoException) => {
    const isTaken = error.code === 'EADDRINUSE';
    throw new UsageError(
      isTaken ? `port ${port} is in use; --port 0 takes a free one` : `--host ${host}: ${error.message}`,
    );
  });
  const shownHost = host.includes(':') ? `[${host}]` : host;
  const url = `https://${shownHost}:${(server.address() as AddressInfo).port}`;
  const folder = values['client-kubeconfig'] === undefined ? await mkdtemp(join(tmpdir(), 'orchplane-')) : undefined;
  const kubeconfig = resolve(values['client-kubeconfig'] ?? join(folder ?? '', 'kubeconfig'));
  const close = async (): Promise<void> => {
    server.close();
    server.closeAllConnections();
    for (const socket of upgraded) socket.destroy();
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  };
  await writeKubeconfig(kubeconfig, kubeconfigText({ url, caCertificate: ca, token })).catch(async (error: unknown) => {
    await close();
    throw error;
  });
  return { url, kubeconfig, [Symbol.asyncDispose]: close };
}

function isAllowed({ headers }: IncomingMessage, token: string): boolean {
  const given = Buffer.from(headers.authorization ?? '');
  const wanted = Buffer.from(`Bearer ${token}`);
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}

function refuse(response: ServerResponse): void {
  sendStatus(response, 401, 'the token of the kubeconfig that orchplane has printed is missing');
}

/** Answers with a Status. */
export function sendStatus(response: ServerResponse, code: number, message: string, reason?: string): void {
  const status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, reason, code };
  response.writeHead(code, { 'content-type': 'application/json' }).end(JSON.stringify(status));
}
