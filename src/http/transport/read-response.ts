/**
 * Reads a fetch Response as an ApiResponse: a frozen object, list or Status, as a cluster in this process would return
 * it; or throws the error.
 */
import type { StatusError } from '../../meta/errors.js';
import type { ApiRequest } from '../../protocol/request.js';
import type { ApiResponse, ObjectResponse } from '../../protocol/response.js';
import { JsonSyntaxError, parseJson } from '../../text/json/parse-json.js';
import { recoverFrom } from '../../util/catch-error.js';
import { deepFreeze, isRecord, type MutableRecord } from '../../util/json.js';
import { readText } from '../../util/read-text.js';
import { parseMediaType } from '../header-values.js';
import {
  brokenResponseError,
  errorWithoutStatus,
  type ResponseHead,
  redirectError,
  type SentRequest,
  statusError,
  unusableResponseError,
} from './response-errors.js';
import { HttpWatchStream } from './watch-stream.js';

/** `299 agent "text" "date"`; the date is optional, and the text may hold escaped quotes and commas. */
const WARNING = /(\d{3}) +([^\s"]+) +"((?:[^"\\]|\\.)*)"(?: +"[^"]*")?/y;

const SEPARATOR = /[\s,]*/y;

/** The warn-code of warnings from the API server, as opposed to, say, a cache. */
const PERSISTENT_WARNING = '299';

/** Whether the response is successful; otherwise use {@link readFailure}. */
export function isSuccess({ status }: Response): boolean {
  return status >= 200 && status <= 299;
}

/** Reads the status code, warnings and Retry-After. */
export function readHead(response: Response): ResponseHead {
  const retryAfter = response.headers.get('retry-after') ?? '';
  return {
    code: response.status,
    warnings: warningTexts(response.headers.get('warning')),
    retryAfterSeconds: /^\d{1,9}$/.test(retryAfter) ? Number(retryAfter) : undefined,
  };
}

/** Reads a successful response. Throws StatusError. */
export async function readResponse(request: ApiRequest, response: Response): Promise<ApiResponse> {
  const head = readHead(response);
  const mediaType = parseMediaType(response.headers.get('content-type') ?? '');
  if (mediaType !== 'application/json') {
    const why = mediaType === undefined ? 'it has no content type' : `its body is ${mediaType} instead of JSON`;
    throw unusableResponseError(request, head, { why, text: await textOf(response) });
  }
  if (request.verb === 'watch') {
    if (response.body === undefined)
      throw unusableResponseError(request, head, { why: 'this fetch cannot stream', text: '' });
    return { type: 'watch', watch: new HttpWatchStream(response.body, request.signal), warnings: head.warnings };
  }
  const text = await textOf(response);
  const value = parseBody(request, head, text);
  const tooDeep = () => {
    throw unusableResponseError(request, head, { why: 'its JSON is nested too deeply', text });
  };
  const failed = recoverFrom(RangeError, () => statusError(value, head), tooDeep);
  if (failed !== undefined) throw failed;
  const object = recoverFrom(RangeError, () => toAnswer(request, value), tooDeep);
  if (object === undefined) throw unusableResponseError(request, head, { why: 'its JSON is not an API object', text });
  return { type: 'object', code: head.code, object, warnings: head.warnings };
}

/** Reads the error of an unsuccessful response. */
export async function readFailure(asked: SentRequest, response: Response): Promise<StatusError> {
  const head = readHead(response);
  if (response.type === 'opaqueredirect' || (head.code >= 300 && head.code <= 399)) {
    await response.body?.cancel();
    // Browsers hide the code of a redirect.
    return redirectError(asked.request, { ...head, code: head.code || 302 }, response.headers.get('location'));
  }
  const text = await textOf(response, MAX_ERROR_BODY);
  const type = parseMediaType(response.headers.get('content-type') ?? '');
  if (type === 'application/json') {
    const failed = statusError(parseLoosely(text), head);
    if (failed !== undefined) return failed;
  }
  const isText = type === undefined || type === 'application/json' || type.startsWith('text/');
  return errorWithoutStatus(asked, head, isText ? text : '');
}

/** More does not fit into a string of V8, but would be read into memory first. */
const MAX_BODY = 0x1fffffe8;

/** An error is short; the reference server's are at most some kilobytes. */
const MAX_ERROR_BODY = 16 * 1024 * 1024;

async function textOf(response: Response, maxLength = MAX_BODY): Promise<string> {
  let text: string | undefined;
  try {
    // The fetch of some platforms has no streams.
    text = response.body === undefined ? await response.text() : await readText(response, maxLength);
  } catch (error) {
    throw brokenResponseError(error);
  }
  if (text === undefined) throw brokenResponseError(new Error(`it is longer than ${maxLength} bytes`));
  return text;
}

function parseBody(request: ApiRequest, head: ResponseHead, text: string): unknown {
  try {
    return parseJson(text).value;
  } catch (cause) {
    if (!(cause instanceof JsonSyntaxError)) throw cause;
    throw unusableResponseError(request, head, { why: `its body is not JSON: ${cause.message}`, text, cause });
  }
}

/** Undefined for a text that is not JSON; the caller reports the text itself. */
function parseLoosely(text: string): unknown {
  try {
    return parseJson(text).value;
  } catch (error) {
    if (error instanceof JsonSyntaxError) return undefined;
    throw error;
  }
}

/** Undefined when the value is not an API object, or not the type that the verb returns. */
function toAnswer({ verb }: ApiRequest, value: unknown): ObjectResponse['object'] | undefined {
  if (!isRecord(value) || typeof value['kind'] !== 'string' || typeof value['apiVersion'] !== 'string')
    return undefined;
  const isList = Array.isArray(value['items']) || value['items'] === null;
  if (verb === 'list' && !isList) return undefined;
  const answer = isList && (verb === 'list' || verb === 'deletecollection') ? withTypedItems(value) : value;
  // Beyond the type, the server is trusted, as with any transport.
  return deepFreeze(answer) as unknown as ObjectResponse['object'];
}

/** Items of built-in lists omit kind and apiVersion. The items of an empty list may be null. */
function withTypedItems(list: MutableRecord): MutableRecord {
  const { kind, apiVersion } = list;
  const items = Array.isArray(list['items']) ? list['items'] : [];
  dropEmptyToken(list['metadata']);
  if (typeof kind !== 'string' || !kind.endsWith(LIST_SUFFIX)) return { ...list, items };
  const type = { kind: kind.slice(0, -LIST_SUFFIX.length), apiVersion };
  return { ...list, items: items.map((item: unknown) => (isRecord(item) ? { ...type, ...item } : item)) };
}

/** Lists of custom resources have an empty `continue` on the last page. */
function dropEmptyToken(metadata: unknown): void {
  if (isRecord(metadata) && metadata['continue'] === '') delete metadata['continue'];
}

const LIST_SUFFIX = 'List';

/** The texts of all warnings in order, without duplicates. Parsing stops at the first malformed one. */
function warningTexts(header: string | null): string[] {
  if (header === null) return [];
  const texts = new Set<string>();
  for (let at = 0; at < header.length; ) {
    const [, code, , quoted] = matchAt(WARNING, header, skip(SEPARATOR, header, at)) ?? [];
    if (quoted === undefined) break;
    at = WARNING.lastIndex;
    const text = fromHeaderBytes(quoted.replace(/\\(.)/g, '$1'));
    if (code === PERSISTENT_WARNING && text !== '') texts.add(text);
  }
  return [...texts];
}

function skip(pattern: RegExp, text: string, at: number): number {
  matchAt(pattern, text, at);
  return pattern.lastIndex;
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

/** fetch returns each byte of a header as one character; text that is not UTF-8 is returned unchanged. */
function fromHeaderBytes(text: string): string {
  if (!/[\x80-\xff]/.test(text)) return text;
  const bytes = Uint8Array.from(text, (character) => character.charCodeAt(0));
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    if (error instanceof TypeError) return text;
    throw error;
  }
}
