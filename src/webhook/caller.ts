/**
 * Calls webhooks for conversion and admission, as configured by `createCluster({ webhooks })` or else by their client
 * configurations. Every call is subject to its timeout, and errors have the reference server's messages.
 */

import type { WebhookAddress, WebhookCaller, WebhookFunction, WebhookResolver, Webhooks } from '../kinds/reconciler.js';
import { quote } from '../text/go/go-text.js';
import { JsonSyntaxError, parseJson } from '../text/json/parse-json.js';
import type { Clock } from '../util/clock.js';
import { cloneJson, copyJson, escapeForPages, isRecord, printJson } from '../util/json.js';
import { readText } from '../util/read-text.js';
import { checkBundle } from './ca-bundle.js';
import { canConnectToAddresses, networkProblem, sendToBackend } from './connection.js';
import { resolveService, routableSpec, type ServiceView, serviceHost } from './service-address.js';

/** What calls need of their cluster. */
export interface WebhookContext extends ServiceView {
  readonly clock: Clock;
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
  return async (address, review, timeoutSeconds) => {
    const found = resolver?.resolve(address);
    if (typeof found === 'function') {
      const url = postUrl(address, timeoutSeconds);
      // A copy, because the function may change it.
      const call = () => callFunction(found, copyJson(review), url);
      return withTimeLimit(call, { clock, address, timeoutSeconds });
    }
    const send = senderOf(address, { sendTo: found, fetch: resolver?.fetch }, context);
    // A page must not set it: the webhook would have to allow the header.
    const userAgent = canConnectToAddresses() ? USER_AGENT : undefined;
    return fetchWebhooks(clock, { fetch: send, sendTo: found, userAgent })(address, review, timeoutSeconds);
  };
}

/** The `fetch` for a webhook. Throws UnreadableBundle. A custom `fetch` takes care of the caBundle itself. */
function senderOf(
  { url, service, caBundle }: WebhookAddress,
  { sendTo, fetch: custom }: FetchOptions,
  view: ServiceView,
): Send {
  if (custom !== undefined && sendTo !== undefined) return custom;
  checkBundle(caBundle);
  if (service === undefined || url !== undefined)
    return custom ?? ((to, init) => sendToBackend(to, init, { caBundle }));
  const target = { ...service, port: service.port ?? 443 };
  const serverName = serviceHost(target);
  if (sendTo !== undefined) return (to, init) => sendToBackend(to, init, { caBundle, serverName });
  return async (to, init) => {
    if (custom === undefined && canConnectToAddresses(view)) {
      return sendToBackend(to, init, { caBundle, serverName, address: resolveService(target, view) });
    }
    routableSpec(target, view);
    return custom === undefined ? sendToBackend(to, init, { caBundle }) : custom(to, init);
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

/** Settles like `run`, or rejects when the timeout expires; later results are ignored. */
export function withTimeLimit(
  run: () => Promise<unknown>,
  limit: { readonly clock: Clock; readonly address: WebhookAddress; readonly timeoutSeconds: number },
): Promise<unknown> {
  const { clock, address, timeoutSeconds } = limit;
  return new Promise((resolve, reject) => {
    const expire = (): void => {
      reject(new Error(`Post ${quote(postUrl(address, timeoutSeconds))}: ${DEADLINE_EXCEEDED}`));
    };
    const undo = clock.after(timeoutSeconds * 1000, expire);
    run().then(resolve, reject).finally(undo);
  });
}

function thrownMessage(error: unknown): string {
  if (error instanceof Error) return error.message;
  return typeof error === 'string' ? error : `it threw ${error === undefined ? 'nothing' : `a ${typeof error}`}`;
}

/** The maximum length of a response to a short request. */
const MAX_RESPONSE = 3 * 1024 * 1024;
/** How many times longer than its request a response may be: a conversion returns all objects of a list. */
const MAX_GROWTH = 4;

const DEADLINE_EXCEEDED = 'context deadline exceeded';

type Send = (url: string, init: RequestInit) => Promise<Response>;

interface FetchOptions {
  /** Default: the global `fetch`. */
  readonly fetch?: Send | undefined;
  /** The actual address of the webhook; messages name the configured one. */
  readonly sendTo?: string | undefined;
  readonly userAgent?: string | undefined;
}

/** The User-Agent of the reference server in calls for admission and conversion. */
const USER_AGENT = 'kube-apiserver-admission';

/** Calls webhooks at their configured addresses. Services are addressed by their cluster DNS names. */
export function fetchWebhooks(clock: Clock, options: FetchOptions = {}): WebhookCaller {
  const send = options.fetch ?? fetch;
  const { userAgent } = options;
  return async (address, review, timeoutSeconds) => {
    const url = postUrl(address, timeoutSeconds);
    const target = options.sendTo === undefined ? url : withTimeout(options.sendTo, timeoutSeconds);
    const timeout = new AbortController();
    const undo = clock.after(timeoutSeconds * 1000, () => timeout.abort(), { background: true });
    const request = {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, */*',
        ...(userAgent === undefined ? {} : { 'user-agent': userAgent }),
      },
      body: escapeForPages(printJson(review)),
      signal: timeout.signal,
    };
    let response: Response;
    let text: string | undefined;
    try {
      response = await send(target, request);
      text = await readText(response, MAX_RESPONSE + request.body.length * MAX_GROWTH);
    } catch (error) {
      throw new Error(
        `Post ${quote(url)}: ${timeout.signal.aborted ? DEADLINE_EXCEEDED : networkProblem(error, target)}`,
        { cause: error },
      );
    } finally {
      undo();
    }
    if (text === undefined) throw new Error('the webhook response is too large');
    if (response.status < 200 || response.status > 206) throw new WebhookStatusError(response, text);
    if (text === '') throw new Error(`0-length response with ${responseSummary(response)}`);
    return parseDocument(text);
  };
}

/** The webhook responded with the status of an error. */
export class WebhookStatusError extends Error {
  override readonly name = 'WebhookStatusError';
  readonly status: number;
  /** The webhook asks for another attempt. */
  readonly hasRetryAfter: boolean;

  constructor(response: Response, text: string) {
    super(statusProblem(response, text));
    this.status = response.status;
    this.hasRetryAfter = response.headers.has('retry-after');
  }
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
