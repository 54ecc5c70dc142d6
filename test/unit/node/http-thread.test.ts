/** serve with an HTTP thread: health checks during long requests, and a thread that cannot be loaded. */
import { once } from 'node:events';
import { pathToFileURL } from 'node:url';
import { type MessagePort, Worker } from 'node:worker_threads';
import { beforeAll, describe, expect, test } from 'vitest';
import type { AdmissionPlugin } from '../../../src/admission/types.js';
import { createCluster } from '../../../src/cluster/full-cluster.js';
import { ConfigMap } from '../../../src/kinds/index.js';
import { serve } from '../../../src/node/index.js';
import { MessageBatch } from '../../../src/node/thread-messages.js';
import { buildHttpThread } from './http-thread-file.js';

let thread: URL;

beforeAll(() => {
  thread = buildHttpThread();
});

/** A health check of a client. */
interface Check {
  readonly path: string;
  readonly code: number;
  readonly text: string;
  readonly ms: number;
  /** The large request was not over. */
  readonly isDuring: boolean;
}

/** In a thread, because the cluster blocks its own. Sends a large request and health checks until it is answered. */
const CLIENT = `
  const { parentPort, workerData: { url, path, body, headers } } = require('node:worker_threads');
  async function run() {
    // Loads fetch.
    await (await fetch(url + '/healthz', { headers })).text();
    let isOver = false;
    const start = performance.now();
    const large = fetch(url + path, { method: 'POST', headers, body }).then(async (response) => {
      isOver = true;
      const ms = performance.now() - start;
      await response.arrayBuffer();
      return { code: response.status, ms };
    });
    const checks = [];
    while (!isOver) {
      for (const path of ['/healthz', '/livez', '/readyz?verbose']) {
        const sent = performance.now();
        const response = await fetch(url + path, { headers });
        const text = await response.text();
        checks.push({ path, code: response.status, text, ms: performance.now() - sent, isDuring: !isOver });
      }
      // The client must not take the processor from the server.
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    parentPort.postMessage({ ...(await large), checks });
  }
  void run();
`;

const items = <Item>(count: number, item: (n: number) => Item): Item[] =>
  Array.from({ length: count }, (_, n) => item(n));
const metadata = { name: 'a' };
const ports = items(120_000, (n) => ({ containerPort: (n % 65_535) + 1 }));
const data = Object.fromEntries(items(200_000, (n) => [`k${n}`, 'v']));

test.each([
  ['a Pod', 'pods', { metadata, spec: { containers: [{ name: 'c', image: 'i', ports }] } }, 500],
  ['a ConfigMap', 'configmaps', { metadata, data }, 500],
  ['an invalid Pod', 'pods', { metadata, spec: { containers: items(200_000, () => ({})) } }, 422],
])(
  'answers health checks while it processes %s of 3 MiB',
  { timeout: 90_000 },
  async (_name, resource, object, code) => {
    await using cluster = createCluster();
    await using server = await serve(cluster, { token: 't', thread });
    const headers = { authorization: 'Bearer t', 'content-type': 'application/json' };
    const report = await (await fetch(`${server.url}/readyz?verbose`, { headers })).text();
    expect(report).toContain('[+]ping ok');
    const path = `/api/v1/namespaces/default/${resource}`;
    const client = new Worker(CLIENT, {
      eval: true,
      workerData: { url: server.url, path, headers, body: JSON.stringify(object) },
    });
    const [result] = (await once(client, 'message')) as [{ code: number; ms: number; checks: Check[] }];
    expect(result.code).toBe(code);
    const during = result.checks.filter(({ isDuring }) => isDuring);
    expect(during.length).toBeGreaterThanOrEqual(3);
    for (const check of result.checks) {
      expect(check).toMatchObject({ code: 200, text: check.path === '/readyz?verbose' ? report : 'ok' });
    }
    const times = during.map(({ ms }) => ms).sort((one, other) => one - other);
    // Most checks take far less time than the request.
    expect(times[Math.floor(times.length / 2)]).toBeLessThan(result.ms / 3);
    // A busy machine may delay a check; the request never does.
    expect(times.at(-1)).toBeLessThan(result.ms);
  },
);

test('sends each event to every watch that it concerns', async () => {
  await using cluster = createCluster();
  await using server = await serve(cluster, { token: 't', thread });
  const headers = { authorization: 'Bearer t' };
  const path = '/api/v1/namespaces/default/configmaps';
  const open = async (query: string) => {
    const response = await fetch(`${server.url}${path}?watch=true${query}`, { headers });
    return response.body?.pipeThrough(new TextDecoderStream()).getReader() ?? expect.fail('a watch has a body');
  };
  const all = await Promise.all(items(20, () => open('')));
  const some = await Promise.all(items(20, () => open('&labelSelector=kind%3Dodd')));
  const configMaps = cluster.api(ConfigMap);
  const names = items(30, (n) => `c${n}`);
  for (const [n, name] of names.entries()) {
    await configMaps.create({ metadata: { name, labels: { kind: n % 2 === 0 ? 'even' : 'odd' } } });
  }
  const namesOf = async (reader: ReadableStreamDefaultReader<string>, count: number) => {
    let text = '';
    while (text.split('\n').length <= count) text += (await reader.read()).value ?? expect.fail('the watch has ended');
    await reader.cancel();
    const events = text.trimEnd().split('\n');
    return events.map(
      (event) => (JSON.parse(event) as { object: { metadata: { name: string } } }).object.metadata.name,
    );
  };
  const odd = names.filter((_, n) => n % 2 === 1);
  for (const reader of all) expect(await namesOf(reader, names.length)).toEqual(names);
  for (const reader of some) expect(await namesOf(reader, odd.length)).toEqual(odd);
});

/** Sends requests on connections of their own and closes all of them at once. */
const IMPATIENT_CLIENT = `
  const { parentPort, workerData: { port, request, count } } = require('node:worker_threads');
  const sockets = Array.from({ length: count }, () => require('node:net').connect(port, '127.0.0.1').on('error', () => undefined));
  const connected = sockets.map((socket) => new Promise((resolve) => socket.on('connect', resolve)));
  Promise.all(connected).then(() => {
    for (const socket of sockets) socket.write(request, () => socket.destroy());
    Promise.all(sockets.map((socket) => new Promise((resolve) => socket.on('close', resolve)))).then(() => parentPort.postMessage(''));
  });
`;

// On a busy machine the closed connections may be noticed too late.
test('requests whose clients have disconnected are not executed', { retry: 3 }, async () => {
  let executed = 0;
  const slow: AdmissionPlugin = {
    name: 'Slow',
    validate() {
      executed++;
      const end = performance.now() + 50;
      while (performance.now() < end);
    },
  };
  await using cluster = createCluster({ admission: [slow] });
  await using server = await serve(cluster, { token: 't', thread });
  const body = '{"metadata":{"generateName":"a-"}}';
  const head = `POST /api/v1/namespaces/default/configmaps HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer t\r\n`;
  const request = `${head}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  const client = new Worker(IMPATIENT_CLIENT, { eval: true, workerData: { port: server.port, request, count: 200 } });
  await once(client, 'message');
  const response = await fetch(`${server.url}/api/v1/namespaces/default/configmaps`, {
    headers: { authorization: 'Bearer t' },
  });
  const { items: stored } = (await response.json()) as { items: unknown[] };
  expect(stored).toHaveLength(executed);
  // Without that all 200 are executed. How many are depends on the processors.
  expect(executed).toBeLessThan(180);
});

test('a thread that cannot be loaded is an error that names the file', async () => {
  const missing = pathToFileURL('/nowhere/http-thread.cjs');
  await expect(serve(createCluster(), { thread: missing })).rejects.toThrow(
    /^orchplane: the HTTP thread cannot load \/nowhere\/http-thread\.cjs: Cannot find module .*thread: new URL/,
  );
});

describe('MessageBatch', () => {
  const batchOf = () => {
    const posted: { readonly messages: readonly object[]; readonly transferred: number }[] = [];
    const postMessage = (messages: object[], transferred: readonly unknown[] = []): void =>
      void posted.push({ messages, transferred: transferred.length });
    return { posted, batch: new MessageBatch<object>({ postMessage: postMessage as MessagePort['postMessage'] }) };
  };

  test('keeps a large message until the next one, so that all watches of an event share it', () => {
    const { posted, batch } = batchOf();
    const large = new Uint8Array(2 * 1024 * 1024);
    const event = { ids: [1] };
    batch.send(event, large);
    expect(batch.last).toBe(event);
    batch.send({ ids: [2] });
    expect(posted).toEqual([{ messages: [event], transferred: 0 }]);
    batch.flush();
    expect(posted).toHaveLength(2);
  });

  test('moves the bytes of a message together with it', () => {
    const { posted, batch } = batchOf();
    for (const id of [1, 2]) batch.move({ id }, new Uint8Array(2 * 1024 * 1024));
    batch.flush();
    expect(posted).toEqual([
      { messages: [{ id: 1 }], transferred: 1 },
      { messages: [{ id: 2 }], transferred: 1 },
    ]);
  });
});
