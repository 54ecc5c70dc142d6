/**
 * Webhooks by `fetch`. What goes wrong is told in the words of the reference server as far as the platform says what it
 * was.
 */

import type { WebhookAddress, WebhookCaller } from '../kinds/attendant.js';
import { quote } from '../text/go/go-text.js';
import { JsonSyntaxError, parseJson } from '../text/json/parse-json.js';
import type { Clock } from '../util/clock.js';
import { escapeForPages, isRecord, printJson } from '../util/json.js';
import { messageOf } from '../util/message-of.js';

/** Answers of webhooks that are longer are not read to their end. */
const MAX_ANSWER = 3 * 1024 * 1024;

export interface FetchOptions {
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

class Timeout extends Error {}

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

const UNSAFE_IN_PATHS = /[^A-Za-z0-9\-._~!$&'()*+,;=:@%]/gu;

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
