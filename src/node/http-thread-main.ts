/**
 * The program of the HTTP thread. The build makes it a file of its own, `dist/node/http-thread.cjs`, without the code of the
 * cluster.
 */
import { parentPort } from 'node:worker_threads';
import type { Answer } from '../protocol/http.js';
import { HealthAnswers } from './health-answers.js';
import { limitUnanswered } from './held-bytes.js';
import { type HttpServer, startHttpServer } from './http-server.js';
import type { IncomingRequest } from './incoming-request.js';
import { ForwardedFailure, RequestForwarder } from './request-forwarder.js';
import { type ClusterMessage, MessageBatch, type ServerMessage } from './thread-messages.js';

if (parentPort === null) throw new Error('orchplane: this file is a thread of serve, not a program');
const port = parentPort;
const batch = new MessageBatch<ClusterMessage>(port);
const forwarder = new RequestForwarder(batch);
// Health checks are answered before the cluster has answered, but it keeps them.
const forward = limitUnanswered((request, onWaiting: () => void) => forwarder.forward(request, onWaiting));
const health = new HealthAnswers();
let server: HttpServer | undefined;

async function listen({ settings, hasLog }: Extract<ServerMessage, { readonly type: 'listen' }>): Promise<void> {
  server = await startHttpServer(settings, (request) => answer(request), {
    onError: (error) => (error instanceof ForwardedFailure ? undefined : batch.send({ type: 'error', error })),
    onRequestEnd: hasLog ? (entry) => batch.send({ type: 'end', entry }) : undefined,
  });
  const { url } = server;
  batch.send({ type: 'listening', port: server.port, url });
  await health.prime((path) => forwarder.ask('GET', url + path));
}

/** Writes that change who may see what, by path. */
const ACCESS_WRITE = /\/apis\/rbac\.|\/serviceaccounts\b/;

async function answer(request: IncomingRequest): Promise<Answer> {
  const given = await health.answer(request, (onWaiting) => forward(request, onWaiting));
  const isRefused = given.code === 401 || given.code === 403;
  const isWrite = request.method !== 'GET' && request.method !== 'HEAD';
  if (isWrite && !isRefused && ACCESS_WRITE.test(request.url)) health.forget();
  return given;
}

async function close(): Promise<void> {
  await server?.close();
  batch.send({ type: 'closed' });
}

port.on('message', (messages: readonly ServerMessage[]) => {
  health.heard();
  for (const message of messages) {
    // An error ends the thread, and the cluster gets it.
    if (message.type === 'listen') void listen(message);
    else if (message.type === 'close') void close();
    else forwarder.receive(message);
  }
});
