/**
 * A transport to a remote cluster: sends ApiRequests over HTTP with fetch. It behaves like a cluster in this process,
 * except that it is asynchronous and its objects are not shared.
 */
import type { Dialect, DialectName } from '../../meta/dialect.js';
import { dialectNamed } from '../../meta/dialect.js';
import { failure, StatusError } from '../../meta/errors.js';
import type { ApiRequest } from '../../protocol/request.js';
import type { ApiResponse } from '../../protocol/response.js';
import type { Transport } from '../../protocol/transport.js';
import { onAbort, untilAborted } from '../../util/abort.js';
import { type Clock, systemClock, type Undo } from '../../util/clock.js';
import { isRecord } from '../../util/json.js';
import { refuseUnknownOptions } from '../../util/options.js';
import { type Content, encodeContent, encodeHeaders, METHODS, readBaseUrl, requestUrl } from './encode-request.js';
import { isSuccess, readFailure, readResponse } from './read-response.js';
import { isReset, unreachableError } from './response-errors.js';

/** The options of {@link httpTransport}. */
export interface HttpTransportOptions {
  /** The URL of the cluster, including any path in front of `/api` and `/apis`. */
  readonly baseUrl: string | URL;
  /** The fetch function; the platform's by default. The result of `createFetchHandler` works too. */
  readonly fetch?: Fetch | undefined;
  /** The bearer token. A function is called before each request, so that it can renew the token. */
  readonly token?: string | (() => string | Promise<string>) | undefined;
  /** Headers of every request. Headers that the transport sets itself take precedence. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /**
   * The server's dialect; `orch` by default, as in `createCluster`. Use `kubernetes` for a Kubernetes cluster and for
   * `orchplane serve`.
   */
  readonly dialect?: DialectName | undefined;
  /** Used for retries and by the client; the system clock by default. */
  readonly clock?: Clock | undefined;
  /**
   * The User-Agent, from which the server derives the field manager of writes that name none; `orchplane` by default.
   */
  readonly userAgent?: string | undefined;
  /**
   * The maximum number of retries; 10 by default, as in the reference client; 0 disables them. Retried are responses
   * 429 and 503 with a Retry-After of at most a minute (for every verb: such a server has done nothing), and reads on a
   * connection that was reset (at once).
   */
  readonly retries?: number | undefined;
}

type Fetch = (request: Request) => Promise<Response>;

const OPTIONS = [
  'baseUrl',
  'fetch',
  'token',
  'headers',
  'dialect',
  'clock',
  'userAgent',
  'retries',
] as const satisfies readonly (keyof HttpTransportOptions)[];

/**
 * Creates a transport to a cluster over HTTP, for `createClient`. It needs no closing. Throws TypeError for invalid
 * options.
 *
 * @example
 * const transport = httpTransport({ baseUrl: 'https://cluster.example:6443', token: 'secret' })
 */
export function httpTransport(options: HttpTransportOptions): Transport {
  checkOptions(options);
  const setting: TransportSettings = {
    baseUrl: readBaseUrl(options.baseUrl),
    // Called as functions, not methods: the fetch of a browser rejects another `this`.
    fetch: resolveFetch(options.fetch),
    isPlatformFetch: options.fetch === undefined,
    token: options.token,
    headers: new Headers(options.headers),
    clock: options.clock ?? systemClock,
    userAgent: options.userAgent ?? 'orchplane',
    retries: options.retries ?? 10,
    dialect: dialectNamed(options.dialect ?? 'orch'),
  };
  const { dialect, clock } = setting;
  return Object.freeze({ dialect, clock, send: (request: ApiRequest) => send(setting, request) });
}

/** Rejects options with which no request can succeed. */
function checkOptions(options: unknown): asserts options is HttpTransportOptions {
  if (!isRecord(options)) throw new TypeError('orchplane: httpTransport takes an options object with baseUrl');
  refuseUnknownOptions('httpTransport', options, OPTIONS);
  const { fetch, token, retries } = options;
  if (fetch !== undefined && typeof fetch !== 'function') throw new TypeError('orchplane: fetch must be a function');
  if (typeof token !== 'function') checkedToken(token);
  if (retries !== undefined && !(typeof retries === 'number' && Number.isSafeInteger(retries) && retries >= 0)) {
    throw new TypeError(`orchplane: retries must be a non-negative integer, got ${String(retries)}`);
  }
}

interface TransportSettings {
  readonly baseUrl: string;
  readonly fetch: Fetch;
  readonly isPlatformFetch: boolean;
  readonly token: HttpTransportOptions['token'];
  readonly headers: Headers;
  readonly clock: Clock;
  readonly userAgent: string;
  readonly retries: number;
  readonly dialect: Dialect;
}

/** The platform's fetch is looked up on each call, so that a test can replace it. */
function resolveFetch(given: Fetch | undefined): Fetch {
  return given === undefined ? (request) => fetch(request) : (request) => given(request);
}

async function send(setting: TransportSettings, request: ApiRequest): Promise<ApiResponse> {
  const { signal } = request;
  signal?.throwIfAborted();
  // Encoded before the first await: later changes to the caller's object do not affect the request.
  const exchange: OutgoingRequest = {
    setting,
    request,
    url: requestUrl(setting.baseUrl, request),
    content: encodeContent(request),
  };
  for (let left = setting.retries; ; left--) {
    const outcome = await attempt(exchange);
    if (outcome.type === 'answer') return outcome.answer;
    if (left <= 0 || outcome.retryAfterMs === undefined) throw outcome.error;
    if (outcome.retryAfterMs > 0) await pause(outcome.retryAfterMs, setting.clock, signal);
  }
}

/** One request, for all of its attempts. */
interface OutgoingRequest {
  readonly setting: TransportSettings;
  readonly request: ApiRequest;
  readonly url: string;
  readonly content: Content | undefined;
}

type Attempt =
  | { readonly type: 'answer'; readonly answer: ApiResponse }
  /** `retryAfterMs` is absent when a retry would not help. */
  | { readonly type: 'failure'; readonly error: StatusError; readonly retryAfterMs?: number };

/** Throws the signal's reason when it has aborted; every other failure is an outcome. */
async function attempt(exchange: OutgoingRequest): Promise<Attempt> {
  const { setting, request } = exchange;
  const { signal } = request;
  // A separate controller: the platform's fetch would add a listener to the caller's signal for each request.
  const stop = new AbortController();
  const off = onAbort(signal, () => stop.abort(signal?.reason));
  try {
    const headers = await headersOf(exchange);
    signal?.throwIfAborted();
    const body = exchange.content?.text ?? null;
    const init = { method: METHODS[request.verb], headers, body, signal: stop.signal, redirect: 'manual' as const };
    const response = await fetchUntilAborted(() => setting.fetch(new Request(exchange.url, init)), signal);
    if (!isSuccess(response)) {
      const error = await readFailure({ request, dialect: setting.dialect }, response);
      return { type: 'failure', error, ...retryDelayOf(error) };
    }
    return { type: 'answer', answer: await readResponse(request, response) };
  } catch (error) {
    signal?.throwIfAborted();
    if (StatusError.is(error)) return { type: 'failure', error };
    if (error instanceof NoResponse) return connectionFailure(exchange, error.cause);
    throw error;
  } finally {
    off();
  }
}

async function headersOf({ setting, request, content }: OutgoingRequest): Promise<Headers> {
  const { user, signal, userAgent = setting.userAgent } = request;
  const token = checkedToken(await untilAborted(readToken(setting.token), signal));
  const joinsHeaders = setting.isPlatformFetch;
  return encodeHeaders({ fixed: setting.headers, userAgent, token, contentType: content?.type, user, joinsHeaders });
}

async function readToken(given: TransportSettings['token']): Promise<string | undefined> {
  try {
    return typeof given === 'function' ? await given() : given;
  } catch (cause) {
    throw failure({ reason: 'Unauthorized', message: `getting credentials: ${String(cause)}`, details: {}, cause });
  }
}

/** Wraps a rejection of fetch, to distinguish it from our own errors. */
class NoResponse extends Error {
  override readonly name = 'NoResponse';
}

async function markRejection(ask: () => Promise<Response>): Promise<Response> {
  try {
    return await ask();
  } catch (cause) {
    throw new NoResponse('there was no response', { cause });
  }
}

/** The response, unless the signal aborts first; a response that arrives later is cancelled. */
async function fetchUntilAborted(ask: () => Promise<Response>, signal: AbortSignal | undefined): Promise<Response> {
  const asked = markRejection(ask);
  try {
    return await untilAborted(asked, signal);
  } catch (error) {
    // The late response is not awaited, so its errors are ignored.
    asked.then((response) => response.body?.cancel()).catch(() => undefined);
    throw error;
  }
}

/** A read on a reset connection is retried at once; a write may already have been executed. */
function connectionFailure({ request, url }: OutgoingRequest, cause: unknown): Attempt {
  const again = isReset(cause) && METHODS[request.verb] === 'GET';
  return { type: 'failure', error: unreachableError(request, url, cause), ...(again ? { retryAfterMs: 0 } : {}) };
}

/** Longer waits are returned to the caller as errors. */
const MAX_WAIT_SECONDS = 60;

function retryDelayOf({ code, status }: StatusError): { readonly retryAfterMs?: number } {
  const seconds = status.details?.retryAfterSeconds;
  if (seconds === undefined || seconds > MAX_WAIT_SECONDS || (code !== 429 && code !== 503)) return {};
  return { retryAfterMs: seconds * 1_000 };
}

function pause(delayMs: number, clock: Clock, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    let off: Undo = () => undefined;
    const stopTimer = clock.after(delayMs, () => {
      off();
      resolve();
    });
    off = onAbort(signal, () => {
      stopTimer();
      reject(signal?.reason);
    });
  });
}

/** Validates a token. Throws TypeError for one that a header cannot carry, without disclosing it. */
export function checkedToken(token: unknown): string | undefined {
  if (token === undefined) return undefined;
  const problem = typeof token === 'string' ? tokenProblem(token) : 'is not a string';
  if (problem !== undefined) throw new TypeError(`orchplane: the token ${problem}`);
  return token as string;
}

function tokenProblem(token: string): string | undefined {
  if (token === '') return 'is empty';
  // Tokens from files end with a line break, pasted ones often with a space.
  if (/^\s|\s$/.test(token)) return 'begins or ends with white space; use trim()';
  if (/[\r\n]/.test(token)) return 'contains a line break, which a header cannot carry';
  if (/\s/.test(token)) return 'contains a space; give the token without "Bearer", which is added automatically';
  return /^[\x21-\x7e]+$/.test(token) ? undefined : 'contains characters other than printable ASCII';
}
