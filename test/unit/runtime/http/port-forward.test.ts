/** Port forwarding over WebSocket: with channels, and with a tunnel for SPDY. */
import { describe, expect, test } from 'vitest';
import type { ByteConnection, PortConnection } from '../../../../src/protocol/connection.js';
import type { MessageSocket } from '../../../../src/protocol/http.js';
import { answerConnection } from '../../../../src/runtime/http/answer-connection.js';
import { SpdyConnection } from '../../../../src/runtime/http/spdy.js';
import { requireInflate } from '../../../../src/runtime/http/spdy-headers.js';
import { cpuTimer } from '../../../fixtures/cpu-time.js';
import { channelText, type FakeClient, fakeRequest, openSession } from './fakes.js';
import { controlFrame, dataFrame, FrameParser, type SpdyFrame, StreamOpener, word } from './spdy-client.js';

interface Ports extends PortConnection {
  /** The events of the connections in their order. */
  readonly events: string[];
}

/** Port 7 sends back what it gets; port 80 answers its first line and closes; port 9 reads nothing; others refuse. */
function ports(): Ports {
  const events: string[] = [];
  const open = (port: number): ByteConnection => {
    let output: ReadableStreamDefaultController<Uint8Array> | undefined;
    const readable = new ReadableStream<Uint8Array>({
      start(controller) {
        output = controller;
      },
      cancel: () => void events.push(`${port} cancelled`),
    });
    const writable = new WritableStream<Uint8Array>({
      write(bytes) {
        if (port === 9) return new Promise(() => undefined);
        output?.enqueue(bytes);
        if (port === 80) output?.close();
        return undefined;
      },
      close() {
        events.push(`${port} input ended`);
        output?.close();
      },
      abort: () => void events.push(`${port} aborted`),
    });
    return { readable, writable };
  };
  return {
    type: 'ports',
    events,
    async connect(port) {
      if (![7, 9, 80].includes(port)) throw new Error('connection refused');
      events.push(`${port} connected`);
      return open(port);
    },
  };
}

const PATH = '/api/v1/namespaces/default/pods/web/portforward';
const encode = (text: string): Uint8Array => new TextEncoder().encode(text);
const turns = () => new Promise((resolve) => setImmediate(resolve));

describe('ports over channels', () => {
  const open = (connection: PortConnection, query: string, protocols = ['v4.channel.k8s.io']) =>
    openSession(connection, { path: `${PATH}?${query}`, protocols });

  test('have two channels each, whose first messages are the port', async () => {
    const client = await open(ports(), 'ports=7&ports=80,8080');
    const first = [await client.next(), await client.next(), await client.next(), await client.next()];
    expect(first).toEqual([
      Uint8Array.of(0, 7, 0),
      Uint8Array.of(1, 7, 0),
      Uint8Array.of(2, 80, 0),
      Uint8Array.of(3, 80, 0),
    ]);
    expect(await client.next()).toEqual(Uint8Array.of(4, 0x90, 0x1f));
    client.disconnect();
    await client.ended;
  });

  test('carry bytes in both directions', async () => {
    const connection = ports();
    const client = await open(connection, 'ports=7,80');
    client.send([0, ...encode('to 7')]);
    client.send([2, ...encode('to 80')]);
    client.send([3, ...encode('ignored')]);
    client.send([9, ...encode('ignored')]);
    for (let count = 0; count < 4; count++) await client.next();
    const answers = [await client.next(), await client.next()].map((message) => Buffer.from(message ?? []).toString());
    expect(answers.sort()).toEqual(['\u0000to 7', '\u0002to 80']);
    client.disconnect();
    await client.ended;
    await turns();
    expect(connection.events.sort()).toEqual(['7 aborted', '7 cancelled', '7 connected', '80 aborted', '80 connected']);
  });

  test('report a refused connection on the error channel and close when all ports are closed', async () => {
    const client = await open(ports(), 'ports=81');
    const messages = await client.rest();
    expect(channelText(messages.slice(2), 1)).toBe('error forwarding port 81 to pod web, uid : connection refused');
    expect(client.isEnded()).toBe(true);
  });

  test('close when the client disconnects, even if a port does not read', async () => {
    const client = await open(ports(), 'ports=9');
    for (let count = 0; count < 10; count++) client.send([0, ...encode('x')]);
    await client.next();
    client.disconnect();
    await client.ended;
    expect(client.isEnded()).toBe(true);
  });

  test('are required and limited', () => {
    const answer = (query: string) => () =>
      answerConnection(ports(), fakeRequest({ path: `${PATH}?${query}`, protocols: [] }), () => undefined);
    expect(answer('')).toThrow('query parameter "port" is required');
    expect(answer('ports=0')).toThrow('port "0" must be > 0');
    expect(answer(`ports=${new Array(128).fill(7).join(',')}`)).toThrow('at most 127 ports can be forwarded');
  });

  test('are refused for other subprotocols and without a WebSocket', async () => {
    const { answer } = await open(ports(), 'ports=7', ['v5.channel.k8s.io']);
    expect(answer).toMatchObject({ code: 403 });
    const plain = () => answerConnection(ports(), fakeRequest({ path: PATH, method: 'POST' }), () => undefined);
    expect(plain).toThrow('Upgrade request required');
  });
});

const SYN_REPLY = 2;
const RST_STREAM = 3;
const PING = 6;
const GOAWAY = 7;

/** A client of the tunnel. */
class Tunnel {
  readonly client: FakeClient;
  readonly #opener = new StreamOpener();
  readonly #parser = new FrameParser();
  #frames: SpdyFrame[] = [];

  constructor(client: FakeClient) {
    this.client = client;
  }

  async open(stream: number, headers: Record<string, string>): Promise<void> {
    this.client.send(await this.#opener.open(stream, headers));
  }

  /** Opens the two streams of a connection, the error stream first. */
  async connect(stream: number, port: number): Promise<void> {
    const headers = { port: String(port), requestid: String(stream) };
    await this.open(stream, { ...headers, streamtype: 'error' });
    this.client.send(dataFrame(stream, '', true));
    await this.open(stream + 2, { ...headers, streamtype: 'data' });
  }

  /** The next frame; undefined when the connection is closed. */
  async next(): Promise<SpdyFrame | undefined> {
    while (this.#frames.length === 0) {
      const message = await this.client.next();
      if (message === undefined) return undefined;
      this.#frames.push(...this.#parser.parse(message));
    }
    return this.#frames.shift();
  }

  /** The type, the stream and the flags or the text of the next frames. */
  async show(count: number): Promise<string[]> {
    const shown: string[] = [];
    for (let left = count; left > 0; left--) {
      const frame = await this.next();
      if (frame === undefined) return [...shown, 'closed'];
      const { type, stream, flags, content } = frame;
      shown.push(type === 0 ? `${stream}: ${flags === 1 ? 'end' : content}` : `${NAMES[type]} ${stream}`);
    }
    return shown;
  }
}

const NAMES: Readonly<Record<number, string>> = { [SYN_REPLY]: 'reply', [RST_STREAM]: 'reset', [PING]: 'ping' };

async function tunnelTo(connection: PortConnection): Promise<Tunnel> {
  return new Tunnel(await openSession(connection, { path: PATH, protocols: ['SPDY/3.1+portforward.k8s.io'] }));
}

describe('ports over a tunnel for SPDY', () => {
  test('carry several connections', async () => {
    const connection = ports();
    const tunnel = await tunnelTo(connection);
    expect(tunnel.client.answer.webSocket?.protocol).toBe('SPDY/3.1+portforward.k8s.io');
    await tunnel.connect(1, 7);
    await tunnel.connect(5, 80);
    expect(await tunnel.show(4)).toEqual(['reply 1', 'reply 3', 'reply 5', 'reply 7']);
    tunnel.client.send(dataFrame(3, 'a'));
    expect(await tunnel.show(1)).toEqual(['3: a']);
    tunnel.client.send(dataFrame(7, 'b'));
    expect(await tunnel.show(3)).toEqual(['7: b', '7: end', '5: end']);
    tunnel.client.send(dataFrame(3, 'c', true));
    expect(await tunnel.show(3)).toEqual(['3: c', '3: end', '1: end']);
    tunnel.client.send(controlFrame(GOAWAY, Buffer.alloc(8)));
    await tunnel.client.ended;
    expect(connection.events).toContain('7 input ended');
    expect(tunnel.client.isEnded()).toBe(true);
  });

  test('report a refused connection and reset its streams', async () => {
    const tunnel = await tunnelTo(ports());
    await tunnel.connect(1, 81);
    const text = 'error forwarding port 81 to pod web, uid : connection refused';
    expect(await tunnel.show(5)).toEqual(['reply 1', 'reply 3', `1: ${text}`, 'reset 3', 'reset 1']);
    tunnel.client.disconnect();
  });

  test('close the connection to a port whose stream is reset', async () => {
    const connection = ports();
    const tunnel = await tunnelTo(connection);
    await tunnel.connect(1, 7);
    await tunnel.show(2);
    tunnel.client.send(controlFrame(RST_STREAM, Buffer.concat([word(3), word(5)])));
    expect(await tunnel.show(1)).toEqual(['1: end']);
    expect(connection.events).toEqual(['7 connected', '7 cancelled', '7 aborted']);
    tunnel.client.disconnect();
  });

  test('close their connections when the client disconnects, even if a port does not read', async () => {
    const connection = ports();
    const tunnel = await tunnelTo(connection);
    await tunnel.connect(1, 9);
    await tunnel.show(2);
    for (let count = 0; count < 10; count++) tunnel.client.send(dataFrame(3, 'x'.repeat(1000)));
    await turns();
    tunnel.client.disconnect();
    await tunnel.client.ended;
    await turns();
    expect(connection.events).toContain('9 cancelled');
    expect(tunnel.client.isEnded()).toBe(true);
  });

  test('read frames that are divided into many messages', async () => {
    const tunnel = await tunnelTo(ports());
    await tunnel.connect(1, 7);
    await tunnel.show(2);
    for (const byte of dataFrame(3, 'abc')) tunnel.client.send([byte]);
    expect(await tunnel.show(3)).toEqual(['3: a', '3: b', '3: c']);
    tunnel.client.disconnect();
  });

  test('read a long frame that comes in single bytes in time in proportion to its length', async () => {
    const frame = controlFrame(4, Buffer.alloc(60_000));
    let sent = 0;
    const socket: MessageSocket = {
      receive: async () => (sent < frame.length ? frame.subarray(sent, ++sent) : undefined),
      send: async () => undefined,
    };
    const spentMs = cpuTimer();
    await new SpdyConnection(socket, requireInflate()).run(() => undefined);
    expect(spentMs()).toBeLessThan(1000);
  });

  test('answer pings of the client and ignore other frames', async () => {
    const tunnel = await tunnelTo(ports());
    const settings = controlFrame(4, Buffer.concat([word(1), word(7), word(100)]));
    const update = controlFrame(9, Buffer.concat([word(1), word(100)]));
    for (const frame of [settings, update, controlFrame(PING, word(2)), controlFrame(PING, word(9))]) {
      tunnel.client.send(frame);
    }
    expect(await tunnel.show(1)).toEqual(['ping 9']);
    tunnel.client.disconnect();
  });

  test('pair the streams of clients that send no request ID', async () => {
    const tunnel = await tunnelTo(ports());
    await tunnel.open(1, { streamtype: 'error', port: '7' });
    await tunnel.open(3, { streamtype: 'data', port: '7' });
    await tunnel.show(2);
    tunnel.client.send(dataFrame(3, 'a'));
    expect(await tunnel.show(1)).toEqual(['3: a']);
    tunnel.client.disconnect();
  });

  test('reset streams with invalid headers and repeated numbers', async () => {
    const tunnel = await tunnelTo(ports());
    const invalid: Record<string, string>[] = [
      {},
      { port: '80' },
      { port: '0', streamtype: 'data' },
      { port: '65536', streamtype: 'data' },
      { port: 'http', streamtype: 'data' },
      { port: '80', streamtype: 'stdin' },
    ];
    for (const [at, headers] of invalid.entries()) {
      await tunnel.open(at * 2 + 1, headers);
      expect(await tunnel.show(1)).toEqual([`reset ${at * 2 + 1}`]);
    }
    const valid = { port: '7', streamtype: 'error' };
    await tunnel.open(1, valid);
    await tunnel.open(100, valid);
    expect(await tunnel.show(2)).toEqual(['reset 1', 'reset 100']);
    tunnel.client.disconnect();
  });

  test('report a second stream of the same type', async () => {
    const tunnel = await tunnelTo(ports());
    for (const stream of [1, 3]) await tunnel.open(stream, { port: '7', streamtype: 'error', requestid: 'a' });
    const text = 'error processing stream for request a: error stream already assigned';
    expect(await tunnel.show(3)).toEqual(['reply 1', 'reply 3', `1: ${text}`]);
    tunnel.client.disconnect();
  });

  test('accept a limited number of streams', async () => {
    const tunnel = await tunnelTo(ports());
    for (let count = 0; count < 2001; count++) {
      await tunnel.open(count * 2 + 1, { port: '7', streamtype: 'error', requestid: String(count) });
    }
    const shown = await tunnel.show(2001);
    expect(shown.filter((frame) => frame.startsWith('reply'))).toHaveLength(2000);
    expect(shown.at(-1)).toBe('reset 4001');
    tunnel.client.disconnect();
    await tunnel.client.ended;
  });

  test.each([
    ['headers that are not compressed', controlFrame(1, Buffer.alloc(30, 255))],
    ['data without a stream', dataFrame(0, 'x')],
    ['a control frame that is too long', Buffer.concat([Buffer.from([0x80, 3, 0, 1, 0]), word(70_000).subarray(1)])],
    ['a control frame that is too short', controlFrame(RST_STREAM, Buffer.alloc(2))],
  ])('end after %s', async (_name, bytes) => {
    const tunnel = await tunnelTo(ports());
    tunnel.client.send(bytes);
    expect(await tunnel.show(1)).toEqual(['closed']);
    await tunnel.client.ended;
    expect(tunnel.client.isEnded()).toBe(true);
  });

  test('end after headers that decompress to more than port forwarding needs', async () => {
    const tunnel = await tunnelTo(ports());
    await tunnel.open(1, { port: '7', streamtype: 'data', pad: 'a'.repeat(60_000) });
    expect(await tunnel.show(1)).toEqual(['closed']);
  });

  test('do not keep others waiting for a message with many frames', async () => {
    const tunnel = await tunnelTo(ports());
    let passed = 0;
    const timer = setInterval(() => passed++, 0);
    const ping = controlFrame(6, word(1));
    tunnel.client.send(Buffer.concat(Array.from({ length: 5_000 }, () => ping)));
    for (let count = 0; count < 5_000; count++) await tunnel.client.next();
    clearInterval(timer);
    expect(passed).toBeGreaterThan(2);
    tunnel.client.disconnect();
  });

  test('are not read while their client does not read the answers', async () => {
    let received = 0;
    const opener = new StreamOpener();
    const socket: MessageSocket = {
      // The type is unknown, so each stream is reset.
      receive: async () => opener.open(++received * 2 - 1, { port: '7', streamtype: 'odd' }),
      send: () => new Promise(() => undefined),
    };
    void new SpdyConnection(socket, requireInflate()).run((stream) => stream.reset());
    for (let count = 0; count < 20; count++) await turns();
    expect(received).toBe(1);
  });
});
