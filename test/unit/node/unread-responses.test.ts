/** Clients that ask for large responses and do not read them. */
import { EventEmitter } from 'node:events';
import { PassThrough } from 'node:stream';
import { describe, expect, test, vi } from 'vitest';
import type { WebSocket } from 'ws';
import { partsStream } from '../../../src/http/chunk.js';
import { WebSocketMessages } from '../../../src/node/message-socket.js';
import { UnreadResponses } from '../../../src/node/unread-responses.js';
import type { ByteSource } from '../../../src/protocol/http.js';
import { fakeClock } from '../../../src/testing/index.js';
import { openConnection, site, text } from './sockets.js';

const KIB = 1024;

describe('the limit of unread responses', () => {
  test('cuts off those that were not read for the longest time, never the newest', () => {
    const unread = new UnreadResponses<string>(100 * KIB, fakeClock());
    const cut: string[] = [];
    for (const name of ['a', 'b', 'c']) unread.add(name, 40 * KIB, () => cut.push(name));
    expect(cut).toEqual(['a']);
    unread.add('large', 500 * KIB, () => cut.push('large'));
    expect(cut).toEqual(['a', 'b', 'c']);
  });

  test('does not count what was read, and what has ended', () => {
    const unread = new UnreadResponses<string>(100 * KIB, fakeClock());
    const cut: string[] = [];
    const add = (name: string): void => unread.add(name, 60 * KIB, () => cut.push(name));
    add('read');
    unread.taken('read', 30 * KIB);
    add('ended');
    expect(cut).toEqual([]);
    unread.remove('ended');
    add('next');
    expect(cut).toEqual([]);
    unread.taken('read', 10 * KIB);
    add('last');
    expect(cut).toEqual(['next']);
  });

  test('counts a message of several watches once, as long as one of them sends it', () => {
    const unread = new UnreadResponses<string>(100 * KIB, fakeClock());
    const cut: string[] = [];
    const add = (name: string, message: Uint8Array): void => unread.addMessage(name, message, () => cut.push(name));
    const shared = new Uint8Array(60 * KIB);
    for (const name of ['a', 'b', 'c']) add(name, shared);
    unread.remove('a');
    expect(cut).toEqual([]);
    add('other', new Uint8Array(60 * KIB));
    expect(cut).toEqual(['b', 'c']);
    unread.remove('other');
    add('d', shared);
    unread.remove('d');
    add('last', new Uint8Array(100 * KIB));
    expect(cut).toEqual(['b', 'c']);
  });

  test('cuts off a response after 60 seconds, and a watch never', async () => {
    const clock = fakeClock();
    const unread = new UnreadResponses<string>(100 * KIB, clock);
    const cut: string[] = [];
    unread.add('slow', 20 * KIB, () => cut.push('slow'));
    unread.add('ended', 20 * KIB, () => cut.push('ended'));
    unread.remove('ended');
    unread.addMessage('watch', new Uint8Array(20 * KIB), () => cut.push('watch'));
    await clock.advance(59_000);
    expect(cut).toEqual([]);
    await clock.advance(1_000);
    expect(cut).toEqual(['slow']);
  });
});

test('responses of many connections that are not read are limited', async () => {
  // Larger than the buffers of the system. 256 MiB are one of them.
  const body = new Uint8Array(150 * KIB * KIB);
  await using fake = await site({ code: 200, headers: [], body });
  const connections = await Promise.all(Array.from({ length: 3 }, () => openConnection(fake.port)));
  let closed = 0;
  for (const { socket } of connections) {
    socket.pause();
    socket.on('close', () => closed++);
    socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
  }
  // The others were cut off. A paused socket notices that when it is read.
  await vi.waitFor(() => expect(fake.log).toHaveLength(2), 10_000);
  for (const { socket } of connections) socket.destroy();
  await expect.poll(() => closed).toBe(3);
});

test('events of many watches that are not read are limited', async () => {
  // Each watch gets an event of its own.
  const watch = (): ByteSource => {
    let length = 150 * KIB * KIB;
    return {
      read: async () => {
        const event = new Uint8Array(length);
        length = 1;
        return event;
      },
      cancel: () => undefined,
    };
  };
  await using fake = await site(async () => ({ code: 200, headers: [], body: watch() }));
  const connections = await Promise.all(Array.from({ length: 3 }, () => openConnection(fake.port)));
  for (const { socket } of connections) {
    socket.pause();
    socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
  }
  await vi.waitFor(() => expect(fake.log).toHaveLength(2), 10_000);
  for (const { socket } of connections) socket.destroy();
});

test('messages of WebSockets that are not sent are limited', () => {
  const terminated: number[] = [];
  for (let at = 0; at < 3; at++) {
    const fake = Object.assign(new EventEmitter(), {
      OPEN: 1,
      readyState: 1,
      bufferedAmount: 0,
      send: () => undefined,
      terminate: () => terminated.push(at),
    });
    const options = { isText: false, onMessage: () => undefined, connection: new PassThrough() };
    void new WebSocketMessages(fake as unknown as WebSocket, options).send(new Uint8Array(150 * KIB * KIB));
  }
  expect(terminated).toEqual([0, 1]);
});

test('a request is executed when the responses before it on its connection are finished', async () => {
  const received: string[] = [];
  let answerFirst = (): void => undefined;
  await using fake = await site(async ({ url }) => {
    received.push(new URL(url).pathname);
    if (received.length === 1) await new Promise<void>((resolve) => (answerFirst = resolve));
    return text(url);
  });
  const connection = await openConnection(fake.port);
  connection.socket.write(['/1', '/2', '/3'].map((path) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`).join(''));
  await expect.poll(() => received).toEqual(['/1']);
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(received).toEqual(['/1']);
  answerFirst();
  await connection.until(/site\/1[\s\S]*site\/2[\s\S]*site\/3/);
  expect(received).toEqual(['/1', '/2', '/3']);
  connection.socket.destroy();
});

describe('a stream of parts', () => {
  const read = async (parts: readonly (string | Uint8Array)[]) => {
    const chunks: Uint8Array[] = [];
    for await (const chunk of partsStream(parts) as ReadableStream<Uint8Array> & AsyncIterable<Uint8Array>) {
      chunks.push(chunk);
    }
    return { lengths: chunks.map(({ length }) => length), whole: Buffer.concat(chunks) };
  };

  test('splits long texts and bytes', async () => {
    const long = 'äb'.repeat(300 * KIB);
    const { lengths, whole } = await read(['[', long, ']']);
    expect(whole.toString()).toBe(`[${long}]`);
    expect(Math.max(...lengths)).toBeLessThan(600 * KIB);
    const bytes = new Uint8Array(1000 * KIB).map((_, at) => at);
    const split = await read([bytes]);
    expect(split.whole.equals(bytes)).toBe(true);
    expect(Math.max(...split.lengths)).toBeLessThanOrEqual(256 * KIB);
  });

  test('never splits a surrogate pair', async () => {
    const pairs = '😀'.repeat(300 * KIB);
    for (const start of ['', 'x']) {
      expect((await read([start + pairs])).whole.toString()).toBe(start + pairs);
    }
  });
});
