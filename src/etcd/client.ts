/**
 * A client of etcd's gRPC API, which also authenticates.
 */
import { systemClock, type Undo } from '../util/clock.js';
import { EtcdConnections, type EtcdStream, type EtcdTls, type Method, method } from './connections.js';
import { EtcdCertificateError, EtcdError, isMemberFailure } from './etcd-error.js';
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

/** A token has expired, or etcd has forgotten it, or users and roles have changed since, or etcd authenticates only now. */
const IS_OLD_TOKEN = /invalid auth token|revision of auth store is old|user name is empty/;
const IS_AUTH_DISABLED = /authentication is not enabled/;

interface CallAny {
  readonly canRepeat: (error: unknown) => error is EtcdError;
  readonly timeoutMs?: number | undefined;
}

/** The member did not get the request, so another one may execute it. */
function isNotSent(error: unknown): error is EtcdError {
  return isMemberFailure(error) && !error.mayBeDone;
}

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
    return this.#callAny(RANGE, request, { canRepeat: isMemberFailure, timeoutMs }) as Promise<RangeResponse>;
  }

  /** A transaction is sent once: a failure may leave open whether it was executed. */
  txn(request: TxnRequest): Promise<TxnResponse> {
    return this.#callAny(TXN, request, { canRepeat: isNotSent }) as Promise<TxnResponse>;
  }

  async compact(revision: number): Promise<void> {
    await this.#callAny(COMPACT, { revision }, { canRepeat: isNotSent });
  }

  /** Grants a lease with an ID that fits a number. */
  async grantLease(seconds: number, id: number): Promise<void> {
    await this.#callAny(GRANT, { TTL: seconds, ID: id }, { canRepeat: isNotSent });
  }

  async version(): Promise<string> {
    const { version } = (await this.#callAny(STATUS, {}, { canRepeat: isMemberFailure })) as {
      readonly version: string;
    };
    return version;
  }

  /** Watches keys from a revision. It ends with an error if its member has lost the other members. */
  watch(
    range: { readonly key: Uint8Array; readonly rangeEnd: Uint8Array; readonly startRevision: number },
    handlers: WatchHandlers,
  ): EtcdWatch {
    const connections = this.#connections;
    const used = connections.current;
    let stream: EtcdStream | undefined;
    let isOpen = false;
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
    const onMessage = (message: object): void => {
      const response = message as WatchResponse;
      isOpen = true;
      // It may have been refused because of an old token.
      if (response.canceled) this.#token = undefined;
      if (!isClosed) handlers.onResponse(response);
    };
    const open = async (): Promise<void> => {
      const headers = { ...(await this.#headers(systemClock.now() + REQUEST_TIMEOUT_MS)), hasleader: 'true' };
      if (isClosed) return;
      stream = await connections.stream(WATCH, used, { headers, onMessage, onEnd: end });
      if (isClosed) stream.cancel();
      else stream.send({ createRequest: { ...range, progressNotify: true, fragment: true } });
    };
    open().catch(end);
    return {
      requestProgress: () => {
        if (isOpen && !isClosed) stream?.send({ progressRequest: {} });
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

  /**
   * Calls one member after the other, as long as `canRepeat` accepts the failure. `timeoutMs` limits all attempts together; by
   * default each has its own limit. Reports a certificate that is not accepted only if no other member has another problem.
   */
  async #callAny(called: Method, request: object, { canRepeat, timeoutMs }: CallAny): Promise<object> {
    const until = timeoutMs === undefined ? undefined : systemClock.now() + timeoutMs;
    let failure: EtcdError | undefined;
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#call(called, request, until === undefined ? undefined : until - systemClock.now());
      } catch (error) {
        if (!canRepeat(error)) throw error;
        // What a member says explains more than that there is no connection to another one.
        if (failure === undefined || failure instanceof EtcdCertificateError || error.mayBeDone) failure = error;
        if (attempt >= this.#connections.count || (until ?? Infinity) <= systemClock.now()) throw failure;
      }
    }
  }

  /** Calls a method of the API once, or twice if the token has to be renewed: then etcd has not executed the first call. */
  async #call(called: Method, message: object, timeoutMs = REQUEST_TIMEOUT_MS): Promise<object> {
    const until = systemClock.now() + timeoutMs;
    let token: Promise<string | undefined> | undefined;
    const send = async () => {
      const headers = await this.#headers(until);
      token = this.#token;
      return this.#connections.call(called, { message, headers, timeoutMs: until - systemClock.now() });
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

  /** The token of the user. Rejects after `until`, if authentication takes longer. */
  async #headers(until: number): Promise<Readonly<Record<string, string>>> {
    if (this.#auth === undefined) return {};
    const pending = this.#token ?? this.#requestToken(this.#auth);
    let undo: Undo = () => undefined;
    const late = new Promise<never>((_, reject) => {
      const expire = () => reject(new EtcdError('context deadline exceeded', { isUnavailable: true }));
      undo = systemClock.after(until - systemClock.now(), expire);
    });
    try {
      const token = await Promise.race([pending, late]);
      return token === undefined ? {} : { token };
    } finally {
      undo();
    }
  }

  #requestToken(auth: NonNullable<EtcdClientOptions['auth']>): Promise<string | undefined> {
    const pending = this.#authenticate(auth);
    this.#token = pending;
    // Requests that wait for it report the failure; the next one asks again.
    pending.catch(() => {
      if (this.#token === pending) this.#token = undefined;
    });
    return pending;
  }

  async #authenticate({ username: name, password }: NonNullable<EtcdClientOptions['auth']>) {
    const request = { message: { name, password }, headers: {}, timeoutMs: REQUEST_TIMEOUT_MS };
    try {
      const { token } = (await this.#connections.call(AUTHENTICATE, request)) as { readonly token: string };
      return token;
    } catch (error) {
      if (error instanceof EtcdError && IS_AUTH_DISABLED.test(error.message)) return undefined;
      // The request that needs the token was not sent.
      if (error instanceof EtcdError && error.mayBeDone) throw new EtcdError(error.message, { isUnavailable: true });
      throw error;
    }
  }
}
