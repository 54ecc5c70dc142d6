/**
 * How webhooks are reached, for conversion and for admission: by whatever `createCluster({ webhooks })` says, else by
 * `fetch`. Whoever is called, nobody waits for longer than was said, and what goes wrong is told in the words of the
 * reference server.
 */

import type { WebhookAddress, WebhookCaller, WebhookFunction, WebhookResolver, Webhooks } from '../kinds/reconciler.js';
import type { ApiObject } from '../meta/object.js';
import { quote } from '../text/go/go-text.js';
import { JsonSyntaxError, parseJson } from '../text/json/parse-json.js';
import { pemBlocks } from '../text/x509/pem.js';
import type { Clock } from '../util/clock.js';
import { cloneJson, copyJson, escapeForPages, isRecord, printJson } from '../util/json.js';
import { messageOf } from '../util/message-of.js';

/** Answers of webhooks that are longer are not read to their end. */
const MAX_ANSWER = 3 * 1024 * 1024;

class Timeout extends Error {}

const UNSAFE_IN_PATHS = /[^A-Za-z0-9\-._~!$&'()*+,;=:@%]/gu;

/** What is said of an answer that is no Status. */
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

/** Longer texts are cut before they are told. */
const MAX_WORDS = 2048;

export interface WebhookSetting {
  readonly clock: Clock;
  /** A Service of the cluster: a webhook behind one that is not there cannot be reached. */
  service(namespace: string, name: string): ApiObject | undefined;
}

/**
 * Calls webhooks as a cluster's options say. Rejects with what is to be told. A caller of the user's own keeps the time
 * itself; functions are given up on when it is over.
 */
export function webhookCaller(webhooks: Webhooks | undefined, setting: WebhookSetting): WebhookCaller {
  if (typeof webhooks !== 'function') return resolving(webhooks, setting);
  return async (address, review, timeoutSeconds) => webhooks(address, copyJson(review), timeoutSeconds);
}

function resolving(resolver: WebhookResolver | undefined, setting: WebhookSetting): WebhookCaller {
  const { clock } = setting;
  const send = resolver?.fetch;
  return async (address, review, timeoutSeconds) => {
    const found = resolver?.resolve(address);
    if (typeof found === 'function') {
      const url = postUrl(address, timeoutSeconds);
      // A copy: a function may do with it what it likes.
      const call = () => callFunction(found, copyJson(review), url);
      return inTime(call, { clock, address, timeoutSeconds });
    }
    if (found === undefined) {
      checkBundle(address);
      requireService(address, setting, timeoutSeconds);
    }
    return fetchWebhooks(clock, { fetch: send, sendTo: found })(address, review, timeoutSeconds);
  };
}

/** What a function throws stands where the failure of a connection would. */
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

/** Certificates that cannot be read; nobody is called then. */
export class UnreadableBundle extends Error {
  override readonly name = 'UnreadableBundle';
}

function checkBundle({ caBundle = '' }: WebhookAddress): void {
  if (caBundle !== '' && pemBlocks(atob(caBundle)).length === 0)
    throw new UnreadableBundle('unable to load root certificates: unable to parse bytes as PEM block');
}

/** A service without an address of its own, or without that port, is no way to a webhook. */
function requireService(
  { service: wanted }: WebhookAddress,
  { service }: WebhookSetting,
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

/** Settles with what `run` does, at the latest when the time is over; what comes after that counts for nothing. */
export function inTime(
  run: () => Promise<unknown>,
  limit: { readonly clock: Clock; readonly address: WebhookAddress; readonly timeoutSeconds: number },
): Promise<unknown> {
  const { clock, address, timeoutSeconds } = limit;
  return new Promise((resolve, reject) => {
    const give = (): void => {
      reject(new Error(`Post ${quote(postUrl(address, timeoutSeconds))}: context deadline exceeded`));
    };
    const undo = clock.after(timeoutSeconds * 1000, give);
    run().then(resolve, reject).finally(undo);
  });
}

function thrownMessage(error: unknown): string {
  if (error instanceof Error) return error.message;
  return typeof error === 'string' ? error : `it threw ${error === undefined ? 'nothing' : `a ${typeof error}`}`;
}

interface FetchOptions {
  /** The platform's own unless said otherwise. */
  readonly fetch?: typeof fetch | undefined;
  /** Where the webhook really is; messages name the address of the configuration all the same. */
  readonly sendTo?: string | undefined;
}

/** Sends reviews to the addresses in configurations. Services are reached by the name they have in a cluster's DNS. */
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
    if (text.length > MAX_ANSWER) throw new Error('the answer of the webhook is too long');
    if (text === '') throw new Error(`0-length response with ${described(response)}`);
    return documentIn(text);
  };
}

/** The address of a webhook as messages name it. */
export function postUrl({ url, service }: WebhookAddress, timeoutSeconds: number): string {
  if (service !== undefined && url === undefined) {
    const { namespace, name, path = '', port = 443 } = service;
    return `https://${name}.${namespace}.svc:${port}${cleanPath(path)}?timeout=${timeoutSeconds}s`;
  }
  // Configurations cannot have more than this.
  const parts = /^([a-z]+:\/\/)(?:[^/?#]*@)?([^/?#]*)([^?#]*)/i.exec(url ?? '');
  if (parts === null) throw new Error('webhook configuration must have either service or URL');
  const [, scheme = '', host = '', path = ''] = parts;
  return `${scheme}${host}${cleanPath(path)}?timeout=${timeoutSeconds}s`;
}

/** A path without detours: it begins with a slash and does not end in one. */
function cleanPath(path: string): string {
  const steps: string[] = [];
  for (const step of path.split('/')) {
    if (step === '..') steps.pop();
    else if (step !== '' && step !== '.') steps.push(step.replace(UNSAFE_IN_PATHS, encodeURIComponent));
  }
  return `/${steps.join('/')}`;
}

/** The webhook is told how long it has, wherever it really is. */
function withTimeout(url: string, seconds: number): string {
  const target = new URL(url);
  target.searchParams.set('timeout', `${seconds}s`);
  return target.href;
}

/** The platform's reason, in the words of the reference's network library where they are known. */
function networkProblem(error: unknown, url: string): string {
  if (error instanceof Timeout) return 'context deadline exceeded';
  const cause: unknown = error instanceof Error ? error.cause : undefined;
  if (isRecord(cause)) {
    const { code, address, port, hostname } = cause;
    if (code === 'ECONNREFUSED' && address !== undefined)
      return `dial tcp ${address}:${port}: connect: connection refused`;
    if (code === 'ENOTFOUND') return `dial tcp: lookup ${hostname}: no such host`;
  }
  // Some ports the platform does not even try; nobody listens there.
  if (cause instanceof Error && cause.message === 'bad port') {
    const { hostname, port } = new URL(url);
    return `dial tcp ${hostname}:${port}: connect: connection refused`;
  }
  const reason = cause instanceof Error ? cause.message : undefined;
  return reason ?? messageOf(error);
}

function described({ status, headers }: Response): string {
  return `status code: ${status} and content type: ${headers.get('content-type') ?? ''}`;
}

/** Large integers stay whole. What is no JSON at all would be a text in YAML, which the reference reads as well. */
function documentIn(text: string): unknown {
  try {
    return parseJson(text).value;
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    if (!/^\s*[{[]/.test(text)) return text;
    throw new Error(`couldn't get version/kind; json parse error: ${error.message}`, { cause: error });
  }
}

function statusProblem({ status, headers }: Response, text: string): string {
  const own = messageOfStatus(text);
  if (own !== undefined) return own;
  const type = headers.get('content-type') ?? '';
  const words = type === '' || type.startsWith('text/') ? text.slice(0, MAX_WORDS).trim() : 'unknown';
  if (status === 403 || status === 406 || status === 415) return words;
  const known = STATUS_PROBLEMS[status];
  if (known !== undefined) return known;
  if (status >= 500) return `an error on the server (${quote(words)}) has prevented the request from succeeding`;
  return `the server responded with the status code ${status} but did not return more information`;
}

/** The message of an answer that is a Status. */
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
