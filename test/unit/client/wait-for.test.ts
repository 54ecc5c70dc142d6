/** waitFor: the current state first, then every change, and each failure. */
import { getEventListeners } from 'node:events';
import { describe, expect, test } from 'vitest';
import { createClient } from '../../../src/client/client.js';
import { errors, StatusError } from '../../../src/meta/errors.js';
import type { DeepReadonly } from '../../../src/meta/object.js';
import type { ApiResponse } from '../../../src/protocol/response.js';
import type { ServerWatchEvent } from '../../../src/protocol/watch-event.js';
import { answer, deferred, FakeStream, FakeTransport, listOf, Rack, settle, Widget, widget } from './fakes.js';

const waiting = (version: number) => widget('w', version, { status: { ready: false } });
const done = (version: number) => widget('w', version, { status: { ready: true } });
const isReady = (w: DeepReadonly<Widget> | undefined) => w?.status?.ready === true;
const expired: ServerWatchEvent = { type: 'ERROR', object: errors.expired('too old resource version').status };

function setup(...script: ConstructorParameters<typeof FakeTransport>) {
  const transport = new FakeTransport(...script);
  const client = createClient({ transport });
  return { transport, client, widgets: client.api(Widget) };
}

test('waitFor resolves with the current state without a watch', async () => {
  const ready = done(3);
  const { transport, widgets } = setup(answer(listOf(5, [ready])));
  expect(await widgets.waitFor('w', isReady, { timeoutMs: 100 })).toBe(ready);
  expect(transport.requests).toHaveLength(1);
  expect(transport.last).toMatchObject({
    verb: 'list',
    namespace: 'default',
    options: { fieldSelector: 'metadata.name=w' },
  });
  expect(transport.clock.pending).toBe(0);
});

test('waitFor leaves no listener on the signal', async () => {
  const stop = new AbortController();
  const { widgets } = setup(answer(listOf(5, [done(3)])));
  await widgets.waitFor('w', isReady, { signal: stop.signal });
  expect(getEventListeners(stop.signal, 'abort')).toHaveLength(0);
});

test('waitFor watches the one object from the version that was read', async () => {
  const stream = new FakeStream();
  const { transport, widgets } = setup(answer(listOf(5, [waiting(3)])), stream);
  const wait = widgets.waitFor('w', isReady, { timeoutMs: 100 });
  expect(transport.last).toMatchObject({
    verb: 'watch',
    options: { fieldSelector: 'metadata.name=w', resourceVersion: '5' },
  });
  const ready = done(7);
  stream.send({ type: 'MODIFIED', object: waiting(6) }, { type: 'MODIFIED', object: ready });
  expect(await wait).toBe(ready);
  expect(stream.closed).toBe(true);
  expect(transport.clock.pending).toBe(0);
});

test('waitFor passes every state to the predicate once, and undefined for absence', async () => {
  const stream = new FakeStream();
  const { widgets } = setup(answer(listOf(5, [])), stream);
  const seen: (string | undefined)[] = [];
  const wait = widgets.waitFor('w', (w) => {
    seen.push(w?.metadata.resourceVersion);
    return w?.metadata.resourceVersion === '9';
  });
  stream.send(
    { type: 'ADDED', object: waiting(6) },
    { type: 'DELETED', object: waiting(7) },
    { type: 'ADDED', object: waiting(9) },
    { type: 'MODIFIED', object: waiting(10) },
  );
  await wait;
  await settle();
  expect(seen).toEqual([undefined, '6', undefined, '9']);
});

test('waitFor waits for the deletion of an object', async () => {
  const stream = new FakeStream();
  const { widgets } = setup(answer(listOf(5, [waiting(3)])), stream, answer(listOf(6, [])));
  const wait = widgets.waitFor('w', (w) => w === undefined);
  stream.send({ type: 'DELETED', object: waiting(6) });
  expect(await wait).toBeUndefined();
  expect(await widgets.waitFor('w', (w) => w === undefined)).toBeUndefined();
});

test('waitFor lists again after an expired version', async () => {
  const stream = new FakeStream();
  const ready = done(8);
  const { widgets } = setup(answer(listOf(5, [waiting(3)])), stream, answer(listOf(9, [ready])));
  const wait = widgets.waitFor('w', isReady);
  stream.send(expired);
  expect(await wait).toBe(ready);
});

test('waitFor watches again after the server ends the stream', async () => {
  const [first, second] = [new FakeStream(), new FakeStream()];
  const { transport, widgets } = setup(answer(listOf(5, [])), first, second);
  const wait = widgets.waitFor('w', isReady);
  first.send({ type: 'ADDED', object: waiting(6) });
  first.end();
  await settle();
  expect(transport.last.options.resourceVersion).toBe('6');
  second.send({ type: 'MODIFIED', object: done(7) });
  expect((await wait)?.metadata.resourceVersion).toBe('7');
});

describe('failures of waitFor', () => {
  test('waitFor times out with a message that names the condition and the last state', async () => {
    const stream = new FakeStream();
    const { transport, widgets } = setup(answer(listOf(5, [waiting(3)])), stream);
    const wait = widgets.waitFor('w', isReady, { timeoutMs: 5_000 });
    const error = wait.catch((e: unknown) => e);
    await transport.clock.advance(4_999);
    expect(stream.closed).toBe(false);
    await transport.clock.advance(1);
    expect(StatusError.is(await error, 'Timeout')).toBe(true);
    await expect(wait).rejects.toThrow(
      'Timeout: Widget "w" in namespace "default" did not meet the condition within 5000 ms; last seen at resourceVersion 3',
    );
    expect(stream.closed).toBe(true);
  });

  test('waitFor times out even while the first list is pending', async () => {
    const { promise } = deferred<ApiResponse>();
    const { transport, client } = setup(promise);
    const wait = client.api(Rack).waitFor('r', (rack) => rack !== undefined, { timeoutMs: 100 });
    const error = wait.catch((e: unknown) => e);
    await transport.clock.advance(100);
    expect(await error).toMatchObject({
      message: 'Timeout: Rack "r" did not meet the condition within 100 ms; it does not exist',
    });
  });

  test('waitFor rejects with the reason of the signal on abort', async () => {
    const stream = new FakeStream();
    const { transport, widgets } = setup(answer(listOf(5, [])), stream);
    const stop = new AbortController();
    const wait = widgets.waitFor('w', isReady, { signal: stop.signal, timeoutMs: 100 });
    const reason = new Error('enough');
    stop.abort(reason);
    await expect(wait).rejects.toBe(reason);
    expect(stream.closed).toBe(true);
    expect(transport.clock.pending).toBe(0);
  });

  test('waitFor rejects without a request when the signal has already aborted', async () => {
    const { transport, widgets } = setup();
    const reason = new Error('enough');
    await expect(widgets.waitFor('w', isReady, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    expect(transport.requests).toEqual([]);
  });

  test('waitFor rejects with an error of the server', async () => {
    const refusal = errors.forbidden({ group: '', resource: 'widgets' }, 'w', 'no');
    const { transport, widgets } = setup(refusal, Promise.reject(refusal), answer(listOf(5, [])), refusal);
    await expect(widgets.waitFor('w', isReady, { timeoutMs: 100 })).rejects.toBe(refusal);
    await expect(widgets.waitFor('w', isReady, { timeoutMs: 100 })).rejects.toBe(refusal);
    await expect(widgets.waitFor('w', isReady, { timeoutMs: 100 })).rejects.toBe(refusal);
    expect(transport.clock.pending).toBe(0);
  });

  test('waitFor rejects with an error of the predicate', async () => {
    const { widgets } = setup(answer(listOf(5, [])));
    const wait = widgets.waitFor('w', () => {
      throw new Error('not what I expected');
    });
    await expect(wait).rejects.toThrow('not what I expected');
  });
});
