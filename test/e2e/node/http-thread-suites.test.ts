/** The tests of `serve` and of its listener, with the HTTP server in a thread of its own. */
import { EventEmitter } from 'node:events';
import { describe, vi } from 'vitest';
import { loadHttpThread } from '../../../src/node/http-thread.js';
import type { ServeOptions } from '../../../src/node/serve.js';
import type { Answer, HttpRequest } from '../../../src/protocol/http.js';
import { buildHttpThread } from '../../unit/node/http-thread-file.js';
import type * as sockets from '../../unit/node/sockets.js';

const thread = vi.hoisted(() => ({ file: new URL('file:///') }));
thread.file = buildHttpThread();

vi.mock('../../../src/node/serve.js', async (importOriginal) => {
  const module = await importOriginal<typeof import('../../../src/node/serve.js')>();
  type Cluster = Parameters<typeof module.serve>[0];
  const serve = (cluster: Cluster, options: ServeOptions = {}) =>
    module.serve(cluster, { thread: thread.file, ...options });
  return { ...module, serve };
});

vi.mock('../../unit/node/sockets.js', async (importOriginal) => ({
  ...(await importOriginal<typeof sockets>()),
  site: threadedSite,
}));

/** The test's request handler behind a thread. Its `server` emits `request` when the handler gets one. */
async function threadedSite(given: ((request: HttpRequest) => Promise<Answer>) | Answer) {
  const errors: unknown[] = [];
  const log: sockets.FakeSite['log'] = [];
  const waiting: ((entry: sockets.FakeSite['log'][number]) => void)[] = [];
  const server = new EventEmitter();
  const handler = async (request: HttpRequest): Promise<Answer> => {
    // The tests expect this origin.
    Object.defineProperty(request, 'url', { value: request.url.replace(/^http:\/\/[^/]+/, 'http://site') });
    server.emit('request', request);
    return typeof given === 'function' ? given(request) : given;
  };
  const settings = { port: 0, host: '127.0.0.1', http2: false, trust: {}, dialect: 'kubernetes' } as const;
  const running = await loadHttpThread(thread.file).start(settings, ignoreHealth(handler), {
    onError: (error) => errors.push(error),
    onRequestEnd(entry) {
      log.push(entry);
      for (const resolve of waiting.splice(0)) resolve(entry);
    },
  });
  return {
    port: running.port,
    server,
    listener: { drain: () => running.close() },
    errors,
    log,
    over: () => new Promise((resolve) => waiting.push(resolve)),
    [Symbol.asyncDispose]: () => running.close(),
  };
}

/** The thread asks for these when it starts. */
function ignoreHealth(handler: (request: HttpRequest) => Promise<Answer>) {
  return async (request: HttpRequest): Promise<Answer> =>
    /\/(healthz|livez|readyz)$/.test(request.url) ? { code: 404, headers: [], body: null } : handler(request);
}

describe('with an HTTP thread', async () => {
  await import('../../unit/node/serve.test.js');
  await import('../../unit/node/http-listener.test.js');
  await import('../../unit/node/pipelining.test.js');
  await import('../../unit/node/http2.test.js');
  await import('../../unit/node/web-socket.test.js');
  await import('../../unit/node/compress.test.js');
  await import('../../unit/node/client-certificates.test.js');
  await import('../../unit/node/request-header.test.js');
  await import('../../unit/node/aggregate.test.js');
  await import('../../unit/node/advertised.test.js');
});
