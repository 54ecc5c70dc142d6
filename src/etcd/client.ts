/**
 * A client of etcd's gRPC API, which also authenticates.
 */
import type { ClientDuplexStream } from '@grpc/grpc-js';
import { systemClock } from '../util/clock.js';
import { EtcdConnections, type EtcdTls, type Method, method } from './connections.js';
import { EtcdError } from './etcd-error.js';
import type { RangeRequest, RangeResponse, TxnRequest, TxnResponse, WatchResponse } from './messages.js';

export interface EtcdClientOptions {
  /** `http://127.0.0.1:2379`, or with `https:`. */
  readonly endpoints: readonly string[];
  readonly tls?: EtcdTls | undefined;
  readonly auth?: { readonly username: string; readonly password: string } | undefined;
}

/** An open watch. */
export interface EtcdWatch {
  /** Asks for the revision up to which all events were sent. */
  requestProgress(): void;
  close(): void;
  /** Closes it, because its member does not respond. The next watch uses another member. */
  abandon(): void;
}

export interface WatchHandlers {
  onResponse(response: WatchResponse): void;
  onEnd(error: Error | undefined): void;
}

const RANGE = method('KV/Range', 'RangeRequest', 'RangeResponse');
const TXN = method('KV/Txn', 'TxnRequest', 'TxnResponse');
const COMPACT = method('KV/Compact', 'CompactionRequest', 'CompactionResponse');
const WATCH = method('Watch/Watch', 'WatchRequest', 'WatchResponse');
const GRANT = method('Lease/LeaseGrant', 'LeaseGrantRequest', 'LeaseGrantResponse');
const STATUS = method('Maintenance/Status', 'StatusRequest', 'StatusResponse');
const AUTHENTICATE = method('Auth/Authenticate', 'AuthenticateRequest', 'AuthenticateResponse');

/** Without a leader, etcd needs up to 14 seconds to say so. The watch notices a member that does not respond (`feed.ts`). */
const REQUEST_TIMEOUT_MS = 20_000;

/** A token has expired, or etcd has forgotten it, or users and roles have changed since. */
const IS_OLD_TOKEN = /invalid auth token|revision of auth store is old/;
const IS_AUTH_DISABLED = /authentication is not enabled/;

export class EtcdClient {
  readonly #connections: EtcdConnections;
  readonly #auth: EtcdClientOptions['auth'];
  /** Undefined in a client without a user, and if etcd does not authenticate. */
  #token: Promise<string | undefined> | undefined;

  constructor({ endpoints, tls, auth }: EtcdClientOptions) {
    this.#connections = new EtcdConnections(endpoints, tls);
    this.#auth = auth;
  }

  range(request: RangeRequest, timeoutMs?: number): Promise<RangeResponse> {
    return this.#read(RANGE, request, timeoutMs) as Promise<RangeResponse>;
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

  /** Watches keys from a revision. It ends with an error if its member has lost the other members. */
  watch(
    range: { readonly key: Uint8Array; readonly rangeEnd: Uint8Array; readonly startRevision: number },
    handlers: WatchHandlers,
  ): EtcdWatch {
    const connections = this.#connections;
    const used = connections.current;
    let stream: ClientDuplexStream<object, object> | undefined;
    let isClosed = false;
    const close = (): void => {
      isClosed = true;
      stream?.cancel();
    };
    const end = (error: Error): void => {
      if (isClosed) return;
      close();
      connections.moveOn(used);
      handlers.onEnd(error);
    };
    const open = async (): Promise<void> => {
      const headers = { ...(await this.#headers()), hasleader: 'true' };
      if (isClosed) return;
      stream = await connections.stream(WATCH, used, headers);
      stream.on('data', (response: WatchResponse) => {
        // It may have been refused because of an old token.
        if (response.canceled) this.#token = undefined;
        if (!isClosed) handlers.onResponse(response);
      });
      stream.on('error', end);
      stream.on('end', () => end(new Error('etcd ended the watch')));
      if (isClosed) stream.cancel();
      else stream.write({ createRequest: { ...range, progressNotify: true, fragment: true } });
    };
    open().catch(end);
    return {
      requestProgress: () => {
        if (!isClosed) stream?.write({ progressRequest: {} });
      },
      close,
      abandon: () => {
        close();
        connections.abandon(used);
      },
    };
  }

  close(): void {
    this.#connections.close();
  }

  /** Reads change nothing, so they are repeated with the other endpoints. `timeoutMs` limits all attempts together. */
  async #read(called: Method, request: object, timeoutMs?: number): Promise<object> {
    const until = timeoutMs === undefined ? undefined : systemClock.now() + timeoutMs;
    let failure: EtcdError | undefined;
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#call(called, request, until === undefined ? undefined : until - systemClock.now());
      } catch (error) {
        if (!(error instanceof EtcdError && error.isUnavailable)) throw error;
        // What a member says explains more than that there is no connection to another one.
        if (failure === undefined || error.mayBeDone) failure = error;
        if (attempt >= this.#connections.count || (until ?? Infinity) <= systemClock.now()) throw failure;
      }
    }
  }

  /** Calls a method of the API once, or twice if the token has to be renewed: then etcd has not executed the first call. */
  async #call(called: Method, message: object, timeoutMs = REQUEST_TIMEOUT_MS): Promise<object> {
    let token: Promise<string | undefined> | undefined;
    const send = async () => {
      const headers = await this.#headers();
      token = this.#token;
      return this.#connections.call(called, { message, headers, timeoutMs });
    };
    try {
      return await send();
    } catch (error) {
      if (this.#auth === undefined || !(error instanceof EtcdError && IS_OLD_TOKEN.test(error.message))) throw error;
      // Unless another request has done so.
      if (this.#token === token) this.#token = undefined;
      return send();
    }
  }

  async #headers(): Promise<Readonly<Record<string, string>>> {
    if (this.#auth === undefined) return {};
    this.#token ??= this.#authenticate(this.#auth);
    try {
      const token = await this.#token;
      return token === undefined ? {} : { token };
    } catch (error) {
      this.#token = undefined;
      throw error;
    }
  }

  async #authenticate({ username: name, password }: NonNullable<EtcdClientOptions['auth']>) {
    const request = { message: { name, password }, headers: {}, timeoutMs: REQUEST_TIMEOUT_MS };
    try {
      const { token } = (await this.#connections.call(AUTHENTICATE, request)) as { readonly token: string };
      return token;
    } catch (error) {
      if (error instanceof EtcdError && IS_AUTH_DISABLED.test(error.message)) return undefined;
      throw error;
    }
  }
}
