/** exec and attach over WebSocket. */
import { describe, expect, test } from 'vitest';
import { errors } from '../../../../src/meta/errors.js';
import type { ContainerStreams, StreamConnection } from '../../../../src/protocol/connection.js';
import { answerConnection } from '../../../../src/runtime/http/answer-connection.js';
import { cpuTimer } from '../../../fixtures/cpu-time.js';
import { channelText, fakeRequest, openSession } from './fakes.js';

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);
const base64 = (text: string): string => Buffer.from(text).toString('base64');

/** A process that a function simulates. */
function process(
  run: (streams: ContainerStreams) => Promise<number>,
  options: Partial<Omit<StreamConnection, 'run' | 'type'>> = {},
): StreamConnection {
  return {
    type: 'streams',
    stdin: false,
    stdout: true,
    stderr: true,
    tty: false,
    ...options,
    run: async (streams) => ({ exitCode: await run(streams) }),
  };
}

async function print(stream: WritableStream<Uint8Array> | undefined, text: string): Promise<void> {
  const writer = stream?.getWriter();
  await writer?.write(encode(text));
  writer?.releaseLock();
}

async function echo({ stdin, stdout }: ContainerStreams): Promise<number> {
  for await (const bytes of stdin ?? []) await print(stdout, `[${new TextDecoder().decode(bytes)}]`);
  return 0;
}

const hello = process(async ({ stdout, stderr }) => {
  await print(stdout, 'out');
  await print(stderr, 'err');
  return 0;
});

/** Resolves when the signal aborts. */
const untilAborted = ({ signal }: ContainerStreams): Promise<number> =>
  new Promise((resolve) => signal.addEventListener('abort', () => resolve(1)));

const V5 = { protocols: ['v5.channel.k8s.io'] };
const V4 = { protocols: ['v4.channel.k8s.io'] };

describe('a process over WebSocket', () => {
  test('sends its streams on their channels and a Status on the error channel', async () => {
    const client = await openSession(hello, V5);
    expect(client.answer).toMatchObject({ code: 101, webSocket: { protocol: 'v5.channel.k8s.io', isText: false } });
    const messages = await client.rest();
    expect(messages[0]).toEqual(Uint8Array.of(1));
    expect(channelText(messages, 1)).toBe('out');
    expect(channelText(messages, 2)).toBe('err');
    expect(channelText(messages, 3)).toBe('{"metadata":{},"status":"Success"}');
    expect(client.isEnded()).toBe(true);
  });

  test('reports its exit code', async () => {
    const client = await openSession(
      process(async () => 3),
      V4,
    );
    expect(JSON.parse(channelText(await client.rest(), 3))).toEqual({
      metadata: {},
      status: 'Failure',
      message: 'command terminated with non-zero exit code: command terminated with exit code 3',
      reason: 'NonZeroExitCode',
      details: { causes: [{ reason: 'ExitCode', message: '3' }] },
    });
  });

  test('does not report the exit code to a client that has attached', async () => {
    const fails = process(async () => 3);
    const client = await openSession(fails, { ...V5, path: '/pods/web/attach?stdout=true' });
    expect(JSON.parse(channelText(await client.rest(), 3))).toEqual({ metadata: {}, status: 'Success' });
  });

  test('reports an exit code as text to clients of the first version', async () => {
    const fails = process(async () => 3);
    const text = 'command terminated with non-zero exit code: command terminated with exit code 3';
    for (const protocols of [['channel.k8s.io'], []]) {
      expect(channelText(await (await openSession(fails, { protocols })).rest(), 3)).toBe(text);
    }
    expect(channelText(await (await openSession(hello, { protocols: [] })).rest(), 3)).toBe('');
  });

  test('reports why it cannot start', async () => {
    const refused = process(() => Promise.reject(errors.badRequest('no such container')));
    expect(JSON.parse(channelText(await (await openSession(refused, V5)).rest(), 3))).toEqual({
      metadata: {},
      status: 'Failure',
      message: 'no such container',
      reason: 'BadRequest',
      code: 400,
    });
    const failed = process(() => Promise.reject(new Error('out of memory')));
    for (const [path, action] of [
      ['/pods/web/exec?command=a', 'executing command in container'],
      ['/pods/web/attach', 'attaching to container'],
    ] as const) {
      const status = JSON.parse(channelText(await (await openSession(failed, { ...V5, path })).rest(), 3));
      const message = `error ${action}: out of memory`;
      expect(status).toMatchObject({ message: `Internal error occurred: ${message}`, code: 500 });
    }
  });

  test('reads its input until the client ends the channel', async () => {
    const client = await openSession(process(echo, { stdin: true }), V5);
    client.send([0, ...encode('a')]);
    client.send([0, ...encode('b')]);
    client.send([255, 0]);
    client.send([0, ...encode('late')]);
    expect(channelText(await client.rest(), 1)).toBe('[a][b]');
  });

  test('cannot get the end of its input in version 4', async () => {
    const client = await openSession(process(echo, { stdin: true }), V4);
    client.send([255, 0]);
    client.send([0, ...encode('a')]);
    expect(await client.next()).toEqual(Uint8Array.of(1));
    expect(await client.next()).toEqual(Uint8Array.of(1, ...encode('[a]')));
    client.disconnect();
    await client.ended;
  });

  test('sends and receives base64', async () => {
    const client = await openSession(process(echo, { stdin: true }), { protocols: ['v4.base64.channel.k8s.io'] });
    expect(client.answer.webSocket).toMatchObject({ isText: true, protocol: 'v4.base64.channel.k8s.io' });
    client.send('0!not base64');
    client.send(`0${base64('a')}`);
    expect(new TextDecoder().decode(await client.next())).toBe('1');
    expect(new TextDecoder().decode(await client.next())).toBe(`1${base64('[a]')}`);
    client.disconnect();
    await client.ended;
  });

  test('ignores empty messages, channels that do not exist, and input that was not asked for', async () => {
    const client = await openSession(
      process(({ stdin }) => (stdin === undefined ? Promise.resolve(0) : Promise.resolve(9))),
      V5,
    );
    for (const message of [[], [0, 1], [1, 1], [77, 1], [255, 2]]) client.send(message);
    expect(JSON.parse(channelText(await client.rest(), 3))).toMatchObject({ status: 'Success' });
  });

  test.each([[[255]], [[255, 0, 0]], [[255, 5]]])('ends when the client sends %j', async (message) => {
    let aborted = false;
    const client = await openSession(
      process(async (streams) => {
        await untilAborted(streams);
        aborted = true;
        return 0;
      }),
      V5,
    );
    client.send(message);
    expect(channelText(await client.rest(), 3)).toBe('');
    expect(aborted).toBe(true);
  });

  test('with a terminal has one output and the sizes of the terminal', async () => {
    const sized = process(
      async ({ sizes, stdout, stderr }) => {
        expect(stderr).toBeUndefined();
        for await (const { width, height } of sizes ?? []) {
          await print(stdout, `${width}x${height} `);
          if (width === 1) break;
        }
        return 0;
      },
      { tty: true },
    );
    const client = await openSession(sized, V5);
    client.send([4, ...encode('{"Width":80,')]);
    client.send([4, ...encode('"Height":24}\n')]);
    expect(await client.next()).toEqual(Uint8Array.of(1));
    expect(new TextDecoder().decode(await client.next())).toBe('\u000180x24 ');
    client.send([4, ...encode('not a size}{"Width":-1,"Height":70000}{"Width":1,"Height":2}')]);
    expect(channelText(await client.rest(), 1)).toBe('1x2 ');
  });

  test('stops when the client disconnects, even if it does not read its input', async () => {
    const reasons: unknown[] = [];
    const deaf = process(
      async (streams) => {
        await untilAborted(streams);
        reasons.push(streams.signal.reason);
        return 0;
      },
      { stdin: true },
    );
    const client = await openSession(deaf, V5);
    for (let count = 0; count < 100; count++) client.send(new Uint8Array(1000));
    await client.next();
    client.disconnect();
    await client.ended;
    expect(reasons).toHaveLength(1);
    expect(client.isEnded()).toBe(true);
  });

  test('does not start for a client that has disconnected before', async () => {
    const request = fakeRequest(V5);
    const never = process(() => expect.unreachable('the process starts'));
    const { webSocket } = await answerConnection(never, request, () => undefined);
    request.disconnect();
    await webSocket?.run({ receive: async () => undefined, send: async () => undefined });
    expect(webSocket).toBeDefined();
  });

  test('does not delay the end of the connection if it ignores the disconnection', async () => {
    const client = await openSession(
      process(() => new Promise(() => undefined)),
      V5,
    );
    await client.next();
    client.disconnect();
    await client.ended;
    expect(client.isEnded()).toBe(true);
  });

  test('sends long output in messages of limited length', async () => {
    const client = await openSession(
      process(async ({ stdout }) => {
        await print(stdout, 'x'.repeat(100_000));
        return 0;
      }),
      V5,
    );
    const messages = await client.rest();
    expect(channelText(messages, 1)).toBe('x'.repeat(100_000));
    expect(Math.max(...messages.map(({ length }) => length))).toBe(32 * 1024 + 1);
  });
});

describe('the request for a process', () => {
  const answer = (parts: Parameters<typeof fakeRequest>[0]) =>
    answerConnection(hello, fakeRequest(parts), () => undefined);

  test('without a WebSocket is rejected', () => {
    for (const method of ['GET', 'POST']) {
      expect(() => answer({ method })).toThrow(
        expect.objectContaining({ code: 400, message: 'Upgrade request required' }),
      );
    }
  });

  test('chooses version 5, otherwise the first that the server knows', () => {
    const chosen = (...protocols: string[]) =>
      (answer({ protocols }) as { webSocket?: { protocol?: string } }).webSocket?.protocol;
    expect(chosen('v4.channel.k8s.io', 'v5.channel.k8s.io')).toBe('v5.channel.k8s.io');
    expect(chosen('v9.channel.k8s.io', 'base64.channel.k8s.io', 'v4.channel.k8s.io')).toBe('base64.channel.k8s.io');
    expect(chosen('v4.channel.orch.io')).toBe('v4.channel.orch.io');
    expect(chosen('base64url.bearer.authorization.k8s.io.YQ', 'v4.channel.k8s.io')).toBe('v4.channel.k8s.io');
  });

  test('with other subprotocols only is rejected', () => {
    for (const protocols of [['v2.channel.k8s.io'], ['v3.channel.k8s.io', 'x'], ['channel'], ['binary.k8s.io']]) {
      expect(answer({ protocols })).toMatchObject({ code: 403, body: null });
    }
  });
});

describe('a client that sends long messages', () => {
  const LONG = 8 * 1024 * 1024;
  const inTerminal = { tty: true, stdin: true, stderr: false };

  test('gets the last size of its terminal, however many it sends', async () => {
    const sizes: unknown[] = [];
    const resized = process(async ({ sizes: stream }) => {
      for await (const size of stream ?? []) {
        sizes.push(size);
        if (size.width === 7) break;
      }
      return 0;
    }, inTerminal);
    const client = await openSession(resized, V5);
    const spentMs = cpuTimer();
    client.send(Uint8Array.of(4, ...encode('{"Width":1,"Height":2}{"Wid')));
    client.send(Uint8Array.of(4, ...encode('th":3,"Height":4}')));
    client.send(new Uint8Array(LONG).fill('}'.charCodeAt(0)).fill(4, 0, 1));
    client.send(Uint8Array.of(4, ...encode('{"Width":5,"Height":6}{"Width":7,"Height":8}')));
    await client.rest();
    expect(spentMs()).toBeLessThan(1_500);
    expect(sizes.at(-1)).toEqual({ width: 7, height: 8 });
  });

  test('in base64 is decoded in time proportional to the length', async () => {
    let received = 0;
    const reads = process(
      async ({ stdin }) => {
        for await (const bytes of stdin ?? []) {
          received += bytes.length;
          break;
        }
        return 0;
      },
      { stdin: true },
    );
    const client = await openSession(reads, { protocols: ['base64.channel.k8s.io'] });
    const spentMs = cpuTimer();
    client.send(new Uint8Array(LONG + 1).fill('A'.charCodeAt(0)).fill('0'.charCodeAt(0), 0, 1));
    await client.rest();
    expect(spentMs()).toBeLessThan(1_000);
    expect(received).toBe((LONG * 3) / 4);
  });
});
