/** The response body of a watch. */
import { describe, expect, test } from 'vitest';
import { jsonCodec } from '../../../src/codec/json.js';
import { readableOf } from '../../../src/http/answer.js';
import type { View } from '../../../src/http/negotiate.js';
import { createWatchBody, EncodedEventCache } from '../../../src/http/watch-body.js';
import { kubernetesDialect } from '../../../src/meta/dialect.js';
import { errors } from '../../../src/meta/errors.js';
import type { ServerWatchEvent } from '../../../src/protocol/watch-event.js';
import { configMap, FakeWatch, served, settle } from './fakes.js';

function open(options: { signal?: AbortSignal; view?: View; eventCache?: EncodedEventCache } = {}) {
  const watch = new FakeWatch();
  const failures: unknown[] = [];
  const signal = options.signal ?? new AbortController().signal;
  const source = createWatchBody(watch, {
    request: { signal },
    codec: jsonCodec.stream ?? expect.fail('JSON has streams'),
    documentOptions: () => ({
      kind: served.ConfigMap.kind,
      view: options.view,
      include: 'Metadata',
      nowMs: Date.parse('2024-01-01T00:00:10Z'),
      dialect: kubernetesDialect,
    }),
    onError: (error) => failures.push(error),
    ...(options.eventCache === undefined ? {} : { eventCache: options.eventCache }),
  });
  const reader = readableOf(source).getReader();
  const read = async () => {
    const { done, value } = await reader.read();
    return done ? undefined : new TextDecoder().decode(value);
  };
  return { watch, source, reader, read, failures };
}

const added = (name: string): ServerWatchEvent => ({ type: 'ADDED', object: configMap(name) });
const line = (event: ServerWatchEvent): string => `${JSON.stringify(event)}\n`;

describe('events', () => {
  test('writes events as lines of JSON with whole objects', async () => {
    const { watch, read } = open();
    watch.emit(added('a'));
    expect(await read()).toBe(line(added('a')));
  });

  test('writes events that are available together in one chunk', async () => {
    const { watch, read } = open();
    watch.emit(added('a'), added('b'), { type: 'DELETED', object: configMap('a') });
    expect(await read()).toBe(line(added('a')) + line(added('b')) + line({ type: 'DELETED', object: configMap('a') }));
    watch.emit(added('c'));
    expect(await read()).toBe(line(added('c')));
  });

  test('shares a chunk with watches that receive the same events together', async () => {
    const eventCache = new EncodedEventCache();
    const watches = [open({ eventCache }), open({ eventCache }), open({ eventCache })];
    const [a, b, c] = ['a', 'b', 'c'].map((name) => ({
      type: 'ADDED' as const,
      object: Object.freeze(configMap(name)),
    }));
    if (a === undefined || b === undefined || c === undefined) expect.fail('there are three events');
    watches[0]?.watch.emit(a, b);
    watches[1]?.watch.emit(a, b);
    watches[2]?.watch.emit(a, c);
    const [first, same, other] = await Promise.all(watches.map(({ source }) => source.read()));
    expect(same).toBe(first);
    const text = (bytes: Uint8Array | undefined) => new TextDecoder().decode(bytes);
    expect(text(first)).toBe(line(a) + line(b));
    expect(text(other)).toBe(line(a) + line(c));
  });

  test('writes events in chunks of bounded size without loss', async () => {
    const { watch, read } = open();
    const large = (name: string): ServerWatchEvent => ({
      type: 'ADDED',
      object: configMap(name, { k: 'x'.repeat(40_000) }),
    });
    watch.emit(large('a'), large('b'), large('c'));
    watch.end();
    expect(await read()).toBe(line(large('a')) + line(large('b')));
    expect(await read()).toBe(line(large('c')));
    expect(await read()).toBeUndefined();
  });

  test('writes BOOKMARK and ERROR events unchanged', async () => {
    const { watch, read } = open();
    const bookmark: ServerWatchEvent = {
      type: 'BOOKMARK',
      object: { kind: 'ConfigMap', apiVersion: 'v1', metadata: { resourceVersion: '7', creationTimestamp: null } },
    };
    const error: ServerWatchEvent = {
      type: 'ERROR',
      object: errors.expired('too old resource version: 5 (1200)').status,
    };
    watch.emit(bookmark, error);
    watch.end();
    expect(await read()).toBe(line(bookmark) + line(error));
    expect(await read()).toBeUndefined();
    expect(watch.isClosed).toBe(true);
  });

  test('writes only metadata in a metadata view', async () => {
    const { watch, read } = open({ view: { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1' } });
    const error: ServerWatchEvent = { type: 'ERROR', object: errors.gone('gone').status };
    watch.emit(added('a'), error);
    const { metadata } = configMap('a');
    const object = { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata };
    expect(await read()).toBe(`${JSON.stringify({ type: 'ADDED', object })}\n${line(error)}`);
  });

  test('ends the stream at an event that a list view cannot represent', async () => {
    const { watch, read } = open({ view: { kind: 'PartialObjectMetadataList', apiVersion: 'meta.k8s.io/v1' } });
    watch.emit(added('a'));
    expect(await read()).toBeUndefined();
    expect(watch.isClosed).toBe(true);
  });
});

describe('back pressure', () => {
  test('takes no event from the watch before the first read', async () => {
    const { watch } = open();
    watch.emit(added('a'), added('b'));
    await settle();
    expect(watch.reads).toBe(0);
  });

  test('takes at most one event in advance while the stream is not read', async () => {
    const { watch, read } = open();
    watch.emit(added('a'));
    await read();
    watch.emit(added('b'), added('c'), added('d'));
    await settle();
    expect(watch.reads).toBe(2);
    expect(await read()).toBe(line(added('b')) + line(added('c')) + line(added('d')));
  });
});

describe('the end of the stream', () => {
  test('closes the watch after the last event', async () => {
    const { watch, read } = open();
    watch.emit(added('a'));
    watch.end();
    expect(await read()).toBe(line(added('a')));
    expect(await read()).toBeUndefined();
    expect(watch.isClosed).toBe(true);
  });

  test('closes the watch when the stream is cancelled', async () => {
    const { watch, reader } = open();
    await reader.cancel();
    expect(watch.isClosed).toBe(true);
  });

  test('closes the watch when the stream is cancelled during a read', async () => {
    const { watch, reader, read } = open();
    const waiting = read();
    await settle();
    await reader.cancel();
    expect(await waiting).toBeUndefined();
    expect(watch.isClosed).toBe(true);
  });

  test('ends a pending read and closes the watch when the request is aborted', async () => {
    const controller = new AbortController();
    const { watch, read } = open({ signal: controller.signal });
    const waiting = read();
    await settle();
    controller.abort();
    expect(await waiting).toBeUndefined();
    expect(watch.isClosed).toBe(true);
  });

  test('never reads the watch of a request that is already aborted', async () => {
    const { watch, read } = open({ signal: AbortSignal.abort() });
    expect(await read()).toBeUndefined();
    expect(watch).toMatchObject({ reads: 0, isClosed: true });
  });

  test('ignores an abort after the end of the stream', async () => {
    const controller = new AbortController();
    const { watch, read } = open({ signal: controller.signal });
    watch.end();
    expect(await read()).toBeUndefined();
    expect(() => controller.abort()).not.toThrow();
  });

  test('sends an ERROR event without details when the watch fails', async () => {
    const { watch, read, failures } = open();
    const fault = new Error('secret');
    watch.next = () => Promise.reject(fault);
    const text = await read();
    expect(JSON.parse(text ?? '')).toMatchObject({ type: 'ERROR', object: { code: 500, reason: 'InternalError' } });
    expect(text).not.toContain('secret');
    expect(failures).toEqual([fault]);
    expect(await read()).toBeUndefined();
  });
});
