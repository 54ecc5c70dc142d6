/** The limit of messages of WebSockets that are in memory. */
import { describe, expect, test } from 'vitest';
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
  /** Requests that wait until `settle` is called. Those that are disconnected are in `closed`, by their user. */
  function site(maxBytes: number) {
    const settle: (() => void)[] = [];
    const closed: string[] = [];
    const limited = limitUnanswered(
      () => new Promise<Answer>((resolve) => settle.push(() => resolve(EMPTY))),
      maxBytes,
    );
    const send = (headerBytes: number, { user = 'a', path = '/api', remote = '::1' } = {}): Promise<Answer> => {
      const headers = { get: () => user };
      const url = `https://127.0.0.1:6443${path}`;
      const request = { headerBytes, method: 'GET', url, headers, remote, disconnect: () => closed.push(user) };
      return limited(request as unknown as IncomingRequest);
    };
    return { settle, closed, send };
  }

  test('answers with 429 while the headers of unanswered requests are too long together', async () => {
    const { settle, closed, send } = site(40_000);
    const first = send(32_000);
    const refused = await send(9_000);
    expect(refused).toMatchObject({ code: 429, body: 'Too many requests, please try again later.\n' });
    expect(refused.headers).toContainEqual(['Retry-After', '1']);
    settle[0]?.();
    expect(await first).toBe(EMPTY);
    const next = send(32_000);
    settle[1]?.();
    expect(await next).toBe(EMPTY);
    expect(closed).toEqual([]);
  });

  test('counts 2 KiB at least for each request', async () => {
    const { settle, send } = site(40_000);
    const short = Array.from({ length: 19 }, () => send(100));
    expect(await send(100)).toMatchObject({ code: 429 });
    for (const each of settle) each();
    expect(await Promise.all(short)).toEqual(Array(19).fill(EMPTY));
  });

  test('keeps as much room again for health checks', async () => {
    const { settle, send } = site(40_000);
    const others = Array.from({ length: 19 }, () => send(2_048));
    expect(await send(2_048)).toMatchObject({ code: 429 });
    const checks = Array.from({ length: 20 }, () => send(2_048, { path: '/readyz' }));
    expect(await send(2_048, { path: '/livez' })).toMatchObject({ code: 429 });
    for (const each of settle) each();
    expect(await Promise.all([...others, ...checks])).toEqual(Array(39).fill(EMPTY));
  });

  test('disconnects the oldest requests of the client that holds most to make room for others', async () => {
    const { settle, closed, send } = site(80_000);
    const held = ['b', 'b', 'c', 'c', 'c', 'c', 'c', 'c'].map((user) => send(10_000, { user }));
    const mine = send(8_000, { user: 'd' });
    expect(closed).toEqual(['c']);
    // It holds most itself.
    expect(await send(10_000, { user: 'c' })).toMatchObject({ code: 429 });
    for (const each of settle) each();
    expect(await Promise.all([...held, mine])).toEqual(Array(9).fill(EMPTY));
    const again = Array.from({ length: 8 }, () => send(10_000));
    for (const each of settle.slice(9)) each();
    expect(await Promise.all(again)).toEqual(Array(8).fill(EMPTY));
  });

  test('disconnects requests of the address that holds most, whatever credentials they have', async () => {
    const { closed, send } = site(80_000);
    for (let user = 0; user < 39; user++) void send(2_048, { user: `${user}`, remote: '10.0.0.1' });
    void send(2_048, { remote: '10.0.0.2' });
    expect(closed).toEqual(['0']);
    expect(await send(2_048, { user: 'new', remote: '10.0.0.1' })).toMatchObject({ code: 429 });
  });

  test('disconnects a single long request, also one of many credentials', async () => {
    const { closed, send } = site(800_000);
    for (let user = 0; user < 10; user++) void send(80_000, { user: `Bearer ${user}` });
    void send(2_048, { user: 'Bearer admin' });
    expect(closed).toEqual(['Bearer 0']);
  });

  test('takes no text after a token for other credentials', async () => {
    const { closed, send } = site(80_000);
    for (let count = 0; count < 10; count++) void send(4_000, { user: `Bearer a ${count}` });
    for (let count = 0; count < 10; count++) void send(4_000, { user: `bearer a  ${count}` });
    expect(await send(2_048, { user: 'Bearer a' })).toMatchObject({ code: 429 });
    expect(closed).toEqual([]);
  });

  test('disconnects nothing for a request that gets no room', async () => {
    const { closed, send } = site(800_000);
    for (let count = 0; count < 4; count++) void send(20_480);
    for (let user = 0; user < 35; user++) void send(20_480, { user: `${user}` });
    expect(await send(70_000, { user: 'new' })).toMatchObject({ code: 429 });
    expect(closed).toEqual([]);
  });

  test('does not mix users of certificates with those of headers', async () => {
    const closed: string[] = [];
    const send = limitUnanswered(() => new Promise<Answer>(() => undefined), 80_000);
    const get = (name: string, peer: object | undefined, authorization: string | null) => {
      const headers = { get: () => authorization };
      const request = {
        headerBytes: 8_000,
        method: 'GET',
        url: '/',
        headers,
        peer,
        disconnect: () => closed.push(name),
      };
      void send(request as unknown as IncomingRequest);
    };
    get('admin', { type: 'known', user: { user: 'admin' } }, null);
    for (let count = 0; count < 9; count++) get('liar', undefined, 'certificate admin');
    get('other', undefined, 'Bearer other');
    expect(closed).toEqual(['liar']);
  });

  test('disconnects no more while those that were disconnected stay in memory', async () => {
    const { closed, send } = site(64_000);
    for (let count = 0; count < 31; count++) void send(2_000);
    const others = Array.from({ length: 8 }, (_, user) => send(2_000, { user: `${user}` }));
    expect(closed).toEqual(['a', 'a', 'a']);
    expect(await Promise.all(others.slice(3))).toEqual(Array(5).fill(expect.objectContaining({ code: 429 })));
  });

  test('does not count requests whose handler has failed', async () => {
    const send = limitUnanswered(() => Promise.reject(new Error('no')), 40_000);
    const request = { headerBytes: 30_000, headers: { get: () => null } } as unknown as IncomingRequest;
    for (let count = 0; count < 3; count++) await expect(send(request)).rejects.toThrow('no');
  });
});
