/**
 * Answers → Response: status code, headers, body. spec: Responses, Errors
 */
import { encodeJson, indentJson } from '../codec/json-encoder.js';
import type { StatusError } from '../meta/errors.js';
import type { Status } from '../meta/status.js';
import type { Representation } from './negotiate.js';
import { warningHeaders } from './warnings.js';

/** What every answer to one request has in common. */
export interface Envelope {
  readonly auditId: string;
  /** A HEAD request: headers only. */
  readonly headOnly: boolean;
  readonly warnings: readonly string[];
}

type HeaderTable = Readonly<Record<string, string>>;

/** Compact JSON in the form asked for. A compact body ends with a line feed, an indented one does not. */
export function respondJson(
  envelope: Envelope,
  answer: { readonly code: number; readonly json: string; readonly form: Representation },
): Response {
  const { code, json, form } = answer;
  const body = form.pretty ? indentJson(json) : `${json}\n`;
  return respond(envelope, { code, body, headers: { 'Content-Type': form.mediaType } });
}

/** `form` is undefined when the client accepts nothing that we have: it sees the error all the same, indented. */
export function respondError(
  envelope: Envelope,
  answer: {
    readonly error: StatusError;
    readonly form: Representation | undefined;
    readonly allow?: readonly string[] | undefined;
  },
): Response {
  const { error, form, allow } = answer;
  const json = encodeStatus(error.status);
  const retryAfter = error.status.details?.retryAfterSeconds ?? 0;
  return respond(envelope, {
    code: error.code,
    body: form === undefined || form.pretty ? indentJson(json) : `${json}\n`,
    headers: {
      'Content-Type': form?.mediaType ?? 'application/json',
      ...(retryAfter > 0 ? { 'Retry-After': String(retryAfter) } : {}),
      ...(allow === undefined ? {} : { Allow: allow.join(', ') }),
    },
  });
}

/** What is refused is answered, also when the refusal is longer than a text can be. */
function encodeStatus(status: Status): string {
  try {
    return encodeJson(status);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    const { message: _long, details: _longer, ...rest } = status;
    return encodeJson({ ...rest, message: 'the failure is too long to be told' });
  }
}

/** Plain text, which a browser must not take for anything else. */
export function respondText(envelope: Envelope, code: number, text: string): Response {
  const headers = { 'Content-Type': 'text/plain; charset=utf-8', 'X-Content-Type-Options': 'nosniff' };
  return respond(envelope, { code, body: text, headers });
}

/** An answer without end: the head goes out at once. */
export function respondStream(envelope: Envelope, body: ReadableStream<Uint8Array>, mediaType: string): Response {
  return respond(envelope, { code: 200, body, headers: { 'Content-Type': mediaType } });
}

interface Parts {
  readonly code: number;
  readonly body: string | ReadableStream<Uint8Array>;
  readonly headers: HeaderTable;
}

function respond(envelope: Envelope, { code, body, headers }: Parts): Response {
  const response = new Response(envelope.headOnly ? null : body, {
    status: code,
    headers: { 'Audit-Id': envelope.auditId, 'Cache-Control': 'no-cache, private', ...headers },
  });
  if (envelope.warnings.length > 0) {
    for (const warning of warningHeaders(envelope.warnings)) response.headers.append('Warning', warning);
  }
  return response;
}
