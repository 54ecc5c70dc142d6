/**
 * Authentication by a token webhook: another server answers TokenReviews about bearer tokens.
 * upstream: apiserver/plugin/pkg/authenticator/token/webhook/webhook.go
 */
import { type Dialect, serviceGroup } from '../../meta/dialect.js';
import type { User } from '../../protocol/request.js';
import { quote } from '../../text/go/go-text.js';
import { type Clock, systemClock } from '../../util/clock.js';
import { isRecord, own } from '../../util/json.js';
import { refuseUnknownOptions } from '../../util/options.js';
import { fetchWebhooks, WebhookStatusError } from '../../webhook/caller.js';
import { sendToBackend } from '../../webhook/connection.js';
import type {
  AuthenticatorContext,
  TokenAuthenticator,
  TokenAuthenticatorFactory,
  TokenIdentity,
} from '../authentication.js';

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
  return { createAuthenticator: (context) => cached(reviewer(settings, context), settings.cacheTtlMs, context.clock) };
}

type Settings = TokenWebhookOptions & { readonly version: string; readonly cacheTtlMs: number };

function reviewer(settings: Settings, { dialect, audiences: serverAudiences }: AuthenticatorContext) {
  return async (token: string, audiences: readonly string[]): Promise<TokenIdentity | undefined> => {
    const status = await reviewWithRetries({ token, audiences }, settings, dialect);
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

async function reviewWithRetries(question: Question, settings: Settings, dialect: Dialect) {
  for (const delayMs of RETRY_DELAYS_MS) {
    try {
      return await review(question, settings, dialect);
    } catch (error) {
      if (!isTransient(error)) throw error;
    }
    await new Promise<void>((resolve) => void systemClock.after(delayMs, resolve, { background: true }));
  }
  return review(question, settings, dialect);
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

async function review({ token, audiences }: Question, settings: Settings, dialect: Dialect) {
  const apiVersion = `${dialect.group(serviceGroup('authentication'))}/${settings.version}`;
  const body = { kind: 'TokenReview', apiVersion, metadata: {}, spec: { token, audiences }, status: { user: {} } };
  const post = fetchWebhooks(systemClock, { fetch: await senderOf(settings) });
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

async function senderOf({ ca, token, fetch: custom }: Settings): Promise<Send> {
  const backend = ca === undefined ? {} : { caBundle: btoa(ca) };
  const send = custom ?? ((to: string, init: RequestInit) => sendToBackend(to, init, backend));
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

interface CachedResult {
  readonly result: Promise<TokenIdentity | undefined>;
  /** Undefined while the webhook is being asked. */
  expiresAt: number | undefined;
}

/** The maximum number of cached results, and of the characters of their tokens: unknown tokens are cached, too. */
const MAX_CACHED = 32_768;
const MAX_CACHED_CHARACTERS = 16 * 1024 * 1024;

/** Caches results but not errors. Requests with the same token at the same time share one call. */
function cached(
  ask: (token: string, audiences: readonly string[]) => Promise<TokenIdentity | undefined>,
  ttlMs: number,
  clock: Clock,
): TokenAuthenticator {
  const results = new Map<string, CachedResult>();
  let characters = 0;
  const remove = (key: string): void => {
    if (results.delete(key)) characters -= key.length;
  };
  return (token, audiences) => {
    const key = JSON.stringify([token, ...audiences]);
    const known = results.get(key);
    if (known !== undefined && (known.expiresAt === undefined || clock.now() < known.expiresAt)) return known.result;
    const entry: CachedResult = { result: ask(token, audiences), expiresAt: undefined };
    remove(key);
    results.set(key, entry);
    characters += key.length;
    for (const oldest of results.keys()) {
      if (results.size <= MAX_CACHED && characters <= MAX_CACHED_CHARACTERS) break;
      remove(oldest);
    }
    const forget = (): void => {
      if (results.get(key) === entry) remove(key);
    };
    entry.result.then(() => {
      if (ttlMs > 0) entry.expiresAt = clock.now() + ttlMs;
      else forget();
    }, forget);
    return entry.result;
  };
}
