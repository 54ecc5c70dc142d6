/** Logs over HTTP and WebSocket. */
import { describe, expect, test } from 'vitest';
import { readableOf } from '../../../../src/http/answer.js';
import type { LogConnection } from '../../../../src/protocol/connection.js';
import type { ByteSource } from '../../../../src/protocol/http.js';
import { answerConnection } from '../../../../src/runtime/http/answer-connection.js';
import { fakeRequest, openSession } from './fakes.js';

interface FakeLog extends LogConnection {
  readonly cancelled: unknown[];
}

/** A log with some chunks, which ends or continues without content. */
function logOf(chunks: readonly string[], { ends }: { readonly ends: boolean | Error }): FakeLog {
  const cancelled: unknown[] = [];
  const read = (): ReadableStream<Uint8Array> =>
    new ReadableStream({
      start(controller) {
        for (const chunk of chunks) controller.enqueue(new TextEncoder().encode(chunk));
        if (ends === true) controller.close();
      },
      pull(controller) {
        if (ends instanceof Error) controller.error(ends);
      },
      cancel: (reason) => void cancelled.push(reason),
    });
  return { type: 'log', read, cancelled };
}

async function answerWithLog(log: LogConnection, request = fakeRequest({})) {
  let ended = 0;
  const answer = await answerConnection(log, request, () => {
    ended++;
  });
  return { answer, body: answer.body as ByteSource, request, ended: () => ended };
}

describe('a log', () => {
  test('is plain text', async () => {
    const { answer, body, ended } = await answerWithLog(logOf(['one\n', 'two\n'], { ends: true }));
    expect(answer).toMatchObject({ code: 200, headers: [['Content-Type', 'text/plain']] });
    expect(ended()).toBe(0);
    expect(await new Response(readableOf(body)).text()).toBe('one\ntwo\n');
    expect(ended()).toBe(1);
  });

  test('is not read for a HEAD request', async () => {
    const log = { ...logOf([], { ends: false }), read: () => expect.unreachable('the log is read') };
    const { answer } = await answerWithLog(log, fakeRequest({ method: 'HEAD' }));
    expect(answer.body).toBeNull();
  });

  test('ends when the client disconnects', async () => {
    const log = logOf(['one\n'], { ends: false });
    const { body, request, ended } = await answerWithLog(log);
    await body.read();
    const next = body.read();
    request.disconnect();
    expect(await next).toBeUndefined();
    expect(log.cancelled).toEqual([request.signal.reason]);
    body.cancel();
    expect(ended()).toBe(1);
  });

  test('is not read for a client that has disconnected before', async () => {
    const log = logOf(['one\n'], { ends: false });
    const request = fakeRequest({});
    request.disconnect();
    const { body, ended } = await answerWithLog(log, request);
    expect(await body.read()).toBeUndefined();
    expect(log.cancelled).toHaveLength(1);
    expect(ended()).toBe(1);
  });

  test('passes on the error of a log that cannot be read', async () => {
    const failure = new Error('the disk is gone');
    const { body, ended } = await answerWithLog(logOf([], { ends: failure }));
    await expect(body.read()).rejects.toBe(failure);
    expect(ended()).toBe(1);
  });
});

describe('a log over WebSocket', () => {
  test.each([[[]], [['binary.k8s.io']]])('is sent as binary messages with the subprotocols %j', async (protocols) => {
    const client = await openSession(logOf(['one\n', 'x'.repeat(3000)], { ends: true }), { protocols });
    expect(client.answer.webSocket).toMatchObject({ protocol: protocols[0], isText: false });
    const messages = (await client.rest()).map((message) => new TextDecoder().decode(message));
    expect(messages).toEqual(['', 'one\n', 'x'.repeat(2048), 'x'.repeat(952)]);
    expect(client.isEnded()).toBe(true);
  });

  test('is sent as base64', async () => {
    const client = await openSession(logOf(['one\n'], { ends: true }), { protocols: ['base64.binary.k8s.io'] });
    expect(client.answer.webSocket).toMatchObject({ isText: true });
    const messages = (await client.rest()).map((message) => Buffer.from(message).toString());
    expect(messages).toEqual(['', Buffer.from('one\n').toString('base64')]);
  });

  test('ignores messages of the client and ends when it disconnects', async () => {
    const log = logOf(['one\n'], { ends: false });
    const client = await openSession(log, { protocols: [] });
    client.send([1, 2, 3]);
    await client.next();
    await client.next();
    client.disconnect();
    await client.ended;
    expect(log.cancelled).toHaveLength(1);
  });

  test('is refused for other subprotocols', async () => {
    const { answer } = await openSession(logOf([], { ends: true }), { protocols: ['v4.channel.k8s.io'] });
    expect(answer).toEqual({ code: 403, headers: [], body: null });
  });
});
