/**
 * Calls webhooks for conversion and admission, as configured by `createCluster({ webhooks })` or else with `fetch`. Every
 * call is subject to its timeout, and errors have the reference server's messages.
 */

import type { WebhookAddress, WebhookCaller, WebhookFunction, WebhookResolver, Webhooks } from '../kinds/reconciler.js';
import type { ApiObject } from '../meta/object.js';
import { quote } from '../text/go/go-text.js';
import { JsonSyntaxError, parseJson } from '../text/json/parse-json.js';
import { pemBlocks } from '../text/x509/pem.js';
import type { Clock } from '../util/clock.js';
import { cloneJson, copyJson, escapeForPages, isRecord, printJson } from '../util/json.js';
import { messageOf } from '../util/message-of.js';

/** What calls need of their cluster. */
export interface WebhookContext {
  readonly clock: Clock;
  /** Looks up a Service: a webhook behind a missing Service cannot be reached. */
  service(namespace: string, name: string): ApiObject | undefined;
}

/**
 * Creates the webhook caller of a cluster. It rejects with the reference server's message. A custom caller enforces the
 * timeout itself; resolved functions are abandoned when it expires.
 */
export function createWebhookCaller(webhooks: Webhooks | undefined, context: WebhookContext): WebhookCaller {
  if (typeof webhooks !== 'function') return resolvingCaller(webhooks, context);
  return async (address, review, timeoutSeconds) => webhooks(address, copyJson(review), timeoutSeconds);
}

function resolvingCaller(resolver: WebhookResolver | undefined, context: WebhookContext): WebhookCaller {
  const { clock } = context;
  const send = resolver?.fetch;
  return async (address, review, timeoutSeconds) => {
    const found = resolver?.resolve(address);
    if (typeof found === 'function') {
      const url = postUrl(address, timeoutSeconds);
      // A copy, because the function may change it.
      const call = () => callFunction(found, copyJson(review), url);
      return withTimeLimit(call, { clock, address, timeoutSeconds });
    }
    if (found === undefined) {
      checkBundle(address);
      requireService(address, context, timeoutSeconds);
    }
    return fetchWebhooks(clock, { fetch: send, sendTo: found })(address, review, timeoutSeconds);
  };
}

/** An error thrown by the function is reported like a connection failure. */
async function callFunction(call: WebhookFunction, review: Record<string, unknown>, url: string): Promise<unknown> {
  let answer: unknown;
  try {
    answer = cloneJson(await call(review));
  } catch (error) {
    throw new Error(`Post ${quote(url)}: ${thrownMessage(error)}`, { cause: error });
  }
  if (answer === undefined)
    throw new Error('0-length response with status code: 200 and content type: application/json');
  return answer;
}

/** The caBundle cannot be parsed; the webhook is not called. */
export class UnreadableBundle extends Error {
  override readonly name = 'UnreadableBundle';
}

function checkBundle({ caBundle = '' }: WebhookAddress): void {
  if (caBundle !== '' && pemBlocks(atob(caBundle)).length === 0)
    throw new UnreadableBundle('unable to load root certificates: unable to parse bytes as PEM block');
}

/** Rejects Services without a cluster IP or without the port. */
function requireService(
  { service: wanted }: WebhookAddress,
  { service }: WebhookContext,
  timeoutSeconds: number,
): void {
  if (wanted === undefined) return;
  const { namespace, name, port = 443 } = wanted;
  const fail = (why: string) => new Error(`Post ${quote(postUrl({ service: wanted }, timeoutSeconds))}: ${why}`);
  const found = service(namespace, name);
  if (found === undefined) throw fail(`service ${quote(name)} not found`);
  const spec = isRecord(found['spec']) ? found['spec'] : {};
  if (spec['type'] === 'ExternalName') return;
  if (spec['clusterIP'] === 'None') throw fail('cannot route to service with ClusterIP "None"');
  const ports: readonly unknown[] = Array.isArray(spec['ports']) ? spec['ports'] : [];
  if (ports.some((item) => isRecord(item) && item['port'] === port)) return;
  throw fail(`no service port ${port} found for service ${quote(name)}`);
}

/** Settles like `run`, or rejects when the timeout expires; later results are ignored. */
export function withTimeLimit(
  run: () => Promise<unknown>,
  limit: { readonly clock: Clock; readonly address: WebhookAddress; readonly timeoutSeconds: number },
): Promise<unknown> {
  const { clock, address, timeoutSeconds } = limit;
  return new Promise((resolve, reject) => {
    const expire = (): void => {
      reject(new Error(`Post ${quote(postUrl(address, timeoutSeconds))}: context deadline exceeded`));
    };
    const undo = clock.after(timeoutSeconds * 1000, expire);
    run().then(resolve, reject).finally(undo);
  });
}

function thrownMessage(error: unknown): string {
  if (error instanceof Error) return error.message;
  return typeof error === 'string' ? error : `it threw ${error === undefined ? 'nothing' : `a ${typeof error}`}`;
}

/** Maximum length of a response. */
const MAX_RESPONSE = 3 * 1024 * 1024;

/** The reason with which a timed-out request is aborted. */
class Timeout extends Error {}

interface FetchOptions {
  /** Default: the global `fetch`. */
  readonly fetch?: typeof fetch | undefined;
  /** The actual address of the webhook; messages name the configured one. */
  readonly sendTo?: string | undefined;
}

/** Calls webhooks at their configured addresses. Services are addressed by their cluster DNS names. */
export function fetchWebhooks(clock: Clock, options: FetchOptions = {}): WebhookCaller {
  const send = options.fetch ?? fetch;
  return async (address, review, timeoutSeconds) => {
    const url = postUrl(address, timeoutSeconds);
    const target = options.sendTo === undefined ? url : withTimeout(options.sendTo, timeoutSeconds);
    const timeout = new AbortController();
    const undo = clock.after(timeoutSeconds * 1000, () => timeout.abort(new Timeout()), { background: true });
    const request = {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json, */*' },
      body: escapeForPages(printJson(review)),
      signal: timeout.signal,
    };
    let response: Response;
    let text: string;
    try {
      response = await send(target, request);
      text = await response.text();
    } catch (error) {
      throw new Error(`Post ${quote(url)}: ${networkProblem(error, target)}`, { cause: error });
    } finally {
      undo();
    }
    if (response.status < 200 || response.status > 206) throw new Error(statusProblem(response, text));
    if (text.length > MAX_RESPONSE) throw new Error('the webhook response is too large');
    if (text === '') throw new Error(`0-length response with ${responseSummary(response)}`);
    return parseDocument(text);
  };
}

/** The URL of a webhook as it appears in messages. */
export function postUrl({ url, service }: WebhookAddress, timeoutSeconds: number): string {
  if (service !== undefined && url === undefined) {
    const { namespace, name, path = '', port = 443 } = service;
    return `https://${name}.${namespace}.svc:${port}${cleanPath(path)}?timeout=${timeoutSeconds}s`;
  }
  // Validation ensures that the URL has no query or fragment.
  const parts = /^([a-z]+:\/\/)(?:[^/?#]*@)?([^/?#]*)([^?#]*)/i.exec(url ?? '');
  if (parts === null) throw new Error('webhook configuration must have either service or URL');
  const [, scheme = '', host = '', path = ''] = parts;
  return `${scheme}${host}${cleanPath(path)}?timeout=${timeoutSeconds}s`;
}

/** Normalizes a path: one leading slash, none at the end, no dot segments. */
function cleanPath(path: string): string {
  const steps: string[] = [];
  for (const step of path.split('/')) {
    if (step === '..') steps.pop();
    else if (step !== '' && step !== '.') steps.push(step.replace(UNSAFE_IN_PATHS, encodeURIComponent));
  }
  return `/${steps.join('/')}`;
}

const UNSAFE_IN_PATHS = /[^A-Za-z0-9\-._~!$&'()*+,;=:@%]/gu;

/** The timeout parameter is sent in any case. */
function withTimeout(url: string, seconds: number): string {
  const target = new URL(url);
  target.searchParams.set('timeout', `${seconds}s`);
  return target.href;
}

/** The message of Go's network library where it is known, else the platform's. */
function networkProblem(error: unknown, url: string): string {
  if (error instanceof Timeout) return 'context deadline exceeded';
  const cause: unknown = error instanceof Error ? error.cause : undefined;
  if (isRecord(cause)) {
    const { code, address, port, hostname } = cause;
    if (code === 'ECONNREFUSED' && address !== undefined)
      return `dial tcp ${address}:${port}: connect: connection refused`;
    if (code === 'ENOTFOUND') return `dial tcp: lookup ${hostname}: no such host`;
  }
  // Platforms block some ports; report them as closed.
  if (cause instanceof Error && cause.message === 'bad port') {
    const { hostname, port } = new URL(url);
    return `dial tcp ${hostname}:${port}: connect: connection refused`;
  }
  const reason = cause instanceof Error ? cause.message : undefined;
  return reason ?? messageOf(error);
}

function responseSummary({ status, headers }: Response): string {
  return `status code: ${status} and content type: ${headers.get('content-type') ?? ''}`;
}

/** Keeps large integers. Text that is not JSON is a YAML string, as the reference server accepts YAML as well. */
function parseDocument(text: string): unknown {
  try {
    return parseJson(text).value;
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    if (!/^\s*[{[]/.test(text)) return text;
    throw new Error(`couldn't get version/kind; json parse error: ${error.message}`, { cause: error });
  }
}

/** Messages for responses that are not a Status. */
const STATUS_PROBLEMS: Readonly<Record<number, string>> = {
  400: 'the server rejected our request for an unknown reason',
  401: 'the server has asked for the client to provide credentials',
  404: 'the server could not find the requested resource',
  405: 'the server does not allow this method on the requested resource',
  409: 'the server reported a conflict',
  422: 'the server rejected our request due to an error in our request',
  429: 'the server has received too many requests and has asked us to try again later',
  503: 'the server is currently unable to handle the request',
  504: 'the server was unable to return a response in the time allotted, but may still be processing the request',
};

/** Longer response texts are truncated in messages. */
const MAX_TEXT = 2048;

function statusProblem({ status, headers }: Response, text: string): string {
  const own = messageOfStatus(text);
  if (own !== undefined) return own;
  const type = headers.get('content-type') ?? '';
  const excerpt = type === '' || type.startsWith('text/') ? text.slice(0, MAX_TEXT).trim() : 'unknown';
  if (status === 403 || status === 406 || status === 415) return excerpt;
  const message = STATUS_PROBLEMS[status];
  if (message !== undefined) return message;
  if (status >= 500) return `an error on the server (${quote(excerpt)}) has prevented the request from succeeding`;
  return `the server responded with the status code ${status} but did not return more information`;
}

/** The message of a Status response. */
function messageOfStatus(text: string): string | undefined {
  try {
    const body: unknown = parseJson(text).value;
    const isStatus = isRecord(body) && body['kind'] === 'Status' && body['apiVersion'] === 'v1';
    return isStatus && typeof body['message'] === 'string' ? body['message'] : undefined;
  } catch (error) {
    if (error instanceof JsonSyntaxError) return undefined;
    throw error;
  }
}
