/**
 * A client of etcd's gRPC API: one connection per endpoint, of which one is used until it fails.
 */
import type { ChannelCredentials, Client, ClientDuplexStream, Metadata } from '@grpc/grpc-js';
import { systemClock } from '../util/clock.js';
import { getOrInsertComputed, once } from '../util/once.js';
import {
  type MessageCodec,
  messageCodec,
  type RangeRequest,
  type RangeResponse,
  type TxnRequest,
  type TxnResponse,
  type WatchResponse,
} from './messages.js';

export interface EtcdTls {
  readonly ca?: Buffer | string;
  readonly cert?: Buffer | string;
  readonly key?: Buffer | string;
}

export interface EtcdClientOptions {
  /** `http://127.0.0.1:2379`, or with `https:`. */
  readonly endpoints: readonly string[];
  readonly tls?: EtcdTls | undefined;
  readonly auth?: { readonly username: string; readonly password: string } | undefined;
}

/** A request that failed in etcd or on the way. */
export class EtcdError extends Error {
  override readonly name = 'EtcdError';

  constructor(
    message: string,
    /** Whether etcd may have executed the request. */
    readonly mayBeDone: boolean,
    /** Whether etcd is not available, as opposed to a request that it refused. */
    readonly isUnavailable: boolean,
  ) {
    super(message);
  }
}

/** An open watch. */
export interface EtcdWatch {
  /** Asks for the revision up to which all events were sent. */
  requestProgress(): void;
  close(): void;
}

export interface WatchHandlers {
  onResponse(response: WatchResponse): void;
  onEnd(error: Error | undefined): void;
}

interface Method {
  readonly path: string;
  readonly request: MessageCodec;
  readonly response: MessageCodec;
}

const method = (path: string, request: string, response: string): Method => ({
  path: `/etcdserverpb.${path}`,
  request: messageCodec(request),
  response: messageCodec(response),
});

const RANGE = method('KV/Range', 'RangeRequest', 'RangeResponse');
const TXN = method('KV/Txn', 'TxnRequest', 'TxnResponse');
const COMPACT = method('KV/Compact', 'CompactionRequest', 'CompactionResponse');
const WATCH = method('Watch/Watch', 'WatchRequest', 'WatchResponse');
const GRANT = method('Lease/LeaseGrant', 'LeaseGrantRequest', 'LeaseGrantResponse');
const STATUS = method('Maintenance/Status', 'StatusRequest', 'StatusResponse');
const AUTHENTICATE = method('Auth/Authenticate', 'AuthenticateRequest', 'AuthenticateResponse');

/** The limits of the reference server's client. */
const CHANNEL_OPTIONS = {
  'grpc.keepalive_time_ms': 30_000,
  'grpc.keepalive_timeout_ms': 10_000,
  'grpc.max_receive_message_length': -1,
  'grpc.max_send_message_length': -1,
  'grpc.initial_reconnect_backoff_ms': 100,
  'grpc.max_reconnect_backoff_ms': 1_000,
};

const REQUEST_TIMEOUT_MS = 10_000;

type Grpc = typeof import('@grpc/grpc-js');

/** Loaded on first use: reading a snapshot does not need it. */
const loadGrpc = once(async (): Promise<Grpc> => {
  try {
    return await import('@grpc/grpc-js');
  } catch (cause) {
    throw new Error('orchplane: etcdStorage needs the package @grpc/grpc-js (npm install @grpc/grpc-js)', { cause });
  }
});

export class EtcdClient {
  readonly #options: EtcdClientOptions;
  readonly #endpoints: readonly URL[];
  /** By index of the endpoint. */
  readonly #connections = new Map<number, Client>();
  #current = 0;
  #token: Promise<string> | undefined;
  #isClosed = false;

  constructor(options: EtcdClientOptions) {
    this.#options = options;
    this.#endpoints = options.endpoints.map(parseEndpoint);
    if (this.#endpoints.length === 0) throw new TypeError('orchplane: etcdStorage: endpoints must not be empty');
  }

  range(request: RangeRequest): Promise<RangeResponse> {
    return this.#read(RANGE, request) as Promise<RangeResponse>;
  }

  /** A transaction that writes is sent once: a failure may leave open whether it was executed. */
  txn(request: TxnRequest): Promise<TxnResponse> {
    return this.#call(TXN, request) as Promise<TxnResponse>;
  }

  async compact(revision: number): Promise<void> {
    await this.#call(COMPACT, { revision });
  }

  /** Grants a lease with an ID that fits a number. */
  async grantLease(seconds: number, id: number): Promise<void> {
    await this.#call(GRANT, { TTL: seconds, ID: id });
  }

  async version(): Promise<string> {
    const { version } = (await this.#read(STATUS, {})) as { readonly version: string };
    return version;
  }

  /** Watches keys from a revision. */
  watch(
    range: { readonly key: Uint8Array; readonly rangeEnd: Uint8Array; readonly startRevision: number },
    handlers: WatchHandlers,
  ): EtcdWatch {
    const used = this.#current;
    let stream: ClientDuplexStream<object, object> | undefined;
    let isClosed = false;
    const end = (error: Error | undefined): void => {
      if (isClosed) return;
      isClosed = true;
      stream?.cancel();
      if (error !== undefined) this.#moveOn(used);
      handlers.onEnd(error);
    };
    const open = async (): Promise<void> => {
      const metadata = await this.#metadata();
      const connection = this.#connection(await loadGrpc(), used);
      if (isClosed) return;
      stream = connection.makeBidiStreamRequest(WATCH.path, WATCH.request.encode, WATCH.response.decode, metadata);
      stream.on('data', (response: WatchResponse) => {
        if (!isClosed) handlers.onResponse(response);
      });
      stream.on('error', (error: Error) => end(error));
      stream.on('end', () => end(new Error('etcd ended the watch')));
      stream.write({ createRequest: { ...range, progressNotify: true, fragment: true } });
    };
    open().catch(end);
    return {
      requestProgress: () => {
        if (!isClosed) stream?.write({ progressRequest: {} });
      },
      close: () => {
        isClosed = true;
        stream?.cancel();
      },
    };
  }

  close(): void {
    this.#isClosed = true;
    for (const connection of this.#connections.values()) connection.close();
  }

  /** Reads change nothing, so they are repeated with the other endpoints. */
  async #read(called: Method, request: object): Promise<object> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#call(called, request);
      } catch (error) {
        const isLast = attempt >= this.#endpoints.length;
        if (isLast || !(error instanceof EtcdError && error.isUnavailable)) throw error;
      }
    }
  }

  async #call(called: Method, request: object, isRetry = false): Promise<object> {
    const metadata = await this.#metadata();
    try {
      return await this.#send(called, request, metadata);
    } catch (error) {
      const isOldToken =
        this.#token !== undefined && error instanceof EtcdError && /invalid auth token/.test(error.message);
      if (!isOldToken || isRetry) throw error;
      this.#token = undefined;
      return this.#call(called, request, true);
    }
  }

  async #send({ path, request, response }: Method, message: object, metadata: Metadata): Promise<object> {
    const grpc = await loadGrpc();
    const used = this.#current;
    const connection = this.#connection(grpc, used);
    return new Promise((resolve, reject) => {
      const options = { deadline: systemClock.now() + REQUEST_TIMEOUT_MS };
      connection.makeUnaryRequest(path, request.encode, response.decode, message, metadata, options, (error, value) => {
        if (error === null && value !== undefined) resolve(value);
        else {
          const failure = toEtcdError(error ?? new Error('etcd sent no response'), grpc);
          if (failure.isUnavailable) this.#moveOn(used);
          reject(failure);
        }
      });
    });
  }

  #connection(grpc: Grpc, index: number): Client {
    if (this.#isClosed) throw new EtcdError('the client is closed', false, false);
    const url = this.#endpoints[index] as URL;
    const make = () => new grpc.Client(url.host, credentialsFor(url, this.#options.tls, grpc), CHANNEL_OPTIONS);
    return getOrInsertComputed(this.#connections, index, make);
  }

  /** Uses the next endpoint, unless another request has done so. */
  #moveOn(failed: number): void {
    if (this.#current === failed) this.#current = (failed + 1) % this.#endpoints.length;
  }

  async #metadata(): Promise<Metadata> {
    const { Metadata } = await loadGrpc();
    const metadata = new Metadata();
    const { auth } = this.#options;
    if (auth === undefined) return metadata;
    this.#token ??= this.#authenticate(auth);
    try {
      metadata.set('token', await this.#token);
    } catch (error) {
      this.#token = undefined;
      throw error;
    }
    return metadata;
  }

  async #authenticate({ username, password }: NonNullable<EtcdClientOptions['auth']>): Promise<string> {
    const response = await this.#send(AUTHENTICATE, { name: username, password }, new (await loadGrpc()).Metadata());
    return (response as { readonly token: string }).token;
  }
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

function toEtcdError(
  error: Error & { readonly code?: number; readonly details?: string },
  { status }: Grpc,
): EtcdError {
  const message = error.details === undefined || error.details === '' ? error.message : error.details;
  // With these codes etcd says that it cannot answer now.
  const { UNAVAILABLE, DEADLINE_EXCEEDED, CANCELLED, UNKNOWN, INTERNAL } = status;
  const isUnavailable = [UNAVAILABLE, DEADLINE_EXCEEDED, CANCELLED, UNKNOWN, INTERNAL].some(
    (code) => code === error.code,
  );
  // Without a connection nothing was sent; other refusals come from an etcd that did not execute the request.
  const wasSent = !/^No connection established|^Name resolution failed/.test(message);
  return new EtcdError(message, isUnavailable && wasSent, isUnavailable);
}
