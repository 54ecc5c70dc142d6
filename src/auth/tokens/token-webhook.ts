/**
 * Authentication by a token webhook: another server answers TokenReviews about bearer tokens.
 * upstream: apiserver/plugin/pkg/authenticator/token/webhook/webhook.go
 */
import { type Dialect, serviceGroup } from '../../meta/dialect.js';
import type { User } from '../../protocol/request.js';
import { quote } from '../../text/go/go-text.js';
import { onAbort, untilAborted } from '../../util/abort.js';
import { encodeBase64 } from '../../util/base64.js';
import { type Clock, systemClock, type Undo } from '../../util/clock.js';
import { isRecord, own } from '../../util/json.js';
import { refuseUnknownOptions } from '../../util/options.js';
import { sha256 } from '../../util/sha256.js';
import { fetchWebhooks, postUrl, WebhookStatusError } from '../../webhook/caller.js';
import { sendToBackend } from '../../webhook/connection.js';
import { nodeModules } from '../../webhook/node-connection.js';
import type {
  AuthenticatorContext,
  TokenAuthenticator,
  TokenAuthenticatorFactory,
  TokenCaller,
  TokenIdentity,
} from '../authentication.js';
import { MAX_TOKEN_LENGTH } from './compact.js';

export interface TokenWebhookOptions {
  /** Receives the TokenReviews, with the parameter `timeout`. */
  readonly url: string;
  /** The CA certificates (PEM) of the webhook. Default: those of the platform. Effective in Node only. */
  readonly ca?: string | undefined;
  /** The credentials of the cluster. */
  readonly token?: string | (() => string | Promise<string>) | undefined;
  /** How long results are cached, in milliseconds; 0: not at all. Default: two minutes. */
  readonly cacheTtlMs?: number | undefined;
  /** The version of TokenReview. Default: v1beta1. */
  readonly version?: 'v1' | 'v1beta1' | undefined;
  /** Sends the requests instead of the platform's `fetch`. */
  readonly fetch?: ((url: string, init: RequestInit) => Promise<Response>) | undefined;
}

const OPTIONS = [
  'url',
  'ca',
  'token',
  'cacheTtlMs',
  'version',
  'fetch',
] as const satisfies readonly (keyof TokenWebhookOptions)[];

const DEFAULT_TTL_MS = 120_000;
const REQUEST_TIMEOUT_SECONDS = 30;
/**
 * upstream: apiserver/pkg/authentication/token/cache/cached_token_authenticator.go sharedLookupTimeout
 */
const LOOKUP_TIMEOUT_MS = 30_000;
/** Each review is a connection to the webhook. The tokens of clients without credentials are reviewed, too. */
const MAX_REVIEWS = 256;

/** Delays before further attempts after a transient failure. */
const RETRY_DELAYS_MS = [500, 750, 1125, 1687];

/**
 * Asks a webhook about tokens that no other authenticator of the cluster recognizes. Throws a TypeError for invalid options.
 *
 * @example
 * const webhook = tokenWebhook({ url: 'https://login.example.com/authenticate', version: 'v1' });
 * const cluster = createCluster({ authentication: { authenticators: [webhook] } });
 */
export function tokenWebhook(options: TokenWebhookOptions): TokenAuthenticatorFactory {
  refuseUnknownOptions('tokenWebhook', options, OPTIONS);
  const { url, version = 'v1beta1', cacheTtlMs = DEFAULT_TTL_MS } = options;
  if (typeof url !== 'string' || !URL.canParse(url)) throw new TypeError('orchplane: tokenWebhook needs a url');
  if (version !== 'v1' && version !== 'v1beta1') {
    throw new TypeError(
      `orchplane: unsupported authentication webhook version ${quote(String(version))}, supported versions are "v1", "v1beta1"`,
    );
  }
  if (!Number.isFinite(cacheTtlMs)) throw new TypeError('orchplane: cacheTtlMs of tokenWebhook must be a number');
  const settings = { ...options, version, cacheTtlMs };
  return {
    createAuthenticator(context) {
      return cached(withDeadline(reviewer(settings, context), url), settings.cacheTtlMs, context.clock);
    },
  };
}

type Settings = TokenWebhookOptions & { readonly version: string; readonly cacheTtlMs: number };

/** Rejects with the reason of the signal when it aborts. */
type Ask = (question: Question, signal: AbortSignal) => Promise<TokenIdentity | undefined>;

function reviewer(settings: Settings, { dialect, audiences: serverAudiences }: AuthenticatorContext): Ask {
  const turns = new Turns(MAX_REVIEWS);
  return async (question, signal) => {
    const { audiences } = question;
    const status = await turns.run(signal, () => reviewWithRetries(question, { settings, dialect, signal }));
    const madeFor = textsOf(own(status, 'audiences'));
    const valid = new Set(madeFor.length > 0 ? madeFor : serverAudiences);
    const accepted = audiences.filter((each) => valid.has(each));
    if (accepted.length === 0) return undefined;
    if (own(status, 'authenticated') === true) return { user: userOf(own(status, 'user')), audiences: accepted };
    const error = own(status, 'error');
    if (typeof error === 'string' && error !== '') throw new Error(error);
    return undefined;
  };
}

interface Question {
  readonly token: string;
  readonly audiences: readonly string[];
}

interface ReviewContext {
  readonly settings: Settings;
  readonly dialect: Dialect;
  readonly signal: AbortSignal;
}

async function reviewWithRetries(question: Question, context: ReviewContext) {
  for (const delayMs of RETRY_DELAYS_MS) {
    try {
      return await review(question, context);
    } catch (error) {
      if (context.signal.aborted || !isTransient(error)) throw error;
    }
    await delay(delayMs, context.signal);
  }
  return review(question, context);
}

function delay(ms: number, signal: AbortSignal): Promise<void> {
  let undo: Undo | undefined;
  const over = new Promise<void>((resolve) => {
    undo = systemClock.after(ms, resolve, { background: true });
  });
  return untilAborted(over, signal).finally(undo);
}

/** Whether another attempt may succeed. */
function isTransient(error: unknown): boolean {
  if (error instanceof WebhookStatusError) return [429, 500, 504].includes(error.status) || error.hasRetryAfter;
  // `fetch` wraps the error of the connection.
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if ('code' in cause && cause.code === 'ECONNRESET') return true;
  }
  return false;
}

async function review({ token, audiences }: Question, { settings, dialect, signal }: ReviewContext) {
  const apiVersion = `${dialect.group(serviceGroup('authentication'))}/${settings.version}`;
  const body = { kind: 'TokenReview', apiVersion, metadata: {}, spec: { token, audiences }, status: { user: {} } };
  const post = fetchWebhooks(systemClock, { fetch: await senderOf(settings, signal) });
  const answer = await post({ url: settings.url }, body, REQUEST_TIMEOUT_SECONDS);
  if (!isRecord(answer) || own(answer, 'kind') !== 'TokenReview' || own(answer, 'apiVersion') !== apiVersion) {
    throw new Error(wrongAnswer(answer, settings.version));
  }
  const found = own(answer, 'status');
  return isRecord(found) ? found : {};
}

function wrongAnswer(answer: unknown, version: string): string {
  const { apiVersion, kind } = isRecord(answer) ? answer : {};
  if (typeof apiVersion !== 'string' || typeof kind !== 'string')
    return 'the webhook did not respond with a TokenReview';
  const found = `${apiVersion.split('/').at(-1)}.${kind}`;
  return `converting (${found}) to (${version}.TokenReview): unknown conversion`;
}

type Send = NonNullable<TokenWebhookOptions['fetch']>;

async function senderOf({ ca, token, fetch: custom }: Settings, signal: AbortSignal): Promise<Send> {
  const backend = ca === undefined ? {} : { caBundle: btoa(ca) };
  const sendUntil = custom ?? ((to: string, init: RequestInit) => sendToBackend(to, init, backend));
  const send: Send = (to, init) =>
    sendUntil(to, { ...init, signal: init.signal ? AbortSignal.any([init.signal, signal]) : signal });
  const credential = typeof token === 'function' ? await token() : token;
  if (credential === undefined) return send;
  return (to, init) => {
    const headers = new Headers(init.headers);
    headers.set('authorization', `Bearer ${credential}`);
    return send(to, { ...init, headers });
  };
}

function userOf(value: unknown): User {
  const user = isRecord(value) ? value : {};
  const { username, uid, groups, extra } = user;
  const extras = isRecord(extra) ? Object.entries(extra).map(([key, values]) => [key, textsOf(values)] as const) : [];
  return {
    user: typeof username === 'string' ? username : '',
    ...(typeof uid === 'string' && uid !== '' ? { uid } : {}),
    groups: textsOf(groups),
    ...(extras.length === 0 ? {} : { extra: Object.fromEntries(extras) }),
  };
}

function textsOf(list: unknown): readonly string[] {
  return Array.isArray(list) ? list.filter((each) => typeof each === 'string') : [];
}

/** Limits a lookup with all its attempts, and the time until its turn. */
function withDeadline(ask: Ask, url: string): Ask {
  return (question, signal) => {
    const expiry = new AbortController();
    const expired = (): void =>
      expiry.abort(new Error(`Post ${quote(postUrl({ url }, REQUEST_TIMEOUT_SECONDS))}: context deadline exceeded`));
    const undo = systemClock.after(LOOKUP_TIMEOUT_MS, expired, { background: true });
    const either = AbortSignal.any([signal, expiry.signal]);
    // A custom `fetch` may ignore the signal.
    return untilAborted(ask(question, either), either).finally(undo);
  };
}

/** Limits how many tasks run at the same time; the others wait in order of arrival. */
class Turns {
  #free: number;
  readonly #waiting = new Set<() => void>();

  constructor(count: number) {
    this.#free = count;
  }

  async run<Result>(signal: AbortSignal, task: () => Promise<Result>): Promise<Result> {
    if (this.#free > 0) this.#free--;
    else await this.#wait(signal);
    try {
      return await untilAborted(task(), signal);
    } finally {
      const [next] = this.#waiting;
      if (next === undefined) this.#free++;
      else next();
    }
  }

  /** Resolves when another task has left its place to this one. */
  #wait(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const enter = (): void => {
        this.#waiting.delete(enter);
        undo();
        resolve();
      };
      this.#waiting.add(enter);
      const undo = onAbort(signal, () => {
        this.#waiting.delete(enter);
        reject(signal.reason);
      });
    });
  }
}

/** A question to the webhook that requests with the same token share. It ends when no client waits for it any more. */
class Lookup {
  readonly result: Promise<TokenIdentity | undefined>;
  readonly #abandon: () => void;
  #waiting = 0;

  /** `onAbandoned` is called before the result rejects: a new request must not wait for it. */
  constructor(ask: (signal: AbortSignal) => Promise<TokenIdentity | undefined>, onAbandoned: () => void) {
    const controller = new AbortController();
    this.#abandon = () => {
      onAbandoned();
      controller.abort(new Error('the client closed the connection before its token was reviewed'));
    };
    this.result = ask(controller.signal);
  }

  wait(caller: TokenCaller | undefined): Promise<TokenIdentity | undefined> {
    this.#waiting++;
    if (caller === undefined) return this.result;
    const { signal } = caller;
    const undo = onAbort(signal, () => {
      if (--this.#waiting === 0) this.#abandon();
    });
    this.result.then(undo, undo);
    return untilAborted(this.result, signal);
  }
}

interface CachedResult {
  readonly lookup: Lookup;
  characters: number;
  /** Undefined while the webhook is being asked. */
  expiresAt: number | undefined;
}

/** The maximum number of cached results, and of the characters of their keys and users: unknown tokens are cached, too. */
const MAX_CACHED = 32_768;
const MAX_CACHED_CHARACTERS = 16 * 1024 * 1024;

/** Caches results but not errors. Requests with the same token at the same time share one lookup. */
function cached(ask: Ask, ttlMs: number, clock: Clock): TokenAuthenticator {
  const results = new Map<string, CachedResult>();
  const digest = createDigest();
  let characters = 0;
  const remove = (key: string): void => {
    characters -= results.get(key)?.characters ?? 0;
    results.delete(key);
  };
  const makeRoom = (): void => {
    for (const oldest of results.keys()) {
      if (results.size <= MAX_CACHED && characters <= MAX_CACHED_CHARACTERS) break;
      remove(oldest);
    }
  };
  return (token, audiences, caller) => {
    // Clients without credentials could make the webhook busy with megabytes.
    if (token.length > MAX_TOKEN_LENGTH) return undefined;
    const key = digest(JSON.stringify([token, ...audiences]));
    const known = results.get(key);
    if (known !== undefined && (known.expiresAt === undefined || clock.now() < known.expiresAt)) {
      // Re-inserting moves the key to the end of the Map's order.
      results.delete(key);
      results.set(key, known);
      return known.expiresAt === undefined ? known.lookup.wait(caller) : known.lookup.result;
    }
    const forget = (): void => {
      if (results.get(key) === entry) remove(key);
    };
    const lookup = new Lookup((signal) => ask({ token, audiences }, signal), forget);
    const entry: CachedResult = { lookup, characters: key.length, expiresAt: undefined };
    remove(key);
    results.set(key, entry);
    characters += entry.characters;
    makeRoom();
    lookup.result.then((identity) => {
      if (ttlMs <= 0) return forget();
      entry.expiresAt = clock.now() + ttlMs;
      if (results.get(key) !== entry) return undefined;
      const length = JSON.stringify(identity)?.length ?? 0;
      entry.characters += length;
      characters += length;
      return makeRoom();
    }, forget);
    return lookup.wait(caller);
  };
}

/** The keys of a cache that neither contains tokens nor grows with their length. */
function createDigest(): (text: string) => string {
  const crypto = nodeModules()?.crypto;
  if (crypto === undefined) return (text) => encodeBase64(sha256(text));
  return (text) => crypto.createHash('sha256').update(text).digest('base64');
}
