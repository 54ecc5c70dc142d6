/**
 * Converts every failed or unusable response to a StatusError. A Status of the server is passed on; everything else (a
 * proxy's page, a refused connection, a truncated document) gets the reference client's message. The platform's error,
 * if any, is the `cause`.
 */
import { type Dialect, dialects, serviceGroup } from '../../meta/dialect.js';
import { failure, StatusError } from '../../meta/errors.js';
import { qualifiedResource } from '../../meta/gvk.js';
import type { Status, StatusReason } from '../../meta/status.js';
import type { ApiRequest } from '../../protocol/request.js';
import { quote } from '../../text/go/go-text.js';
import { deepFreeze, isRecord } from '../../util/json.js';
import { messageOf } from '../../util/message-of.js';
import { METHODS } from './encode-request.js';

/** The maximum length of an unexpected response body in a message. */
const MAX_SHOWN_LENGTH = 2048;

/** The parts of a response head that matter for errors and warnings. */
export interface ResponseHead {
  readonly code: number;
  readonly warnings: readonly string[];
  /** Undefined: the header is missing or not a number of seconds. */
  readonly retryAfterSeconds: number | undefined;
}

/** The error of a Status that reports a failure; undefined for any other value. */
export function statusError(value: unknown, { code, warnings }: ResponseHead): StatusError | undefined {
  if (!isStatus(value) || value.status === 'Success') return undefined;
  const status = { ...value, metadata: value.metadata ?? {}, code: value.code ?? code };
  return new StatusError(deepFreeze(status), { warnings });
}

/** Whether the value is a Status. Only its type is checked. */
export function isStatus(value: unknown): value is Status {
  return isRecord(value) && value['kind'] === 'Status' && value['apiVersion'] === 'v1';
}

/** The reference client's messages for codes that came without a Status. */
const CLIENT_MESSAGES: Readonly<Record<number, { readonly reason: StatusReason; readonly text: string }>> = {
  400: { reason: 'BadRequest', text: 'the server rejected our request for an unknown reason' },
  401: { reason: 'Unauthorized', text: 'the server has asked for the client to provide credentials' },
  404: { reason: 'NotFound', text: 'the server could not find the requested resource' },
  405: { reason: 'MethodNotAllowed', text: 'the server does not allow this method on the requested resource' },
  409: { reason: 'Conflict', text: 'the server reported a conflict' },
  422: { reason: 'Invalid', text: 'the server rejected our request due to an error in our request' },
  429: {
    reason: 'TooManyRequests',
    text: 'the server has received too many requests and has asked us to try again later',
  },
  503: { reason: 'ServiceUnavailable', text: 'the server is currently unable to handle the request' },
  504: {
    reason: 'Timeout',
    text: 'the server was unable to return a response in the time allotted, but may still be processing the request',
  },
};

/** Codes for which the response text is the better message. */
const REASONS_WITH_BODY_TEXT: Readonly<Record<number, StatusReason>> = {
  403: 'Forbidden',
  406: 'NotAcceptable',
  // A 410 of a proxy, too, tells a reflector to list again.
  410: 'Gone',
  413: 'RequestEntityTooLarge',
  415: 'UnsupportedMediaType',
};

/** A request and the dialect in which it was sent. */
export interface SentRequest {
  readonly request: ApiRequest;
  readonly dialect: Dialect;
}

/** The error of a response without a Status; `text` is its body. */
export function errorWithoutStatus({ request, dialect }: SentRequest, head: ResponseHead, text: string): StatusError {
  const { code } = head;
  const shown = text.trim().slice(0, MAX_SHOWN_LENGTH) || 'unknown';
  const known = CLIENT_MESSAGES[code];
  const own = REASONS_WITH_BODY_TEXT[code];
  if (own !== undefined) return unexpectedResponseError(request, head, { reason: own, message: shown, shown });
  if (known !== undefined) {
    const reason = code === 409 && request.verb === 'create' ? 'AlreadyExists' : known.reason;
    const hint = code === 404 ? dialectHint(request, dialect) : '';
    return unexpectedResponseError(request, head, { reason, message: known.text, shown, hint });
  }
  const message =
    code >= 500
      ? `an error on the server (${quote(shown)}) has prevented the request from succeeding`
      : `the server responded with the status code ${code} but did not return more information`;
  return unexpectedResponseError(request, head, {
    ...(code >= 500 ? { reason: 'InternalError' } : {}),
    message,
    shown,
  });
}

/**
 * A built-in group exists on every server under the name of its dialect, so a 404 may mean that the server uses the
 * other dialect. Custom groups have the same name in every dialect.
 */
function dialectHint({ resource }: ApiRequest, dialect: Dialect): string {
  if (!resource.group.endsWith(dialect.group(serviceGroup('')))) return '';
  const others = dialects.filter(({ name }) => name !== dialect.name).map(({ name }) => quote(name));
  return `; the server may not use the dialect ${quote(dialect.name)}: try dialect: ${others.join(' or ')}`;
}

/** A redirect. It is not followed: most requests would change their method or lose their credentials. */
export function redirectError(request: ApiRequest, head: ResponseHead, location: string | null): StatusError {
  const where = location === null ? '' : ` to ${quote(location)}`;
  const message = `the server redirects${where}, which is not followed; set baseUrl to the final URL of the cluster`;
  return unexpectedResponseError(request, head, { message, shown: 'redirect' });
}

/** A successful response whose body is not what the request expects. */
export function unusableResponseError(
  request: ApiRequest,
  head: ResponseHead,
  problem: { readonly why: string; readonly text: string; readonly cause?: unknown },
): StatusError {
  const shown = problem.text.trim().slice(0, MAX_SHOWN_LENGTH) || 'unknown';
  const message = `the server answered with the status code ${head.code}, but ${problem.why}`;
  // An error needs an error code.
  return unexpectedResponseError(request, { ...head, code: 500 }, { message, shown, cause: problem.cause });
}

interface ErrorParts {
  readonly reason?: StatusReason;
  readonly message: string;
  readonly shown: string;
  /** A suggestion at the end of the message. */
  readonly hint?: string;
  readonly cause?: unknown;
}

function unexpectedResponseError(request: ApiRequest, head: ResponseHead, words: ErrorParts): StatusError {
  const { reason, message, shown, hint = '', cause } = words;
  const { group, resource } = request.resource;
  const { retryAfterSeconds } = head;
  // A missing path says nothing about the object: `details.name` would mean that the object does not exist.
  const name = head.code === 404 ? undefined : request.name;
  const { status } = failure({
    ...(reason === undefined ? {} : { reason }),
    code: head.code,
    message: `${message} (${describe(request)})${hint}`,
    details: {
      ...(name === undefined ? {} : { name }),
      ...(group === '' ? {} : { group }),
      kind: resource,
      causes: [{ reason: 'UnexpectedServerResponse', message: shown }],
      ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
    },
  });
  return new StatusError(deepFreeze(status), { warnings: head.warnings, ...(cause === undefined ? {} : { cause }) });
}

function describe({ verb, resource, name }: ApiRequest): string {
  const what = `${METHODS[verb].toLowerCase()} ${qualifiedResource(resource)}`;
  return name === undefined ? what : `${what} ${name}`;
}

/** No response: the host is unknown, the connection was refused or broke. */
export function unreachableError(request: ApiRequest, url: string, cause: unknown): StatusError {
  const what = `${METHODS[request.verb]} ${quote(url)}: ${messagesOf(cause)}`;
  return isTimeout(cause)
    ? failure({ reason: 'Timeout', message: `Timeout: ${what}`, details: {}, cause })
    : failure({ reason: 'ServiceUnavailable', message: what, details: {}, cause });
}

/** The response body ended prematurely. */
export function brokenResponseError(cause: unknown): StatusError {
  const message = `unexpected error when reading response body. Please retry. Original error: ${messagesOf(cause)}`;
  return failure({ reason: isTimeout(cause) ? 'Timeout' : 'ServiceUnavailable', message, details: {}, cause });
}

/** A line of a watch stream is not an event. */
export function undecodableEventError(why: string, cause?: unknown): StatusError {
  const message = `unable to decode an event from the watch stream: ${why}`;
  return failure({
    reason: 'InternalError',
    message,
    details: { causes: [{ reason: 'UnexpectedServerResponse', message }, { reason: 'ClientWatchDecoding' }] },
    cause,
  });
}

/** Platforms wrap the actual error: `fetch failed`, caused by `connect ECONNREFUSED`. */
function messagesOf(error: unknown): string {
  const messages = causesOf(error).map(messageOf);
  return messages.filter((message) => message !== '').join(': ') || 'unknown';
}

/** Whether the error is a timeout, of a signal or of the platform. */
export function isTimeout(error: unknown): boolean {
  return causesOf(error).some((each) => each instanceof Error && /timeout/i.test(`${each.name} ${codeOf(each)}`));
}

const RESET_CODES: ReadonlySet<string> = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET']);

/** Whether the connection was reset, as happens when the server closes an idle connection that is being reused. */
export function isReset(error: unknown): boolean {
  return causesOf(error).some((each) => RESET_CODES.has(codeOf(each)));
}

function codeOf(error: unknown): string {
  return isRecord(error) && typeof error['code'] === 'string' ? error['code'] : '';
}

/** The error and its causes, at most five. */
function causesOf(error: unknown): unknown[] {
  const chain: unknown[] = [];
  for (let each = error; each !== undefined && chain.length < 5; each = isRecord(each) ? each['cause'] : undefined) {
    chain.push(each);
  }
  return chain;
}
