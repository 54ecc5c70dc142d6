/**
 * Watches over byte streams that are split or interrupted anywhere: the events do not depend on the chunks, and an
 * interruption neither invents nor silently skips events.
 */
import { type ApiObject, type Client, createClient, createCluster, type ServerWatchEvent } from 'orchplane';
import { createFetchHandler, httpTransport } from 'orchplane/http';
import { ConfigMap } from 'orchplane/kinds';
import { fakeClock } from 'orchplane/testing';
import { expect, test } from 'vitest';
import { HttpWatchStream } from '../../src/http/transport/watch-stream.js';
import { StatusError } from '../../src/meta/errors.js';
import fc from './seeded.js';

const object = (text: string, version: number): ApiObject => ({
  kind: 'ConfigMap',
  apiVersion: 'v1',
  metadata: { name: 'a', uid: 'u', resourceVersion: String(version), creationTimestamp: '' },
  data: { text },
});

const events = fc
  .array(fc.tuple(fc.constantFrom('ADDED', 'MODIFIED', 'DELETED'), fc.string({ unit: 'grapheme', maxLength: 12 })), {
    minLength: 1,
    maxLength: 5,
  })
  .map((list) => list.map(([type, text], index) => ({ type, object: object(text, index + 1) }) as ServerWatchEvent));

const bytesOf = (list: readonly ServerWatchEvent[]): Uint8Array =>
  new TextEncoder().encode(list.map((event) => `${JSON.stringify(event)}\n`).join(''));

/** The bytes in chunks that end at the given offsets, followed by an end or an error. */
function bodyOf(bytes: Uint8Array, cuts: readonly number[], failure?: Error): ReadableStream<Uint8Array> {
  const ends = [...new Set([...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length])].sort((a, b) => a - b);
  let at = 0;
  return new ReadableStream({
    pull(controller) {
      const end = ends.shift();
      if (end !== undefined) controller.enqueue(bytes.slice(at, end));
      else if (failure === undefined) controller.close();
      else controller.error(failure);
      at = end ?? at;
    },
  });
}

async function read(body: ReadableStream<Uint8Array>): Promise<{ seen: ServerWatchEvent[]; error?: unknown }> {
  const seen: ServerWatchEvent[] = [];
  try {
    for await (const event of new HttpWatchStream(body)) seen.push(event);
    return { seen };
  } catch (error) {
    return { seen, error };
  }
}

test('reads events from chunks that end anywhere, also inside a character', async () => {
  const cases = fc.asyncProperty(events, fc.array(fc.nat(2_000), { maxLength: 40 }), async (list, cuts) => {
    expect(await read(bodyOf(bytesOf(list), cuts))).toEqual({ seen: list });
  });
  await fc.assert(cases, { numRuns: 150 });
});

test('reads events that arrive byte by byte', async () => {
  const list = [
    { type: 'ADDED', object: object('é😀\u2028', 1) },
    { type: 'DELETED', object: object('', 2) },
  ] as const;
  const bytes = bytesOf(list);
  expect(await read(bodyOf(bytes, [...bytes.keys()]))).toEqual({ seen: list });
});

test('returns complete events of a stream that ends at any byte and reports an interruption inside an event', async () => {
  const list = [0, 1, 2].map((n) => ({ type: 'ADDED', object: object('é😀'.repeat(n), n + 1) }) as ServerWatchEvent);
  const bytes = bytesOf(list);
  // After the last byte of an event, with or without the newline.
  const whole = list.map((_, index) => bytesOf(list.slice(0, index + 1)).length);
  for (let length = 0; length <= bytes.length; length++) {
    const complete = whole.filter((end) => end - 1 <= length).length;
    const between = length === 0 || whole.some((end) => end === length || end - 1 === length);

    const ended = await read(bodyOf(bytes.slice(0, length), [length >> 1]));
    expect(ended.seen).toEqual(list.slice(0, complete));
    expect(ended.error === undefined).toBe(between);
    if (!between) expect(StatusError.is(ended.error, 'ServiceUnavailable')).toBe(true);

    const broken = await read(bodyOf(bytes.slice(0, length), [], new TypeError('terminated')));
    expect(broken.seen).toEqual(list.slice(0, whole.filter((end) => end <= length).length));
    expect(StatusError.is(broken.error, 'ServiceUnavailable')).toBe(true);
  }
});

test('brings an informer to the current state despite interrupted watches', async () => {
  const cases = fc.asyncProperty(
    fc.array(fc.nat(900), { minLength: 1, maxLength: 8 }),
    fc.boolean(),
    async (cuts, hard) => {
      const clock = fakeClock();
      const cluster = createCluster({ clock });
      const handler = createFetchHandler(cluster);
      const left = [...cuts];
      const fetch = async (request: Request): Promise<Response> => {
        const response = await handler(request);
        if (!request.url.includes('watch=true') || response.body === null) return response;
        const cut = left.shift();
        return cut === undefined ? response : new Response(cutAfter(response.body, cut, hard), response);
      };
      const client: Client = createClient({ transport: httpTransport({ baseUrl: 'http://cluster', fetch, clock }) });
      await using informer = client.api(ConfigMap).informer({ onError: () => undefined });
      const received = new Map<string, string>();
      informer.subscribe((event) => {
        if (event.type === 'DELETED') received.delete(event.object.metadata.name);
        else received.set(event.object.metadata.name, event.object.metadata.resourceVersion);
      });
      await informer.synced;
      for (let step = 0; step < 12; step++) {
        const name = `m-${step % 4}`;
        if (step % 5 === 4) await cluster.api(ConfigMap).delete(name);
        else
          await cluster
            .api(ConfigMap)
            .apply({ metadata: { name }, data: { step: `${step} é😀` } }, { fieldManager: 'x' });
        await clock.advance(step % 3 === 0 ? 3_000 : 0);
      }
      // Failed attempts are repeated with increasing delays of at most 30 seconds.
      for (let wait = 0; wait < cuts.length + 2; wait++) await clock.advance(31_000);
      const { items } = await cluster.api(ConfigMap).list();
      const byName = [...informer.snapshot()].sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
      expect(byName).toEqual(items);
      expect(received).toEqual(new Map(items.map(({ metadata }) => [metadata.name, metadata.resourceVersion])));
      await cluster.close();
    },
  );
  await fc.assert(cases, { numRuns: 25 });
});

/** The first bytes of a body, followed by an end or an error. */
function cutAfter(body: ReadableStream<Uint8Array>, bytes: number, hard: boolean): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  let left = bytes;
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await reader.read();
      if (value !== undefined) controller.enqueue(value.slice(0, left));
      left -= value?.length ?? 0;
      if (!done && left > 0) return;
      await reader.cancel();
      if (hard) controller.error(new TypeError('terminated'));
      else controller.close();
    },
    cancel: () => reader.cancel(),
  });
}
