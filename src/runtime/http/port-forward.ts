/**
 * Forwards connections of a client to ports of a pod, over WebSocket in two forms: two channels for each port of the query,
 * or a tunnel for SPDY, which kubectl uses.
 * upstream: kubelet/pkg/cri/streaming/portforward/websocket.go, apiserver/pkg/util/proxy/streamtunnel.go
 */

import { errors } from '../../meta/errors.js';
import type { PortConnection } from '../../protocol/connection.js';
import type { Answer, HttpRequest, MessageSocket } from '../../protocol/http.js';
import { quote } from '../../text/go/go-text.js';
import { onAbort } from '../../util/abort.js';
import { messageOf } from '../../util/message-of.js';
import { bodyOf } from './body.js';
import { Channels, ClientInput } from './channels.js';
import { SpdyConnection, type SpdyStream } from './spdy.js';
import { requireInflate } from './spdy-headers.js';
import { answerWithWebSocket, chooseSubprotocol, requireWebSocket, UNSUPPORTED_SUBPROTOCOL } from './web-socket.js';

const TUNNEL = /^SPDY\/3\.1\+portforward$/;
const CHANNELS = /^(v4\.(base64\.)?channel)?$/;

/** What the connections of a client have in common. */
interface Forwarding {
  readonly connection: PortConnection;
  /** The name of the pod, for errors. */
  readonly pod: string;
  readonly signal: AbortSignal;
}

/** One connection of a client. */
interface ClientSide {
  readonly port: number;
  readonly input: ClientInput;
  send(bytes: Uint8Array): Promise<void>;
}

export function answerWithPorts(connection: PortConnection, request: HttpRequest, onEnd: () => void): Answer {
  requireWebSocket(request);
  const { pathname, searchParams } = new URL(request.url);
  const pod = decodeURIComponent(pathname.split('/').at(-2) ?? '');
  const tunnel = chooseSubprotocol(request, TUNNEL);
  if (tunnel !== undefined) {
    const inflate = requireInflate();
    return answerWithWebSocket(request, tunnel, {
      onEnd,
      converse: (socket, signal) => runTunnel(new SpdyConnection(socket, inflate), { connection, pod, signal }),
    });
  }
  const subprotocol = chooseSubprotocol(request, CHANNELS);
  if (subprotocol === undefined) return UNSUPPORTED_SUBPROTOCOL;
  const ports = readPorts(searchParams.getAll('ports'));
  const { isBase64 } = subprotocol;
  return answerWithWebSocket(request, subprotocol, {
    onEnd,
    converse: (socket, signal) => runChannels(socket, { connection, pod, signal, ports, isBase64 }),
  });
}

/** The server has parsed the numbers. */
function readPorts(lists: readonly string[]): number[] {
  const ports = lists.flatMap((list) => list.split(',')).map(Number);
  if (ports.length === 0) throw errors.badRequest('query parameter "port" is required');
  const zero = ports.find((port) => port < 1);
  if (zero !== undefined) throw errors.badRequest(`port ${quote(String(zero))} must be > 0`);
  if (ports.length > MAX_PORTS) throw errors.badRequest(`at most ${MAX_PORTS} ports can be forwarded`);
  return ports;
}

/** The number of a channel is one byte, and a port has two channels. */
const MAX_PORTS = 127;

interface ChannelForwarding extends Forwarding {
  readonly ports: readonly number[];
  readonly isBase64: boolean;
}

async function runChannels(socket: MessageSocket, forwarding: ChannelForwarding): Promise<void> {
  const { ports, isBase64, signal } = forwarding;
  const channels = new Channels(socket, { isBase64, canClose: false });
  const clients = ports.map((port, place) => {
    const input = new ClientInput();
    return { port, input, place, send: (bytes: Uint8Array) => channels.send(place * 2, bytes) };
  });
  const closing = new AbortController();
  const close = (): void => {
    closing.abort(signal.reason);
    for (const { input } of clients) input.abort(signal.reason);
  };
  onAbort(signal, close);
  // The first message of each channel is its port.
  for (const { port, place, send } of clients) {
    const bytes = Uint8Array.of(port & 0xff, port >> 8);
    await send(bytes);
    await channels.send(place * 2 + 1, bytes);
  }
  const receiveAll = async (): Promise<void> => {
    for (let message = await channels.receive(); message !== undefined; message = await channels.receive()) {
      const client = message.channel % 2 === 0 ? clients[message.channel / 2] : undefined;
      await client?.input.write(message.data ?? new Uint8Array());
    }
  };
  void receiveAll().then(close);
  await Promise.all(
    clients.map(async (client) => {
      const failure = await forward(client, { ...forwarding, signal: closing.signal });
      if (failure !== undefined) await channels.send(client.place * 2 + 1, new TextEncoder().encode(failure));
    }),
  );
}

async function runTunnel(spdy: SpdyConnection, forwarding: Forwarding): Promise<void> {
  onAbort(forwarding.signal, () => spdy.close(forwarding.signal.reason));
  const pairs = new Map<string, Partial<Record<'data' | 'error', SpdyStream>>>();
  await spdy.run((stream) => {
    const { type, port, pair: id } = readStreamHeaders(stream);
    if (type === undefined || port === undefined) return stream.reset();
    stream.reply();
    const pair = pairs.get(id) ?? {};
    if (pair[type] !== undefined) {
      const text = `error processing stream for request ${id}: ${type} stream already assigned`;
      void pair.error?.send(new TextEncoder().encode(text));
      return;
    }
    pair[type] = stream;
    pairs.set(id, pair);
    stream.onEnd = () => {
      if (pairs.get(id) === pair) pairs.delete(id);
    };
    const { data, error } = pair;
    if (data === undefined || error === undefined) return;
    pairs.delete(id);
    void forwardStreams(port, { data, error }, forwarding);
  });
}

async function forwardStreams(
  port: number,
  { data, error }: { readonly data: SpdyStream; readonly error: SpdyStream },
  forwarding: Forwarding,
): Promise<void> {
  // The client sends nothing here.
  error.input.end();
  const client = { port, input: data.input, send: (bytes: Uint8Array) => data.send(bytes) };
  const failure = await forward(client, { ...forwarding, signal: data.signal });
  if (failure === undefined) {
    data.end();
    error.end();
    return;
  }
  await error.send(new TextEncoder().encode(failure));
  data.reset();
  error.reset();
}

/** Copies bytes in both directions until the program closes its connection. Resolves with the text of an error. */
async function forward(client: ClientSide, { connection, pod, signal }: Forwarding): Promise<string | undefined> {
  const { port, input } = client;
  try {
    const { readable, writable } = await connection.connect(port);
    input.readable.pipeTo(writable).catch(() => undefined);
    const output = bodyOf(readable, { signal }, () => undefined);
    for (let bytes = await output.read(); bytes !== undefined; bytes = await output.read()) await client.send(bytes);
    return undefined;
  } catch (error) {
    return signal.aborted ? undefined : `error forwarding port ${port} to pod ${pod}, uid : ${messageOf(error)}`;
  } finally {
    input.abort(new Error('the connection is closed'));
  }
}

interface StreamHeaders {
  readonly type: 'data' | 'error' | undefined;
  /** Undefined if it is invalid. */
  readonly port: number | undefined;
  /** The name of the pair. */
  readonly pair: string;
}

function readStreamHeaders({ id, headers }: SpdyStream): StreamHeaders {
  const named = headers.get('streamtype');
  const type = named === 'data' || named === 'error' ? named : undefined;
  const port = /^[0-9]{1,5}$/.test(headers.get('port') ?? '') ? Number(headers.get('port')) : 0;
  return {
    type,
    port: port > 0 && port <= 65_535 ? port : undefined,
    // Old clients name no pair; they open the two streams of a connection one after the other, the data stream last.
    pair: headers.get('requestid') || String(type === 'data' ? id - 2 : id),
  };
}
