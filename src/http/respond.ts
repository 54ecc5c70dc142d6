/**
 * Answers: status code, headers, body. spec: Responses, Errors, Response compression
 */
import type { Document, Encoded } from '../codec/codec.js';
import { jsonCodec } from '../codec/json.js';
import type { Dialect } from '../meta/dialect.js';
import { failure, StatusError } from '../meta/errors.js';
import type { Answer, ByteSource } from './answer.js';
import { partsStream } from './chunk.js';
import { toBytes } from './header-values.js';
import type { Representation } from './negotiate.js';

/** Beyond this many characters in all, every warning is cut to {@link CUT} characters. */
const LIMIT = 4096;

const CUT = 256;

/** What a header cannot carry. */
const CONTROL = /\p{Cc}/u;

/** What every answer to one request has in common. */
export interface Envelope {
  readonly auditId: string;
  readonly dialect: Dialect;
  /** A HEAD request: headers only. */
  readonly headOnly: boolean;
  /** The client takes compressed answers. */
  readonly gzip: boolean;
  readonly warnings: readonly string[];
  /** More of them, for every answer. */
  readonly headers?: HeaderTable;
}

export type HeaderTable = Readonly<Record<string, string>>;

/** What is smaller is not worth compressing. */
const GZIP_FROM = 128 * 1024;
/** A list that is longer is sent while it is put together. */
const STREAM_FROM = 256 * 1024;

export interface DocumentAnswer {
  readonly code: number;
  readonly document: Document;
  readonly form: Representation;
  readonly headers?: HeaderTable;
}

/** A document in the form asked for. */
export function respondDocument(envelope: Envelope, { code, document, form, headers }: DocumentAnswer): Answer {
  const { codec, mediaType, pretty } = form;
  const options = { dialect: envelope.dialect, pretty };
  const body = codec.encodeParts?.(document, options) ?? codec.encode(document, options);
  return respondBody(envelope, { code, body, headers: { 'Content-Type': mediaType, ...headers } });
}

/** `form` is undefined when the client accepts nothing that we have: it sees the error all the same, indented. */
export function respondError(
  envelope: Envelope,
  answer: {
    readonly error: StatusError;
    readonly form: Representation | undefined;
    readonly allow?: readonly string[] | undefined;
    /** A browser must not take it for anything else. */
    readonly noSniff?: boolean;
  },
): Answer {
  const { error, form = UNASKED, allow, noSniff = false } = answer;
  const retryAfter = error.status.details?.retryAfterSeconds ?? 0;
  const headers = {
    ...(retryAfter > 0 ? { 'Retry-After': String(retryAfter) } : {}),
    ...(allow === undefined ? {} : { Allow: allow.join(', ') }),
    ...(noSniff ? { 'X-Content-Type-Options': 'nosniff' } : {}),
  };
  try {
    return respondDocument(envelope, { code: error.code, document: error.status, form, headers });
  } catch (failure) {
    // What is refused is answered, also when the refusal is longer than a text can be.
    if (!(failure instanceof RangeError)) throw failure;
    const { message: _long, details: _longer, ...rest } = error.status;
    const document = { ...rest, message: 'the failure is too long to be told' };
    return respondDocument(envelope, { code: error.code, document, form, headers });
  }
}

const UNASKED: Representation = { codec: jsonCodec, mediaType: 'application/json', pretty: true };

/** Plain text, which a browser must not take for anything else. */
export function respondText(envelope: Envelope, code: number, text: string): Answer {
  const headers = { 'Content-Type': 'text/plain; charset=utf-8', 'X-Content-Type-Options': 'nosniff' };
  return respond(envelope, { code, body: text, headers });
}

/** An answer without end: the head goes out at once. */
export function respondStream(envelope: Envelope, body: ByteSource, mediaType: string): Answer {
  return respond(envelope, { code: 200, body, headers: { 'Content-Type': mediaType } });
}

/** What somebody else has answered. */
export function respondForeign(envelope: Envelope, { code, headers, body }: Answer): Answer {
  const own = respond(envelope, { code, body, headers: {} });
  const given = new Set(headers.map(([name]) => name.toLowerCase()));
  // The request is known by one id, and what the other says about caching counts.
  const kept = own.headers.filter(([name]) => name === 'Audit-Id' || !given.has(name.toLowerCase()));
  return { ...own, headers: [...kept, ...headers.filter(([name]) => name !== 'audit-id')] };
}

/** Nothing but a head. */
export function respondEmpty(envelope: Envelope, code: number, headers: HeaderTable = {}): Answer {
  return respond(envelope, { code, body: null, headers });
}

/** What is known whole, compressed when it is long and the client takes that. */
export function respondBody(
  envelope: Envelope,
  answer: { readonly code: number; readonly body: Encoded | readonly string[]; readonly headers: HeaderTable },
): Answer {
  const { code, body, headers } = answer;
  const isParts = typeof body !== 'string' && !(body instanceof Uint8Array);
  const length = isParts ? body.reduce((sum, part) => sum + part.length, 0) : body.length;
  if (envelope.gzip && isWorthCompressing(isParts ? body : [body], length)) {
    const answer = respond(envelope, {
      code,
      body: partsStream(isParts ? body : [body]),
      headers: { ...headers, 'Content-Encoding': 'gzip', Vary: 'Accept-Encoding' },
    });
    return answer.body === null ? answer : { ...answer, compress: 'gzip' };
  }
  if (!isParts) return respond(envelope, { code, body, headers });
  return respond(envelope, { code, body: length > STREAM_FROM ? partsStream(body) : body.join(''), headers });
}

/** By its bytes, which are only counted where the characters do not tell: each has at most three. */
function isWorthCompressing(parts: readonly Encoded[], length: number): boolean {
  if (length > GZIP_FROM || length * 3 <= GZIP_FROM) return length > GZIP_FROM;
  const text = new TextEncoder();
  const bytes = parts.map((part) => (typeof part === 'string' ? text.encode(part) : part).length);
  return bytes.reduce((sum, count) => sum + count, 0) > GZIP_FROM;
}

interface Parts {
  readonly code: number;
  readonly body: Answer['body'];
  readonly headers: HeaderTable;
}

function respond(envelope: Envelope, { code, body, headers }: Parts): Answer {
  const all: [string, string][] = [['Audit-Id', envelope.auditId]];
  if (!('Cache-Control' in headers)) all.push(['Cache-Control', 'no-cache, private']);
  for (const name in headers) all.push([name, headers[name] ?? '']);
  for (const name in envelope.headers) all.push([name, envelope.headers[name] ?? '']);
  if (envelope.warnings.length > 0) {
    for (const warning of warningHeaders(envelope.warnings)) all.push(['Warning', warning]);
  }
  return { code, headers: all, body: envelope.headOnly ? null : body };
}

/**
 * One value per warning: `299 - "text"`. Texts are taken once, in order; one with control characters is left out. From
 * the warning on that makes them too long together, all are cut, and no more are added once the limit is reached again.
 */
export function warningHeaders(warnings: readonly string[]): string[] {
  let shown: string[][] = [];
  let cutting = false;
  for (const text of new Set(warnings)) {
    if (text === '' || CONTROL.test(text)) continue;
    if (cutting && lengthOf(shown) >= LIMIT) break;
    const characters = [...text];
    shown.push(cutting ? characters.slice(0, CUT) : characters);
    if (cutting || lengthOf(shown) <= LIMIT) continue;
    cutting = true;
    shown = shown.map((earlier) => earlier.slice(0, CUT));
  }
  return shown.map((characters) => `299 - "${toBytes(characters.join('').replace(/["\\]/g, '\\$&'))}"`);
}

function lengthOf(texts: readonly (readonly string[])[]): number {
  return texts.reduce((sum, text) => sum + text.length, 0);
}

/** Told about every error that is none of the API's, because the client is not told what it was. */
export type ErrorListener = (error: unknown) => void;

/** The error to answer with. */
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

/** A failure whose code is none that HTTP has for failures is a failure of the server. */
function withHttpCode(error: StatusError): StatusError {
  const { code } = error.status;
  const warnings = Array.isArray(error.warnings) ? error.warnings : [];
  const isHttp = code !== undefined && Number.isInteger(code) && code >= 400 && code <= 599;
  if (isHttp && warnings === error.warnings) return error;
  return new StatusError({ ...error.status, code: isHttp ? code : 500 }, { warnings, cause: error });
}
