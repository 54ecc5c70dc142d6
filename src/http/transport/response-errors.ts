/**
 * Every way in which there is no answer, or none that can be used → StatusError. What the server has put into words is
 * told in its words; everything else (a proxy's page, a refused connection, half a document) gets those of the
 * reference client. The platform's own error, if there was one, is the `cause`.
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

/** How much of a text that was no answer goes into a message. */
const SHOWN = 2048;

/** What a response says besides its body. */
export interface Told {
  readonly code: number;
  readonly warnings: readonly string[];
  /** Absent: the header was missing or no number of seconds. */
  readonly retryAfterSeconds: number | undefined;
}

/** A Status that is none of success, as the error it is; undefined for any other value. */
export function statusFailure(value: unknown, { code, warnings }: Told): StatusError | undefined {
  if (!isStatus(value) || value.status === 'Success') return undefined;
  const status = { ...value, metadata: value.metadata ?? {}, code: value.code ?? code };
  return new StatusError(deepFreeze(status), { warnings });
}

/** Whether the value is a Status; of its parts only the type is certain. */
export function isStatus(value: unknown): value is Status {
  return isRecord(value) && value['kind'] === 'Status' && value['apiVersion'] === 'v1';
}

/** The words of the reference client for codes that came without a Status. */
const TEXTS: Readonly<Record<number, { readonly reason: StatusReason; readonly text: string }>> = {
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

/** Codes whose text, where there is one, says it better. */
const IN_OWN_WORDS: Readonly<Record<number, StatusReason>> = {
  403: 'Forbidden',
  406: 'NotAcceptable',
  // Whoever follows a collection must know that it has to list again, also from a proxy.
  410: 'Gone',
  413: 'RequestEntityTooLarge',
  415: 'UnsupportedMediaType',
};

/** A request, and the names in which it was made. */
export interface Asked {
  readonly request: ApiRequest;
  readonly dialect: Dialect;
}

/** An HTTP failure without a Status; `text` is what it brought instead. */
export function bareFailure({ request, dialect }: Asked, told: Told, text: string): StatusError {
  const { code } = told;
  const shown = text.trim().slice(0, SHOWN) || 'unknown';
  const known = TEXTS[code];
  const own = IN_OWN_WORDS[code];
  if (own !== undefined) return unexpected(request, told, { reason: own, message: shown, shown });
  if (known !== undefined) {
    const reason = code === 409 && request.verb === 'create' ? 'AlreadyExists' : known.reason;
    const hint = code === 404 ? dialectHint(request, dialect) : '';
    return unexpected(request, told, { reason, message: known.text, shown, hint });
  }
  const message =
    code >= 500
      ? `an error on the server (${quote(shown)}) has prevented the request from succeeding`
      : `the server responded with the status code ${code} but did not return more information`;
  return unexpected(request, told, { ...(code >= 500 ? { reason: 'InternalError' } : {}), message, shown });
}

/**
 * A group of the service's own is at every server, under one of two names: one that is nowhere was asked for under the
 * other's. Groups of other owners have one name everywhere.
 */
function dialectHint({ resource }: ApiRequest, dialect: Dialect): string {
  if (!resource.group.endsWith(dialect.group(serviceGroup('')))) return '';
  const others = dialects.filter(({ name }) => name !== dialect.name).map(({ name }) => quote(name));
  return `; the other end may speak another dialect than ${quote(dialect.name)}: try dialect: ${others.join(' or ')}`;
}

/** A redirect. It is not followed: most requests would arrive elsewhere as another one, or without who asks. */
export function redirected(request: ApiRequest, told: Told, location: string | null): StatusError {
  const where = location === null ? '' : ` to ${quote(location)}`;
  const message = `the server redirects${where}, which is not followed; baseUrl has to be where the cluster answers`;
  return unexpected(request, told, { message, shown: 'redirect' });
}

/** A response of success that is not what was asked for. */
export function unusable(
  request: ApiRequest,
  told: Told,
  about: { readonly why: string; readonly text: string; readonly cause?: unknown },
): StatusError {
  const shown = about.text.trim().slice(0, SHOWN) || 'unknown';
  const message = `the server answered with the status code ${told.code}, but ${about.why}`;
  // The code of a success cannot be the code of an error.
  return unexpected(request, { ...told, code: 500 }, { message, shown, cause: about.cause });
}

interface Words {
  readonly reason?: StatusReason;
  readonly message: string;
  readonly shown: string;
  /** What to try, behind all the rest. */
  readonly hint?: string;
  readonly cause?: unknown;
}

function unexpected(request: ApiRequest, told: Told, words: Words): StatusError {
  const { reason, message, shown, hint = '', cause } = words;
  const { group, resource } = request.resource;
  const { retryAfterSeconds } = told;
  // A path that is not there is no word about the object: whoever asks whether it exists must not take it for one.
  const name = told.code === 404 ? undefined : request.name;
  const { status } = failure({
    ...(reason === undefined ? {} : { reason }),
    code: told.code,
    message: `${message} (${describe(request)})${hint}`,
    details: {
      ...(name === undefined ? {} : { name }),
      ...(group === '' ? {} : { group }),
      kind: resource,
      causes: [{ reason: 'UnexpectedServerResponse', message: shown }],
      ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
    },
  });
  return new StatusError(deepFreeze(status), { warnings: told.warnings, ...(cause === undefined ? {} : { cause }) });
}

function describe({ verb, resource, name }: ApiRequest): string {
  const what = `${METHODS[verb].toLowerCase()} ${qualifiedResource(resource)}`;
  return name === undefined ? what : `${what} ${name}`;
}

/** There was no response: the address is unknown, nobody listens there, the connection broke. */
export function unreachable(request: ApiRequest, url: string, cause: unknown): StatusError {
  const what = `${METHODS[request.verb]} ${quote(url)}: ${messagesOf(cause)}`;
  return isTimeout(cause)
    ? failure({ reason: 'Timeout', message: `Timeout: ${what}`, details: {}, cause })
    : failure({ reason: 'ServiceUnavailable', message: what, details: {}, cause });
}

/** The response began and did not come to its end. */
export function brokenOff(cause: unknown): StatusError {
  const message = `unexpected error when reading response body. Please retry. Original error: ${messagesOf(cause)}`;
  return failure({ reason: isTimeout(cause) ? 'Timeout' : 'ServiceUnavailable', message, details: {}, cause });
}

/** What came on a watch is no event. */
export function undecodable(why: string, cause?: unknown): StatusError {
  const message = `unable to decode an event from the watch stream: ${why}`;
  return failure({
    reason: 'InternalError',
    message,
    details: { causes: [{ reason: 'UnexpectedServerResponse', message }, { reason: 'ClientWatchDecoding' }] },
    cause,
  });
}

/** Platforms hide what happened behind a general error: `fetch failed`, because of `connect ECONNREFUSED`. */
function messagesOf(error: unknown): string {
  const messages = causesOf(error).map(messageOf);
  return messages.filter((message) => message !== '').join(': ') || 'unknown';
}

/** Whether somebody grew tired of waiting: a signal with a timeout, or the platform's own limits. */
export function isTimeout(error: unknown): boolean {
  return causesOf(error).some((each) => each instanceof Error && /timeout/i.test(`${each.name} ${codeOf(each)}`));
}

const RESETS: ReadonlySet<string> = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET']);

/** Whether the connection broke, as one does that the server closed just when it was used again. */
export function isReset(error: unknown): boolean {
  return causesOf(error).some((each) => RESETS.has(codeOf(each)));
}

function codeOf(error: unknown): string {
  return isRecord(error) && typeof error['code'] === 'string' ? error['code'] : '';
}

/** The error and what it says it came from; a chain that goes on and on is cut. */
function causesOf(error: unknown): unknown[] {
  const chain: unknown[] = [];
  for (let each = error; each !== undefined && chain.length < 5; each = isRecord(each) ? each['cause'] : undefined) {
    chain.push(each);
  }
  return chain;
}
