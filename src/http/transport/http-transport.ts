/**
 * The client's way to a cluster that is elsewhere: requests of the protocol as HTTP, through fetch. It answers as a
 * cluster in this process does, only later, and with objects of its own instead of shared ones.
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
import { addressOf, type Content, contentOf, headersOf, METHODS, readBaseUrl } from './encode-request.js';
import { answerOf, failureOf, isSuccess } from './read-response.js';
import { isReset, unreachable } from './response-errors.js';

export interface HttpTransportOptions {
  /** Where the cluster is, with the path that stands before `/api` and `/apis` if there is one. */
  readonly baseUrl: string | URL;
  /** How requests travel: the platform's own fetch unless said otherwise. What `createFetchHandler` makes fits. */
  readonly fetch?: Fetch | undefined;
  /** Who asks, as a bearer token. A function is asked for it before each request, so that it may renew it. */
  readonly token?: string | (() => string | Promise<string>) | undefined;
  /** Sent with every request. What the transport itself has to say under a name goes before what stands here. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /**
   * The names the other end speaks; `orch` unless said otherwise, as `createCluster` has it. `kubernetes` for a cluster of
   * that name, and for what `orchplane serve` serves.
   */
  readonly dialect?: DialectName | undefined;
  /** For the waits between attempts, and for the client's own; the machine's unless said otherwise. */
  readonly clock?: Clock | undefined;
  /** From it the server takes the manager of fields whose writer names none; `orchplane` unless said otherwise. */
  readonly userAgent?: string | undefined;
  /**
   * How often a request is made again at most. Made again is what the server refused with 429 or 503 and a Retry-After
   * of at most a minute, after that time and whatever the verb, because a server that says so has done nothing; and a
   * read on a connection that was reset, at once. Unless said otherwise 10, as the reference client does; 0: never.
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
 * A transport to a cluster over HTTP, for `createClient`. It has no life of its own: nothing to close. Throws TypeError
 * for options that cannot be meant.
 *
 * @example
 * const transport = httpTransport({ baseUrl: 'https://cluster.example:6443', token: 'secret' })
 */
export function httpTransport(options: HttpTransportOptions): Transport {
  checkOptions(options);
  const setting: Setting = {
    baseUrl: readBaseUrl(options.baseUrl),
    // Called as functions and not as methods, which the fetch of a page would refuse.
    fetch: ownFetch(options.fetch),
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

/** Nobody should have to send a request to learn that no request can succeed. */
function checkOptions(options: unknown): asserts options is HttpTransportOptions {
  if (!isRecord(options)) throw new TypeError('orchplane: httpTransport takes an object of options, with baseUrl');
  refuseUnknownOptions('httpTransport', options, OPTIONS);
  const { fetch, token, retries } = options;
  if (fetch !== undefined && typeof fetch !== 'function') throw new TypeError('orchplane: fetch is no function');
  if (typeof token !== 'function') checkedToken(token);
  if (retries !== undefined && !(typeof retries === 'number' && Number.isSafeInteger(retries) && retries >= 0)) {
    throw new TypeError(`orchplane: retries is a whole number from 0 on, and not ${String(retries)}`);
  }
}

interface Setting {
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

/** The platform's is looked up late, so that a test may still put another in its place. */
function ownFetch(given: Fetch | undefined): Fetch {
  return given === undefined ? (request) => fetch(request) : (request) => given(request);
}

async function send(setting: Setting, request: ApiRequest): Promise<ApiResponse> {
  const { signal } = request;
  signal?.throwIfAborted();
  // Made before anything is waited for: what the caller does with its object afterwards is no part of this request.
  const exchange: Exchange = {
    setting,
    request,
    url: addressOf(setting.baseUrl, request),
    content: contentOf(request),
  };
  for (let left = setting.retries; ; left--) {
    const outcome = await attempt(exchange);
    if (outcome.type === 'answer') return outcome.answer;
    if (left <= 0 || outcome.retryAfterMs === undefined) throw outcome.error;
    if (outcome.retryAfterMs > 0) await pause(outcome.retryAfterMs, setting.clock, signal);
  }
}

/** One request on its way, for all of its attempts. */
interface Exchange {
  readonly setting: Setting;
  readonly request: ApiRequest;
  readonly url: string;
  readonly content: Content | undefined;
}

type Attempt =
  | { readonly type: 'answer'; readonly answer: ApiResponse }
  /** `retryAfterMs` is absent when another attempt would help nobody. */
  | { readonly type: 'failure'; readonly error: StatusError; readonly retryAfterMs?: number };

/** Throws the signal's reason once it has aborted; whatever else fails is an outcome. */
async function attempt(exchange: Exchange): Promise<Attempt> {
  const { setting, request } = exchange;
  const { signal } = request;
  // One of our own: a platform's fetch would hang a listener of its own on the caller's signal each time.
  const stop = new AbortController();
  const off = onAbort(signal, () => stop.abort(signal?.reason));
  try {
    const headers = await headersFor(exchange);
    signal?.throwIfAborted();
    const body = exchange.content?.text ?? null;
    const init = { method: METHODS[request.verb], headers, body, signal: stop.signal, redirect: 'manual' as const };
    const response = await responseTo(() => setting.fetch(new Request(exchange.url, init)), signal);
    if (!isSuccess(response)) {
      const error = await failureOf({ request, dialect: setting.dialect }, response);
      return { type: 'failure', error, ...retryOnRefusal(error) };
    }
    return { type: 'answer', answer: await answerOf(request, response) };
  } catch (error) {
    signal?.throwIfAborted();
    if (StatusError.is(error)) return { type: 'failure', error };
    if (error instanceof NoResponse) return unreached(exchange, error.cause);
    throw error;
  } finally {
    off();
  }
}

async function headersFor({ setting, request, content }: Exchange): Promise<Headers> {
  const { user, signal, userAgent = setting.userAgent } = request;
  const token = checkedToken(await untilAborted(readToken(setting.token), signal));
  const joinsHeaders = setting.isPlatformFetch;
  return headersOf({ fixed: setting.headers, userAgent, token, contentType: content?.type, user, joinsHeaders });
}

async function readToken(given: Setting['token']): Promise<string | undefined> {
  try {
    return typeof given === 'function' ? await given() : given;
  } catch (cause) {
    throw failure({ reason: 'Unauthorized', message: `getting credentials: ${String(cause)}`, details: {}, cause });
  }
}

/** Marks what fetch rejected with, to tell it from our own faults. */
class NoResponse extends Error {
  override readonly name = 'NoResponse';
}

async function marked(ask: () => Promise<Response>): Promise<Response> {
  try {
    return await ask();
  } catch (cause) {
    throw new NoResponse('there was no response', { cause });
  }
}

/** The response, unless the signal aborts first; one that comes later all the same is let go. */
async function responseTo(ask: () => Promise<Response>, signal: AbortSignal | undefined): Promise<Response> {
  const asked = marked(ask);
  try {
    return await untilAborted(asked, signal);
  } catch (error) {
    // Nobody waits for it: neither how it ends nor whether it can be cancelled concerns anyone.
    asked.then((response) => response.body?.cancel()).catch(() => undefined);
    throw error;
  }
}

/** A read on a broken connection is made again at once; a write may have been done. */
function unreached({ request, url }: Exchange, cause: unknown): Attempt {
  const again = isReset(cause) && METHODS[request.verb] === 'GET';
  return { type: 'failure', error: unreachable(request, url, cause), ...(again ? { retryAfterMs: 0 } : {}) };
}

/** Longer than this nobody is kept waiting without knowing why. */
const LONGEST_WAIT_SECONDS = 60;

function retryOnRefusal({ code, status }: StatusError): { readonly retryAfterMs?: number } {
  const seconds = status.details?.retryAfterSeconds;
  if (seconds === undefined || seconds > LONGEST_WAIT_SECONDS || (code !== 429 && code !== 503)) return {};
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

/** The same token. Throws TypeError for one that no header can carry, without showing it. */
function checkedToken(token: unknown): string | undefined {
  if (token === undefined) return undefined;
  const problem = typeof token === 'string' ? problemOf(token) : 'is no text';
  if (problem !== undefined) throw new TypeError(`orchplane: the token ${problem}`);
  return token as string;
}

function problemOf(token: string): string | undefined {
  if (token === '') return 'is empty';
  // Files end with a line break, and variables that were pasted with a space.
  if (/^\s|\s$/.test(token)) return 'begins or ends with a space or a line break; trim() takes them away';
  if (/[\r\n]/.test(token)) return 'holds a line break, which no header can carry';
  if (/\s/.test(token)) return 'holds a space, which no bearer token has; the word Bearer is put before it anyway';
  return /^[\x21-\x7e]+$/.test(token) ? undefined : 'holds characters other than those of ASCII that can be seen';
}
