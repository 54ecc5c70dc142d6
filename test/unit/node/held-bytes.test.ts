/** The limit of messages of WebSockets that are in memory. */
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { HeldBytes, limitUnanswered } from '../../../src/node/held-bytes.js';
import type { IncomingRequest } from '../../../src/node/incoming-request.js';
import type { Answer } from '../../../src/protocol/http.js';

const EMPTY: Answer = { code: 200, headers: [], body: '' };

test('closes the connections that hold most when all together hold too much', () => {
  const closed: string[] = [];
  const held = new HeldBytes<string>(100);
  const set = (name: string, bytes: number) => held.set(name, bytes, () => closed.push(name));
  set('a', 40);
  set('b', 50);
  set('c', 10);
  expect(closed).toEqual([]);
  set('c', 20);
  expect(closed).toEqual(['b']);
  set('c', 60);
  expect(closed).toEqual(['b']);
  set('a', 0);
  set('d', 40);
  expect(closed).toEqual(['b']);
  set('d', 41);
  expect(closed).toEqual(['b', 'c']);
});

describe('limitUnanswered', () => {
  /** Requests that wait until `settle` is called. */
  function site(maxBytes: number) {
    const settle: (() => void)[] = [];
    const handler = () => new Promise<Answer>((resolve) => settle.push(() => resolve(EMPTY)));
    const send = limitUnanswered(handler, maxBytes);
    return { settle, send: (headerBytes: number) => send({ headerBytes } as IncomingRequest) };
  }

  test('answers with 429 while the headers of unanswered requests are too long together', async () => {
    const { settle, send } = site(40_000);
    const first = send(20_000);
    // Long headers may take up half of the limit.
    const refused = await send(9_000);
    expect(refused).toMatchObject({ code: 429, body: 'Too many requests, please try again later.\n' });
    expect(refused.headers).toContainEqual(['Retry-After', '1']);
    settle[0]?.();
    expect(await first).toBe(EMPTY);
    const next = send(20_000);
    settle[1]?.();
    expect(await next).toBe(EMPTY);
  });

  test('keeps room for requests with short headers', async () => {
    const { settle, send } = site(40_000);
    const long = send(20_000);
    // Each counts 2 KiB at least.
    const short = Array.from({ length: 9 }, () => send(100));
    expect(await send(100)).toMatchObject({ code: 429 });
    expect(settle).toHaveLength(10);
    for (const each of settle) each();
    expect(await Promise.all([long, ...short])).toHaveLength(10);
  });

  test('keeps room for health checks', async () => {
    const settle: (() => void)[] = [];
    const send = limitUnanswered(() => new Promise<Answer>((resolve) => settle.push(() => resolve(EMPTY))), 40_000);
    const get = (path: string) =>
      send({ headerBytes: 2_048, method: 'GET', url: `https://127.0.0.1:6443${path}` } as IncomingRequest);
    const others = Array.from({ length: 19 }, () => get('/api'));
    expect(await get('/api')).toMatchObject({ code: 429 });
    const checks = Array.from({ length: 20 }, () => get('/readyz'));
    expect(await get('/livez')).toMatchObject({ code: 429 });
    for (const each of settle) each();
    expect(await Promise.all([...others, ...checks])).toEqual(Array(39).fill(EMPTY));
  });

  test('disconnects the clients first that do not send their bodies', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    onTestFinished(() => void vi.useRealTimers());
    const closed: string[] = [];
    const send = limitUnanswered(() => new Promise<Answer>(() => undefined), 40_000);
    const upload = (name: string, isReceived = false) =>
      send({
        headerBytes: 8_000,
        hasBody: true,
        isReceived,
        disconnect: () => closed.push(name),
      } as unknown as IncomingRequest);
    for (const name of ['a', 'b']) void upload(name);
    void upload('received', true);
    vi.advanceTimersByTime(1_000);
    void upload('young');
    void upload('c');
    expect(closed).toEqual([]);
    void upload('d');
    expect(closed).toEqual(['a']);
    void upload('e');
    expect(closed).toEqual(['a', 'b']);
    // The others have been waiting for less than a second.
    expect(await upload('f')).toMatchObject({ code: 429 });
    expect(closed).toEqual(['a', 'b']);
  });

  test('disconnects only long requests to make room for a long one, as long as there is room for short ones', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    onTestFinished(() => void vi.useRealTimers());
    const closed: string[] = [];
    const send = limitUnanswered(() => new Promise<Answer>(() => undefined), 40_000);
    const upload = (name: string, headerBytes: number) =>
      send({
        headerBytes,
        hasBody: true,
        isReceived: false,
        disconnect: () => closed.push(name),
      } as unknown as IncomingRequest);
    void upload('short', 8_000);
    void upload('long', 15_000);
    vi.advanceTimersByTime(1_000);
    void upload('another', 15_000);
    expect(closed).toEqual(['long']);
  });

  test('does not count requests whose handler has failed', async () => {
    const send = limitUnanswered(() => Promise.reject(new Error('no')), 40_000);
    const request = { headerBytes: 20_000 } as IncomingRequest;
    for (let count = 0; count < 3; count++) await expect(send(request)).rejects.toThrow('no');
  });
});
