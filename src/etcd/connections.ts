/**
 * The gRPC connections to the members of etcd: one per endpoint, of which one is used until it fails.
 */
import type { ChannelCredentials, Client, ClientDuplexStream, ClientUnaryCall, Metadata } from '@grpc/grpc-js';
import { systemClock } from '../util/clock.js';
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
  readonly calls: Set<ClientUnaryCall>;
}

interface Call {
  readonly message: object;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
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

  async call({ path, request, response }: Method, { message, headers, timeoutMs }: Call): Promise<object> {
    const grpc = await loadGrpc();
    const used = this.#current;
    const { client, calls } = this.#connection(grpc, used);
    const metadata = metadataOf(grpc, headers);
    const options = { deadline: systemClock.now() + timeoutMs };
    return new Promise((resolve, reject) => {
      let sentBytes = 0;
      const encode = (content: object): Buffer => {
        const bytes = request.encode(content);
        sentBytes = bytes.length;
        return bytes;
      };
      const call = client.makeUnaryRequest(
        path,
        encode,
        response.decode,
        message,
        metadata,
        options,
        (error, value) => {
          calls.delete(call);
          if (error === null && value !== undefined) {
            resolve(value);
            return;
          }
          const failure = toEtcdError(error ?? new Error('etcd sent no response'), {
            codes: grpc.status,
            endpoint: this.#urlOf(used),
            sentBytes,
          });
          if (isMemberFailure(failure)) this.moveOn(used);
          reject(failure);
        },
      );
      calls.add(call);
    });
  }

  /** Opens a stream to an endpoint. */
  async stream(
    { path, request, response }: Method,
    used: number,
    headers: Call['headers'],
  ): Promise<ClientDuplexStream<object, object>> {
    const grpc = await loadGrpc();
    const { client } = this.#connection(grpc, used);
    return client.makeBidiStreamRequest(path, request.encode, response.decode, metadataOf(grpc, headers));
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
    for (const call of connection.calls) call.cancel();
    connection.client.close();
  }

  close(): void {
    this.#isClosed = true;
    for (const { client } of this.#connections.values()) client.close();
  }

  #connection(grpc: Grpc, index: number): Connection {
    if (this.#isClosed) throw new EtcdError('the client is closed');
    const url = this.#urlOf(index);
    return getOrInsertComputed(this.#connections, index, () => ({
      client: new grpc.Client(url.host, credentialsFor(url, this.#tls, grpc), CHANNEL_OPTIONS),
      calls: new Set(),
    }));
  }

  #urlOf(index: number): URL {
    return this.#endpoints[index] as URL;
  }
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
