/** Watches: their start, their events and every way they end. */
import { getEventListeners } from 'node:events';
import { describe, expect, test } from 'vitest';
import { createClient } from '../../../src/client/client.js';
import { errors, StatusError } from '../../../src/meta/errors.js';
import type { ApiResponse } from '../../../src/protocol/response.js';
import type { ServerWatchEvent } from '../../../src/protocol/watch-event.js';
import { deferred, FakeStream, FakeTransport, settle, Widget, widget } from './fakes.js';

const added: ServerWatchEvent = { type: 'ADDED', object: widget('w', 1) };
const modified: ServerWatchEvent = { type: 'MODIFIED', object: widget('w', 2) };
const bookmark: ServerWatchEvent = {
  type: 'BOOKMARK',
  object: { kind: 'Widget', apiVersion: 'v1', metadata: { resourceVersion: '9', creationTimestamp: null } },
};
const expired: ServerWatchEvent = { type: 'ERROR', object: errors.expired('too old resource version: 1 (5)').status };
const DONE = { done: true, value: undefined };

function setup(...script: ConstructorParameters<typeof FakeTransport>) {
  const stream = new FakeStream();
  const transport = new FakeTransport(...(script.length === 0 ? [stream] : script));
  return { stream, transport, widgets: createClient({ transport }).api(Widget) };
}

describe('the start of a watch', () => {
  test('a watch starts when the call returns', () => {
    const { transport, widgets } = setup();
    widgets.watch({ labels: 'app=web', resourceVersion: '5', allowWatchBookmarks: true, timeoutSeconds: 9 });
    expect(transport.last).toMatchObject({ verb: 'watch', namespace: 'default' });
    expect(transport.last.options).toEqual({
      labelSelector: 'app=web',
      resourceVersion: '5',
      allowWatchBookmarks: true,
      timeoutSeconds: 9,
    });
  });

  test('a watch keeps events between the call and the first read', async () => {
    const { stream, widgets } = setup();
    const watch = widgets.watch();
    stream.send(added);
    await settle();
    expect(await watch.next()).toEqual({ done: false, value: added });
  });

  test('a watch over an asynchronous transport starts with its response', async () => {
    const stream = new FakeStream();
    const later = deferred<ApiResponse>();
    const { transport, widgets } = setup(later.promise);
    const watch = widgets.watch();
    expect(transport.requests).toHaveLength(1);
    const first = watch.next();
    stream.send(added, modified);
    later.resolve({ type: 'watch', watch: stream, warnings: [] });
    expect((await first).value).toBe(added);
    expect((await watch.next()).value).toBe(modified);
  });

  test.each([
    ['thrown', () => errors.badRequest('no')],
    ['rejected with', () => Promise.reject(errors.badRequest('no'))],
  ])('a watch that is rejected %s throws on the first read and ends', async (_, refuse) => {
    const { widgets } = setup(refuse);
    const watch = widgets.watch();
    await settle();
    await expect(watch.next()).rejects.toSatisfy((e) => StatusError.is(e, 'BadRequest'));
    expect(await watch.next()).toEqual(DONE);
  });

  test('a watch passes warnings on', async () => {
    const warnings: string[] = [];
    const transport = new FakeTransport({ type: 'watch', watch: new FakeStream(), warnings: ['v1 is old'] });
    createClient({ transport, onWarning: (warning) => warnings.push(warning) })
      .api(Widget)
      .watch();
    expect(warnings).toEqual(['v1 is old']);
  });
});

describe('reading a watch', () => {
  test('a watch returns the event objects of the server', async () => {
    const { stream, widgets } = setup();
    stream.send(added, bookmark, modified);
    stream.end();
    const seen: unknown[] = [];
    for await (const event of widgets.watch()) seen.push(event);
    expect(seen).toHaveLength(3);
    expect(seen[0]).toBe(added);
    expect(seen[1]).toBe(bookmark);
    expect(seen[2]).toBe(modified);
  });

  test('a watch throws the Status of an ERROR event after the events before it', async () => {
    const { stream, widgets } = setup();
    stream.send(added, expired);
    const watch = widgets.watch();
    const seen: unknown[] = [];
    const loop = async () => {
      for await (const event of watch) seen.push(event);
    };
    const error = await loop().catch((e: unknown) => e);
    expect(StatusError.is(error, 'Expired') && error.status).toEqual(expired.object);
    expect(seen).toEqual([added]);
    expect(stream.closed).toBe(true);
    expect(await watch.next()).toEqual(DONE);
  });

  test('a watch throws when the connection breaks', async () => {
    const { stream, widgets } = setup();
    const watch = widgets.watch();
    const next = watch.next();
    stream.break(new Error('connection reset'));
    await expect(next).rejects.toThrow('connection reset');
    expect(await watch.next()).toEqual(DONE);
  });

  test('a watch allows single reads before a loop', async () => {
    const { stream, widgets } = setup();
    stream.send(added, modified);
    stream.end();
    const watch = widgets.watch();
    expect((await watch.next()).value).toBe(added);
    const rest: unknown[] = [];
    for await (const event of watch) rest.push(event);
    expect(rest).toEqual([modified]);
  });

  test('a watch rejects a second reader and keeps the first', async () => {
    const { stream, widgets } = setup();
    const watch = widgets.watch();
    const first = watch.next();
    await expect(watch.next()).rejects.toThrow(/a watch has one reader/);
    stream.send(added, modified);
    expect((await first).value).toBe(added);
    for await (const _ of watch) {
      expect(() => watch[Symbol.asyncIterator]()).toThrow(/a watch has one reader/);
      break;
    }
  });
});

describe('the end of a watch', () => {
  test('an abort ends a loop silently, also during a read', async () => {
    const { stream, widgets } = setup();
    const stop = new AbortController();
    const seen: unknown[] = [];
    const loop = (async () => {
      for await (const event of widgets.watch({ signal: stop.signal })) seen.push(event);
    })();
    stream.send(added);
    await settle();
    stop.abort(new Error('ignored'));
    await loop;
    expect(seen).toEqual([added]);
    expect(stream.closed).toBe(true);
  });

  test('an abort inside a loop delivers no further event', async () => {
    const { stream, widgets } = setup();
    const stop = new AbortController();
    stream.send(added, modified);
    const seen: unknown[] = [];
    for await (const event of widgets.watch({ signal: stop.signal })) {
      seen.push(event);
      stop.abort();
    }
    expect(seen).toEqual([added]);
  });

  test('close drops an event that is being delivered', async () => {
    const { stream, widgets } = setup();
    const watch = widgets.watch();
    const next = watch.next();
    stream.send(added);
    watch.close();
    expect(await next).toEqual(DONE);
  });

  test('an abort before the start of a watch sends nothing', async () => {
    const { transport, widgets } = setup();
    expect(await widgets.watch({ signal: AbortSignal.abort() }).next()).toEqual(DONE);
    expect(transport.requests).toEqual([]);
  });

  test('a watch that ends leaves no listener on the signal', async () => {
    const stop = new AbortController();
    const later = deferred<ApiResponse>();
    const { stream, widgets } = setup(new FakeStream(), errors.badRequest('no'), later.promise);
    widgets.watch({ signal: stop.signal }).close();
    await expect(widgets.watch({ signal: stop.signal }).next()).rejects.toThrow('no');
    const watch = widgets.watch({ signal: stop.signal });
    later.resolve({ type: 'watch', watch: stream, warnings: [] });
    stream.end();
    expect(getEventListeners(stop.signal, 'abort')).toHaveLength(1);
    await watch.next();
    expect(getEventListeners(stop.signal, 'abort')).toHaveLength(0);
  });

  test('close ends a pending read', async () => {
    const { stream, widgets } = setup();
    const watch = widgets.watch();
    const next = watch.next();
    watch.close();
    expect(await next).toEqual(DONE);
    expect(await watch.next()).toEqual(DONE);
    expect(stream.closed).toBe(true);
  });

  test('close before an asynchronous response ends the read and closes the stream', async () => {
    const later = deferred<ApiResponse>();
    const { stream, widgets } = setup(later.promise);
    const watch = widgets.watch();
    const next = watch.next();
    watch.close();
    expect(await next).toEqual(DONE);
    later.resolve({ type: 'watch', watch: stream, warnings: [] });
    await settle();
    expect(stream.closed).toBe(true);
  });

  test('a rejection after close is ignored', async () => {
    const later = deferred<ApiResponse>();
    const { widgets } = setup(later.promise);
    const watch = widgets.watch();
    watch.close();
    later.reject(errors.badRequest('no'));
    await settle();
    expect(await watch.next()).toEqual(DONE);
  });

  test('a connection error after an abort is ignored', async () => {
    const { stream, widgets } = setup();
    const stop = new AbortController();
    stream.close = () => stream.break(new Error('aborted'));
    const next = widgets.watch({ signal: stop.signal }).next();
    stop.abort();
    expect(await next).toEqual(DONE);
  });

  test('leaving a loop ends the watch', async () => {
    const { stream, widgets } = setup();
    stream.send(added);
    const watch = widgets.watch();
    for await (const _ of watch) break;
    expect(stream.closed).toBe(true);
    for await (const _ of watch) throw new Error('not reached');
  });

  test('leaving a block that uses a watch ends it', async () => {
    const { stream, widgets } = setup();
    {
      await using watch = widgets.watch();
      expect(watch).toBeDefined();
    }
    expect(stream.closed).toBe(true);
  });

  test('the server ends a watch silently', async () => {
    const { stream, widgets } = setup();
    stream.end();
    const watch = widgets.watch();
    expect(await watch.next()).toEqual(DONE);
    expect(await watch.next()).toEqual(DONE);
  });
});
