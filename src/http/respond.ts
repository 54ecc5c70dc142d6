/**
 * Builds HTTP responses: status code, headers, body. spec: Operations, Errors, Response compression
 */
import type { Document, Encoded } from '../codec/codec.js';
import { jsonCodec } from '../codec/json.js';
import type { Dialect } from '../meta/dialect.js';
import { errors, failure, StatusError } from '../meta/errors.js';
import type { Answer, ByteSource } from '../protocol/http.js';
import { toHeaderBytes } from '../util/bytes.js';
import { inTurns } from '../util/clock.js';
import { chain, type MaybePromise } from '../util/maybe-promise.js';
import { partsStream } from './chunk.js';
import type { Representation } from './negotiate.js';

/** What all responses to one request have in common. */
export interface Envelope {
  readonly auditId: string;
  readonly dialect: Dialect;
  /** A HEAD request: headers only. */
  readonly headOnly: boolean;
  /** The client accepts gzip. */
  readonly gzip: boolean;
  readonly warnings: readonly string[];
  /** Additional headers of every response. */
  readonly headers?: HeaderTable;
}

/** Headers by name. */
export type HeaderTable = Readonly<Record<string, string>>;

/** Smaller bodies are not compressed. */
const GZIP_MIN_BYTES = 128 * 1024;

/** Longer bodies are streamed, so that they are copied as fast as the client reads. */
const STREAM_MIN_LENGTH = 256 * 1024;

/** A document to encode, with its status code and headers. */
export interface DocumentAnswer {
  readonly code: number;
  readonly document: Document;
  readonly form: Representation;
  readonly headers?: HeaderTable;
}

/** Encodes a document in the negotiated representation. */
export function respondDocument(envelope: Envelope, { code, document, form, headers }: DocumentAnswer): Answer {
  const { codec, mediaType, pretty } = form;
  const body = codec.encode(document, { dialect: envelope.dialect, pretty });
  return respondBody(envelope, { code, body, headers: { 'Content-Type': mediaType, ...headers } });
}

/** The same for a document that may be a long list: other requests are answered while it is encoded. */
export function respondInSteps(
  envelope: Envelope,
  answer: DocumentAnswer,
  request: { readonly signal: AbortSignal },
): MaybePromise<Answer> {
  const { code, document, form, headers } = answer;
  const { codec, mediaType, pretty } = form;
  const steps = codec.encodeSteps?.(document, { dialect: envelope.dialect, pretty });
  if (steps === undefined) return respondDocument(envelope, answer);
  const check = (): void => {
    if (request.signal.aborted) throw errors.timeout('the request was given up', 0);
  };
  return chain(inTurns(steps, check), (body) =>
    respondBody(envelope, { code, body, headers: { 'Content-Type': mediaType, ...headers } }),
  );
}

/** An error response. `form` is undefined when the client accepts no available encoding; it then gets indented JSON. */
export function respondError(
  envelope: Envelope,
  answer: {
    readonly error: StatusError;
    readonly form: Representation | undefined;
    readonly allow?: readonly string[] | undefined;
    /** Adds `X-Content-Type-Options: nosniff`. */
    readonly noSniff?: boolean;
  },
): Answer {
  const { error, form = FALLBACK_REPRESENTATION, allow, noSniff = false } = answer;
  const retryAfter = error.status.details?.retryAfterSeconds ?? 0;
  const headers = {
    ...(retryAfter > 0 ? { 'Retry-After': String(retryAfter) } : {}),
    ...(allow === undefined ? {} : { Allow: allow.join(', ') }),
    ...(noSniff ? { 'X-Content-Type-Options': 'nosniff' } : {}),
  };
  try {
    return respondDocument(envelope, { code: error.code, document: error.status, form, headers });
  } catch (failure) {
    // A Status that exceeds the maximum string length is sent without its message and details.
    if (!(failure instanceof RangeError)) throw failure;
    const { message: _long, details: _longer, ...rest } = error.status;
    const document = { ...rest, message: 'the error message is too long' };
    return respondDocument(envelope, { code: error.code, document, form, headers });
  }
}

const FALLBACK_REPRESENTATION: Representation = { codec: jsonCodec, mediaType: 'application/json', pretty: true };

/** A plain-text response. */
export function respondText(envelope: Envelope, code: number, text: string): Answer {
  const headers = { 'Content-Type': 'text/plain; charset=utf-8', 'X-Content-Type-Options': 'nosniff' };
  return respond(envelope, { code, body: text, headers });
}

/** A streaming response whose head is sent at once. */
export function respondStream(envelope: Envelope, body: ByteSource, mediaType: string): Answer {
  return respond(envelope, { code: 200, body, headers: { 'Content-Type': mediaType } });
}

/** A response of an aggregated API, with this request's audit ID. */
export function respondProxied(envelope: Envelope, { code, headers, body }: Answer): Answer {
  const own = respond(envelope, { code, body, headers: {} });
  const given = new Set(headers.map(([name]) => name.toLowerCase()));
  // The audit ID is this server's; the backend's caching headers take precedence.
  const kept = own.headers.filter(([name]) => name === 'Audit-Id' || !given.has(name.toLowerCase()));
  return { ...own, headers: [...kept, ...headers.filter(([name]) => name !== 'audit-id')] };
}

/** A response without a body. */
export function respondEmpty(envelope: Envelope, code: number, headers: HeaderTable = {}): Answer {
  return respond(envelope, { code, body: null, headers });
}

/** A complete body, compressed when it is large and the client accepts gzip. */
export function respondBody(
  envelope: Envelope,
  answer: { readonly code: number; readonly body: Encoded | readonly string[]; readonly headers: HeaderTable },
): Answer {
  const { code, body, headers } = answer;
  const isParts = typeof body !== 'string' && !(body instanceof Uint8Array);
  const parts = isParts ? body : [body];
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  // The texts of stored objects are shared by all responses. A body of one part is not.
  const held = parts.length === 1 ? { heldBytes: length } : {};
  if (envelope.gzip && isWorthCompressing(parts, length)) {
    const answer = respond(envelope, {
      code,
      body: partsStream(parts),
      headers: { ...headers, 'Content-Encoding': 'gzip', Vary: 'Accept-Encoding' },
    });
    return answer.body === null ? answer : { ...answer, ...held, compress: 'gzip' };
  }
  if (length > STREAM_MIN_LENGTH) return { ...respond(envelope, { code, body: partsStream(parts), headers }), ...held };
  return respond(envelope, { code, body: isParts ? body.join('') : body, headers });
}

/** Counts bytes only when the number of characters does not decide: a character has at most three UTF-8 bytes. */
function isWorthCompressing(parts: readonly Encoded[], length: number): boolean {
  if (length > GZIP_MIN_BYTES || length * 3 <= GZIP_MIN_BYTES) return length > GZIP_MIN_BYTES;
  const text = new TextEncoder();
  const bytes = parts.map((part) => (typeof part === 'string' ? text.encode(part) : part).length);
  return bytes.reduce((sum, count) => sum + count, 0) > GZIP_MIN_BYTES;
}

interface AnswerParts {
  readonly code: number;
  readonly body: Answer['body'];
  readonly headers: HeaderTable;
}

function respond(envelope: Envelope, { code, body, headers }: AnswerParts): Answer {
  const all: [string, string][] = [['Audit-Id', envelope.auditId]];
  if (!('Cache-Control' in headers)) all.push(['Cache-Control', 'no-cache, private']);
  for (const name in headers) all.push([name, headers[name] ?? '']);
  for (const name in envelope.headers) all.push([name, envelope.headers[name] ?? '']);
  if (envelope.warnings.length > 0) {
    for (const warning of warningHeaders(envelope.warnings)) all.push(['Warning', warning]);
  }
  return { code, headers: all, body: envelope.headOnly ? null : body };
}

/** When all warnings together exceed this length, each is truncated to {@link TRUNCATED_LENGTH} characters. */
const MAX_WARNINGS_LENGTH = 4096;

const TRUNCATED_LENGTH = 256;

/** Control characters are not allowed in header values. */
const CONTROL_CHARACTER = /\p{Cc}/u;

/**
 * The values of the Warning headers: `299 - "text"`. Duplicates and texts with control characters are dropped. Once the
 * total exceeds the limit, all warnings are truncated, and none is added after the limit is reached again.
 */
export function warningHeaders(warnings: readonly string[]): string[] {
  let texts: string[][] = [];
  let cutting = false;
  for (const text of new Set(warnings)) {
    if (text === '' || CONTROL_CHARACTER.test(text)) continue;
    if (cutting && totalLength(texts) >= MAX_WARNINGS_LENGTH) break;
    const characters = [...text];
    texts.push(cutting ? characters.slice(0, TRUNCATED_LENGTH) : characters);
    if (cutting || totalLength(texts) <= MAX_WARNINGS_LENGTH) continue;
    cutting = true;
    texts = texts.map((earlier) => earlier.slice(0, TRUNCATED_LENGTH));
  }
  return texts.map((characters) => `299 - "${toHeaderBytes(characters.join('').replace(/["\\]/g, '\\$&'))}"`);
}

function totalLength(texts: readonly (readonly string[])[]): number {
  return texts.reduce((sum, text) => sum + text.length, 0);
}

/** Called with every error that is not a StatusError, because the client gets no details of it. */
export type ErrorListener = (error: unknown) => void;

/** The StatusError to respond with. Other errors are reported to `onError` and become a generic 500. */
export function toStatusError(error: unknown, onError: ErrorListener): StatusError {
  if (StatusError.is(error)) return withHttpCode(error);
  onError(error);
  return failure({
    reason: 'InternalError',
    message: 'an error on the server ("unknown") has prevented the request from succeeding',
    details: {},
    cause: error,
  });
}

/** Replaces a code that is not an HTTP error code with 500. */
function withHttpCode(error: StatusError): StatusError {
  const { code } = error.status;
  const warnings = Array.isArray(error.warnings) ? error.warnings : [];
  const isHttp = code !== undefined && Number.isInteger(code) && code >= 400 && code <= 599;
  if (isHttp && warnings === error.warnings) return error;
  return new StatusError({ ...error.status, code: isHttp ? code : 500 }, { warnings, cause: error });
}
