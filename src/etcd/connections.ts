/**
 * The gRPC connections to the members of etcd: one per endpoint, of which one is used until it fails.
 */
import type { ChannelCredentials, Client, Metadata } from '@grpc/grpc-js';
import { systemClock } from '../util/clock.js';
import { messageOf } from '../util/message-of.js';
import { getOrInsertComputed, once } from '../util/once.js';
import { EtcdError, isMemberFailure, toEtcdError } from './etcd-error.js';
import { type MessageCodec, messageCodec } from './messages.js';

export interface EtcdTls {
  /** The certificates of the authorities that etcd's certificate may have, in PEM format; default: those of Node. */
  readonly ca?: Buffer | string;
  /** A client certificate, and its key. */
  readonly cert?: Buffer | string;
  readonly key?: Buffer | string;
}

/** A method of etcd's API. */
export interface Method {
  readonly path: string;
  readonly request: MessageCodec;
  readonly response: MessageCodec;
}

export function method(path: string, request: string, response: string): Method {
  return { path: `/etcdserverpb.${path}`, request: messageCodec(request), response: messageCodec(response) };
}

/** The limits of the reference server's client. */
const CHANNEL_OPTIONS = {
  'grpc.keepalive_time_ms': 30_000,
  'grpc.keepalive_timeout_ms': 10_000,
  'grpc.max_receive_message_length': -1,
  'grpc.max_send_message_length': 2 * 1024 * 1024,
  'grpc.initial_reconnect_backoff_ms': 100,
  'grpc.max_reconnect_backoff_ms': 1_000,
  // A new connection to a member that has stopped does not share the old one.
  'grpc.use_local_subchannel_pool': 1,
};

type Grpc = typeof import('@grpc/grpc-js');

/** Loaded on first use: reading a snapshot does not need it. */
const loadGrpc = once(async (): Promise<Grpc> => {
  try {
    return await import('@grpc/grpc-js');
  } catch (cause) {
    throw new Error('orchplane: etcdStorage needs the package @grpc/grpc-js (npm install @grpc/grpc-js)', { cause });
  }
});

interface Connection {
  readonly client: Client;
  /** They cancel the unfinished calls. */
  readonly cancels: Set<() => void>;
}

interface Call {
  readonly message: object;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
}

export interface StreamHandlers {
  readonly headers: Call['headers'];
  onMessage(message: object): void;
  /** Called once or twice. */
  onEnd(error: Error): void;
}

export interface EtcdStream {
  send(message: object): void;
  cancel(): void;
}

export class EtcdConnections {
  readonly #endpoints: readonly URL[];
  readonly #tls: EtcdTls | undefined;
  /** By index of the endpoint. */
  readonly #connections = new Map<number, Connection>();
  #current = 0;
  #isClosed = false;

  constructor(endpoints: readonly string[], tls: EtcdTls | undefined) {
    this.#endpoints = endpoints.map(parseEndpoint);
    if (this.#endpoints.length === 0) throw new TypeError('orchplane: etcdStorage: endpoints must not be empty');
    this.#tls = tls;
  }

  get count(): number {
    return this.#endpoints.length;
  }

  /** The index of the endpoint that is used. */
  get current(): number {
    return this.#current;
  }

  /**
   * Calls the channel itself. `Client.makeUnaryRequest` takes half as much time again, for interceptors, an emitter, a stack trace
   * and a deadline, which is a header with another value each time.
   */
  async call({ path, request, response }: Method, { message, headers, timeoutMs }: Call): Promise<object> {
    const grpc = await loadGrpc();
    const { CANCELLED, DEADLINE_EXCEEDED, INTERNAL, OK } = grpc.status;
    const used = this.#current;
    const { client, cancels } = this.#connection(grpc, used);
    const bytes = request.encode(message);
    return new Promise((resolve, reject) => {
      const call = client.getChannel().createCall(path, Infinity, null, null, null);
      let content: Uint8Array | undefined;
      let isLate = false;
      const cancel = (): void => call.cancelWithStatus(CANCELLED, 'Cancelled on client');
      const undoTimeout = systemClock.after(timeoutMs, () => {
        isLate = true;
        cancel();
      });
      const fail = (code: number, details: string): void => {
        const error = Object.assign(new Error(`${code} ${grpc.status[code]}: ${details}`), { code, details });
        const failure = toEtcdError(error, {
          codes: grpc.status,
          endpoint: this.#urlOf(used),
          sentBytes: bytes.length,
        });
        if (isMemberFailure(failure)) this.moveOn(used);
        reject(failure);
      };
      cancels.add(cancel);
      call.start(metadataOf(grpc, headers), {
        onReceiveMetadata: () => undefined,
        onReceiveMessage: (received: Uint8Array) => {
          content = received;
        },
        onReceiveStatus: ({ code, details }) => {
          undoTimeout();
          cancels.delete(cancel);
          if (code !== OK) return fail(isLate ? DEADLINE_EXCEEDED : code, details);
          if (content === undefined) return fail(INTERNAL, 'etcd sent no response');
          try {
            resolve(response.decode(content));
          } catch (error) {
            fail(INTERNAL, messageOf(error));
          }
        },
      });
      call.sendMessageWithContext({}, bytes);
      call.halfClose();
      call.startRead();
    });
  }

  /** Opens a stream to an endpoint. Until it has received something, further messages may replace the first. */
  async stream({ path, request, response }: Method, used: number, handlers: StreamHandlers): Promise<EtcdStream> {
    const grpc = await loadGrpc();
    const { client } = this.#connection(grpc, used);
    const call = client.getChannel().createCall(path, Infinity, null, null, null);
    const cancel = (): void => call.cancelWithStatus(grpc.status.CANCELLED, 'Cancelled on client');
    call.start(metadataOf(grpc, handlers.headers), {
      onReceiveMetadata: () => undefined,
      onReceiveMessage: (bytes: Uint8Array) => {
        try {
          handlers.onMessage(response.decode(bytes));
        } catch (error) {
          // An exception in a listener would end the process.
          cancel();
          handlers.onEnd(error instanceof Error ? error : new Error(messageOf(error)));
          return;
        }
        call.startRead();
      },
      onReceiveStatus: ({ details }) => handlers.onEnd(new Error(details === '' ? 'etcd ended the stream' : details)),
    });
    call.startRead();
    return { send: (message) => call.sendMessageWithContext({}, request.encode(message)), cancel };
  }

  /** Uses the next endpoint, unless another request has done so. */
  moveOn(failed: number): void {
    if (this.#current === failed) this.#current = (failed + 1) % this.#endpoints.length;
  }

  /** A member does not respond: cancels its requests and uses the next one. Does nothing if there is only one endpoint. */
  abandon(stopped: number): void {
    const connection = this.#connections.get(stopped);
    if (connection === undefined || this.#endpoints.length === 1) return;
    this.moveOn(stopped);
    this.#connections.delete(stopped);
    end(connection);
  }

  close(): void {
    this.#isClosed = true;
    for (const connection of this.#connections.values()) end(connection);
  }

  #connection(grpc: Grpc, index: number): Connection {
    if (this.#isClosed) throw new EtcdError('the client is closed');
    const url = this.#urlOf(index);
    return getOrInsertComputed(this.#connections, index, () => ({
      client: new grpc.Client(url.host, credentialsFor(url, this.#tls, grpc), CHANNEL_OPTIONS),
      cancels: new Set(),
    }));
  }

  #urlOf(index: number): URL {
    return this.#endpoints[index] as URL;
  }
}

function end({ client, cancels }: Connection): void {
  for (const cancel of [...cancels]) cancel();
  client.close();
}

function metadataOf({ Metadata }: Grpc, headers: Call['headers']): Metadata {
  const metadata = new Metadata();
  for (const [name, value] of Object.entries(headers)) metadata.set(name, value);
  return metadata;
}

function parseEndpoint(endpoint: string): URL {
  try {
    const url = new URL(endpoint);
    if (url.protocol === 'http:' || url.protocol === 'https:') return url;
  } catch {
    // The error below names the endpoint.
  }
  throw new TypeError(`orchplane: etcdStorage: an endpoint is a URL such as https://127.0.0.1:2379, got ${endpoint}`);
}

function credentialsFor({ protocol }: URL, tls: EtcdTls | undefined, { credentials }: Grpc): ChannelCredentials {
  if (protocol === 'http:') return credentials.createInsecure();
  const { ca, key, cert } = tls ?? {};
  const bytes = (content: Buffer | string | undefined) => (content === undefined ? null : Buffer.from(content));
  return credentials.createSsl(bytes(ca), bytes(key), bytes(cert));
}
