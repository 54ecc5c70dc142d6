/**
 * A Response → what the protocol calls an answer: an object, a list or a Status, frozen, as a cluster in this process
 * would have given it; or the failure, thrown.
 */
import type { StatusError } from '../../meta/errors.js';
import type { ApiRequest } from '../../protocol/request.js';
import type { ApiResponse, ObjectResponse } from '../../protocol/response.js';
import { JsonSyntaxError, parseJson } from '../../text/json/parse-json.js';
import { deepFreeze, isRecord, type MutableRecord } from '../../util/json.js';
import { parseMediaType } from '../header-values.js';
import {
  type Asked,
  bareFailure,
  brokenOff,
  redirected,
  statusFailure,
  type Told,
  unusable,
} from './response-errors.js';
import { HttpWatchStream } from './watch-stream.js';

/** `299 agent "text" "date"`; the date is optional, and the text may hold escaped quotes and commas. */
const WARNING = /(\d{3}) +([^\s"]+) +"((?:[^"\\]|\\.)*)"(?: +"[^"]*")?/y;

const SEPARATOR = /[\s,]*/y;

/** The code of a warning that concerns the request itself and not, say, a cache on the way. */
const PERSISTENT = '299';

/** Whether the server has done what it was asked; anything else is for {@link failureOf}. */
export function isSuccess({ status }: Response): boolean {
  return status >= 200 && status <= 299;
}

/** What the headers say. */
export function toldBy(response: Response): Told {
  const retryAfter = response.headers.get('retry-after') ?? '';
  return {
    code: response.status,
    warnings: warningTexts(response.headers.get('warning')),
    retryAfterSeconds: /^\d{1,9}$/.test(retryAfter) ? Number(retryAfter) : undefined,
  };
}

/** The answer of a successful response. Throws StatusError. */
export async function answerOf(request: ApiRequest, response: Response): Promise<ApiResponse> {
  const told = toldBy(response);
  const mediaType = parseMediaType(response.headers.get('content-type') ?? '');
  if (mediaType !== 'application/json') {
    const why = mediaType === undefined ? 'without a content type' : `with ${mediaType} instead of JSON`;
    throw unusable(request, told, { why, text: await textOf(response) });
  }
  if (request.verb === 'watch') {
    if (response.body === undefined) throw unusable(request, told, { why: 'this fetch cannot stream', text: '' });
    return { type: 'watch', watch: new HttpWatchStream(response.body, request.signal), warnings: told.warnings };
  }
  const text = await textOf(response);
  const value = parse(request, told, text);
  const failed = statusFailure(value, told);
  if (failed !== undefined) throw failed;
  const object = asAnswer(request, value);
  if (object === undefined) throw unusable(request, told, { why: 'with JSON that is no object of the API', text });
  return { type: 'object', code: told.code, object, warnings: told.warnings };
}

/** The failure that a response of no success stands for. */
export async function failureOf(asked: Asked, response: Response): Promise<StatusError> {
  const told = toldBy(response);
  if (response.type === 'opaqueredirect' || (told.code >= 300 && told.code <= 399)) {
    await response.body?.cancel();
    // Browsers do not even tell the code.
    return redirected(asked.request, { ...told, code: told.code || 302 }, response.headers.get('location'));
  }
  const text = await textOf(response);
  const type = parseMediaType(response.headers.get('content-type') ?? '');
  if (type === 'application/json') {
    const failed = statusFailure(parseLoosely(text), told);
    if (failed !== undefined) return failed;
  }
  const isText = type === undefined || type === 'application/json' || type.startsWith('text/');
  return bareFailure(asked, told, isText ? text : '');
}

async function textOf(response: Response): Promise<string> {
  try {
    return await response.text();
  } catch (error) {
    throw brokenOff(error);
  }
}

function parse(request: ApiRequest, told: Told, text: string): unknown {
  try {
    return parseJson(text).value;
  } catch (cause) {
    if (!(cause instanceof JsonSyntaxError)) throw cause;
    throw unusable(request, told, { why: `its body is no JSON: ${cause.message}`, text, cause });
  }
}

/** Undefined for what is no JSON; it is told as the text it is. */
function parseLoosely(text: string): unknown {
  try {
    return parseJson(text).value;
  } catch (error) {
    if (error instanceof JsonSyntaxError) return undefined;
    throw error;
  }
}

/** Undefined when the value is no object, or none of the kind of thing that the verb is answered with. */
function asAnswer({ verb }: ApiRequest, value: unknown): ObjectResponse['object'] | undefined {
  if (!isRecord(value) || typeof value['kind'] !== 'string' || typeof value['apiVersion'] !== 'string')
    return undefined;
  const isList = Array.isArray(value['items']) || value['items'] === null;
  if (verb === 'list' && !isList) return undefined;
  const answer = isList && (verb === 'list' || verb === 'deletecollection') ? withTypedItems(value) : value;
  // Of the parts beyond the type the server is trusted, as over any transport.
  return deepFreeze(answer) as unknown as ObjectResponse['object'];
}

/** Lists of built-in kinds say once what their items are. An empty list may be a null. */
function withTypedItems(list: MutableRecord): MutableRecord {
  const { kind, apiVersion } = list;
  const items = Array.isArray(list['items']) ? list['items'] : [];
  dropEmptyToken(list['metadata']);
  if (typeof kind !== 'string' || !kind.endsWith(LIST)) return { ...list, items };
  const type = { kind: kind.slice(0, -LIST.length), apiVersion };
  return { ...list, items: items.map((item: unknown) => (isRecord(item) ? { ...type, ...item } : item)) };
}

/** Lists of custom kinds have a token even when there are no more pages. */
function dropEmptyToken(metadata: unknown): void {
  if (isRecord(metadata) && metadata['continue'] === '') delete metadata['continue'];
}

const LIST = 'List';

/**
 * The texts of all warnings, in order, without repeats. A header that is malformed at some point has told what it had
 * to tell before it.
 */
function warningTexts(header: string | null): string[] {
  if (header === null) return [];
  const texts = new Set<string>();
  for (let at = 0; at < header.length; ) {
    const [, code, , quoted] = matchAt(WARNING, header, after(SEPARATOR, header, at)) ?? [];
    if (quoted === undefined) break;
    at = WARNING.lastIndex;
    const text = fromBytes(quoted.replace(/\\(.)/g, '$1'));
    if (code === PERSISTENT && text !== '') texts.add(text);
  }
  return [...texts];
}

function after(pattern: RegExp, text: string, at: number): number {
  matchAt(pattern, text, at);
  return pattern.lastIndex;
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

/** fetch gives each byte of a header as one character; text that was never UTF-8 stays as it is. */
function fromBytes(text: string): string {
  if (!/[\x80-\xff]/.test(text)) return text;
  const bytes = Uint8Array.from(text, (character) => character.charCodeAt(0));
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    if (error instanceof TypeError) return text;
    throw error;
  }
}
