/** HttpWatchStream: how bytes become events, and every way it ends. */
import { getEventListeners } from 'node:events';
import { describe, expect, test } from 'vitest';
import { HttpWatchStream, MAX_LINE } from '../../../../src/http/transport/watch-stream.js';
import { errors, StatusError } from '../../../../src/meta/errors.js';
import type { WatchResponse } from '../../../../src/protocol/response.js';
import { configMap, json, line, openBody, scripted, watchRequest } from './scripted-fetch.js';

const DONE = { done: true, value: undefined };
const added = line('ADDED', configMap);

function open() {
  const source = openBody();
  return { ...source, stream: new HttpWatchStream(source.body) };
}

const failureOf = (promise: Promise<unknown>) => promise.catch((e: unknown) => e);

describe('events', () => {
  test('returns frozen events, one per line, with an optional last line end', async () => {
    const { stream, send, end } = open();
    send(`${added}\n\r\n${line('BOOKMARK', configMap)}${line('DELETED', configMap).trimEnd()}`);
    end();
    const seen = [];
    for await (const event of stream) seen.push(event);
    expect(seen.map(({ type }) => type)).toEqual(['ADDED', 'BOOKMARK', 'DELETED']);
    expect(seen[0]).toEqual({ type: 'ADDED', object: configMap });
    expect(Object.isFrozen(seen[0]?.object.metadata)).toBe(true);
  });

  test('reads events only on demand', async () => {
    const { stream, send, state } = open();
    expect(state.pulls).toBe(0);
    const first = stream.next();
    await Promise.resolve();
    send(added.repeat(3));
    await first;
    const { pulls } = state;
    await stream.next();
    await stream.next();
    // Three events of one chunk: no further read of the body.
    expect(state.pulls).toBe(pulls);
  });

  test('returns events that are requested at once in order', async () => {
    const { stream, send, end } = open();
    const reads = [stream.next(), stream.next(), stream.next()];
    send(added + line('DELETED', configMap));
    end();
    expect((await Promise.all(reads)).map(({ value }) => value?.type)).toEqual(['ADDED', 'DELETED', undefined]);
  });

  test('accepts large events up to a limit', async () => {
    const { stream, send } = open();
    const half = 'x'.repeat(MAX_LINE / 4);
    send('{"type":"ADDED","object":{"metadata":{"name":"');
    send(half);
    send(`${half}"}}}\n`);
    expect((await stream.next()).value).toMatchObject({ type: 'ADDED' });
    for (let chunk = 0; chunk < 5; chunk++) send(half);
    const error = await failureOf(stream.next());
    expect(StatusError.is(error, 'InternalError') && error.message).toBe(
      'unable to decode an event from the watch stream: object to decode was longer than maximum allowed size',
    );
  });
});

describe('the end of the stream', () => {
  test('ends the stream at the end of the body, as after a timeout of the server', async () => {
    const { stream, send, end } = open();
    send(added);
    end();
    expect((await stream.next()).value?.type).toBe('ADDED');
    expect(await stream.next()).toEqual(DONE);
    expect(await stream.next()).toEqual(DONE);
    expect(await new HttpWatchStream(null).next()).toEqual(DONE);
  });

  test('throws when the body ends inside an event', async () => {
    const { stream, send, end } = open();
    send(added + added.slice(0, 20));
    end();
    expect((await stream.next()).value?.type).toBe('ADDED');
    const error = await failureOf(stream.next());
    expect(StatusError.is(error, 'ServiceUnavailable') && error.message).toMatch(/unexpected EOF/);
    expect(await stream.next()).toEqual(DONE);
  });

  test('throws when the connection breaks, after the received events', async () => {
    const { stream, send, break: breakOff } = open();
    send(added);
    expect((await stream.next()).value?.type).toBe('ADDED');
    const cause = new TypeError('terminated');
    const next = failureOf(stream.next());
    breakOff(cause);
    const error = await next;
    expect(StatusError.is(error, 'ServiceUnavailable') && error.cause).toBe(cause);
    expect(await stream.next()).toEqual(DONE);
  });

  test('ends the stream silently when the platform times out on an idle connection', async () => {
    const { stream, break: breakOff } = open();
    const next = stream.next();
    breakOff(new TypeError('terminated', { cause: Object.assign(new Error('x'), { code: 'UND_ERR_BODY_TIMEOUT' }) }));
    expect(await next).toEqual(DONE);
    const half = open();
    half.send('{"type":');
    const cut = failureOf(half.stream.next());
    await Promise.resolve();
    await new Promise(setImmediate);
    half.break(new TypeError('terminated', { cause: Object.assign(new Error('x'), { code: 'UND_ERR_BODY_TIMEOUT' }) }));
    expect(StatusError.is(await cut, 'ServiceUnavailable')).toBe(true);
  });

  test('ends the stream after an ERROR event', async () => {
    const { stream, send, state } = open();
    const { status } = errors.expired('too old resource version');
    send(line('ERROR', status) + added);
    expect((await stream.next()).value).toEqual({ type: 'ERROR', object: status });
    expect(await stream.next()).toEqual(DONE);
    expect(state.cancelled).toBe(true);
    const malformed = open();
    malformed.send(line('ERROR', { message: 'x' }));
    expect((await malformed.stream.next()).value).toMatchObject({ type: 'ERROR', object: { reason: 'InternalError' } });
  });

  test.each([
    ['invalid JSON', '{"type":]\n', /invalid character ']'/],
    ['a list', '[1]\n', /a line that is not an object/],
    ['an unknown type', line('CHANGED', configMap), /invalid watch event type: CHANGED/],
    ['an event without an object', '{"type":"ADDED"}\n', /without an object/],
    ['an object without metadata', line('ADDED', {}), /without an object/],
    ['HTML', '<html>\n', /invalid character '<'/],
  ])('throws for a line with %s', async (_, text, message) => {
    const { stream, send, state } = open();
    send(added + text + added);
    expect((await stream.next()).value?.type).toBe('ADDED');
    const error = await failureOf(stream.next());
    expect(StatusError.is(error, 'InternalError') && error.message).toMatch(message);
    expect(await stream.next()).toEqual(DONE);
    expect(state.cancelled).toBe(true);
  });

  test('ends the stream once after close, also for a pending read', async () => {
    const { stream, state } = open();
    const next = stream.next();
    stream.close();
    stream.close();
    expect(await next).toEqual(DONE);
    expect(await stream.next()).toEqual(DONE);
    expect(state.cancelled).toBe(true);
  });

  test('drops received events that were not read when the stream is closed', async () => {
    const { stream, send } = open();
    send(added + added);
    await stream.next();
    stream.close();
    expect(await stream.next()).toEqual(DONE);
  });

  test('ends the stream when a loop is left', async () => {
    const { stream, send, state } = open();
    send(added);
    for await (const _ of stream) break;
    expect(state.cancelled).toBe(true);
  });

  test('reports nothing on close after a failure', async () => {
    const { stream, break: breakOff } = open();
    const next = stream.next();
    stream.close();
    expect(await next).toEqual(DONE);
    const other = open();
    const broken = failureOf(other.stream.next());
    other.break(new Error('reset'));
    await broken;
    other.stream.close();
    expect(() => breakOff(new Error('late'))).not.toThrow();
  });
});

describe('the abort signal', () => {
  const watching = (body: ReadableStream<Uint8Array>) =>
    new Response(body, { headers: { 'content-type': 'application/json;stream=watch' } });

  test('ends the stream on abort and keeps no listener', async () => {
    const stop = new AbortController();
    const first = openBody();
    const second = openBody();
    const { send } = scripted([watching(first.body), watching(second.body)]);
    const { watch } = (await send({ ...watchRequest, signal: stop.signal })) as WatchResponse;
    const { watch: other } = (await send({ ...watchRequest, signal: stop.signal })) as WatchResponse;
    expect(getEventListeners(stop.signal, 'abort')).toHaveLength(1);
    other.close();
    const next = watch.next();
    stop.abort();
    expect(await next).toEqual(DONE);
    expect([first.state.cancelled, second.state.cancelled]).toEqual([true, true]);
    expect(getEventListeners(stop.signal, 'abort')).toHaveLength(0);
  });

  test('cancels a response that arrives after the abort', async () => {
    const stop = new AbortController();
    const { body, state } = openBody();
    let respond: (response: Response) => void = () => undefined;
    const { send, requests } = scripted([() => new Promise<Response>((resolve) => (respond = resolve))]);
    const sending = Promise.resolve(send({ ...watchRequest, signal: stop.signal })).catch((e: unknown) => e);
    await new Promise(setImmediate);
    expect(requests[0]?.signal.aborted).toBe(false);
    const reason = new Error('enough');
    stop.abort(reason);
    expect(await sending).toBe(reason);
    expect(requests[0]?.signal.aborted).toBe(true);
    respond(watching(body));
    await new Promise(setImmediate);
    expect(state.cancelled).toBe(true);
    expect(getEventListeners(stop.signal, 'abort')).toHaveLength(0);
  });

  test('sends nothing when the signal has already aborted', async () => {
    const { send, requests } = scripted([json(configMap)]);
    const reason = new Error('enough');
    await expect(send({ ...watchRequest, signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    expect(requests).toEqual([]);
  });
});
