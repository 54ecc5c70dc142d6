/**
 * Encodes JSON like the reference server: compact, with HTML characters escaped. Stored objects are frozen and shared, so
 * their text is cached by identity: a get, a list and a thousand watchers encode an object once.
 */

import type { ApiObject } from '../meta/object.js';
import { escapeForPages } from '../util/json.js';
import { encodeEach } from './codec.js';

const bareItems = new WeakMap<ApiObject, object>();

/** The objects from which bare items were created. */
const wholeObjects = new WeakMap<object, ApiObject>();

/** An escaped backslash (matched, so that the text after it is not misinterpreted) or a lone surrogate. */
const ESCAPED_HALF = /\\\\|\\ud[89a-f][0-9a-f]{2}/g;

/** The texts of frozen objects. */
const texts = new WeakMap<object, string>();

/**
 * Encodes a JSON value without a final line feed. Keys with the value `undefined` are omitted; bigints become integers.
 *
 * @example
 * encodeJson({ a: '<', b: 1n }) // {"a":"\u003c","b":1}
 */
export function encodeJson(value: unknown): string {
  const text = escapeForPages(encodeNatively(value) ?? encodeWidely(value));
  return text.includes('\\ud') ? text.replace(ESCAPED_HALF, replaceHalf) : text;
}

/** {@link encodeJson} with a cache for frozen objects (by convention they are deeply frozen). */
export function encodeCached(object: object): string {
  const known = texts.get(object);
  if (known !== undefined) return known;
  const text = encodeJson(object);
  if (Object.isFrozen(object)) texts.set(object, text);
  return text;
}

/**
 * Encodes a document in pieces. The items of a list and the rows of a table are encoded one by one, with the cache: the text
 * of all of them can be too long for a regular expression, which ends the process.
 */
export function* encodeDocument(document: object): Generator<undefined, string[]> {
  const items: unknown = 'items' in document ? document.items : 'rows' in document ? document.rows : undefined;
  if (!Array.isArray(items) || items.length === 0) return [encodeCached(document)];
  const pieces: string[] = [];
  let head = '{';
  for (const [key, value] of Object.entries(document)) {
    if (value === undefined) continue;
    head += `${head === '{' ? '' : ','}${encodeJson(key)}:`;
    if (value !== items) {
      head += encodeJson(value);
      continue;
    }
    pieces.push(`${head}[`);
    yield* encodeEach(items, (item: unknown, index) => {
      appendItem(pieces, item, index === 0);
      return (pieces[pieces.length - 1] as string).length;
    });
    head = ']';
  }
  pieces.push(`${head}}`);
  return pieces;
}

function appendItem(pieces: string[], item: unknown, isFirst: boolean): void {
  if (typeof item !== 'object' || item === null) {
    pieces.push(`${isFirst ? '' : ','}${encodeJson(item)}`);
    return;
  }
  const tail = tailOfBare(item);
  if (tail === undefined) pieces.push(isFirst ? encodeItem(item) : `,${encodeItem(item)}`);
  else pieces.push(isFirst ? '{' : ',{', tail);
}

/** The row of a table is new, but the object at its end may be a stored one. */
function encodeItem(item: object): string {
  if (!('cells' in item) || Object.isFrozen(item) || Object.keys(item).at(-1) !== 'object') return encodeCached(item);
  const { object, ...row } = item as { readonly object?: unknown };
  if (typeof object !== 'object' || object === null || !Object.isFrozen(object)) return encodeJson(item);
  return `${encodeJson(row).slice(0, -1)},"object":${encodeCached(object)}}`;
}

/** The texts of bare items without the opening brace: slices of the objects' texts, which share memory with them. */
const tails = new WeakMap<object, string>();

function tailOfBare(item: object): string | undefined {
  const known = tails.get(item);
  if (known !== undefined) return known;
  const whole = wholeObjects.get(item);
  if (whole === undefined) return undefined;
  const text = encodeCached(whole);
  // The text of stored objects of built-in kinds starts with these fields.
  const head = `{"kind":${encodeJson(whole.kind)},"apiVersion":${encodeJson(whole.apiVersion)},`;
  if (!text.startsWith(head)) return undefined;
  const tail = text.slice(head.length);
  tails.set(item, tail);
  return tail;
}

/**
 * Indents compact JSON text by two spaces, without a final line feed. Empty objects and arrays stay on one line.
 * `nesting`: the depth before the text; updated to that after the text.
 */
export function indentJson(text: string, nesting = { depth: 0 }): string {
  let out = '';
  let { depth } = nesting;
  for (let at = 0; at < text.length; at++) {
    const character = text[at] ?? '';
    if (character === '"') {
      const end = endOfString(text, at);
      out += text.slice(at, end);
      at = end - 1;
    } else if ((character === '{' || character === '[') && text[at + 1] !== CLOSERS[character]) {
      out += character + newLine(++depth);
    } else if ((character === '}' || character === ']') && OPENERS[character] !== text[at - 1]) {
      out += newLine(--depth) + character;
    } else if (character === ',') out += `,${newLine(depth)}`;
    else if (character === ':') out += ': ';
    else out += character;
  }
  nesting.depth = depth;
  return out;
}

const CLOSERS = { '{': '}', '[': ']' } as const;
const OPENERS = { '}': '{', ']': '[' } as const;

function newLine(depth: number): string {
  return `\n${'  '.repeat(depth)}`;
}

/** The index after the string that starts at `open`. */
function endOfString(text: string, open: number): number {
  let at = open + 1;
  while (text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at + 1;
}

/** Undefined if JSON.stringify throws: for a bigint, or for values that are nested too deeply. */
function encodeNatively(value: unknown): string | undefined {
  try {
    return JSON.stringify(value) ?? 'null';
  } catch (error) {
    if (error instanceof TypeError || error instanceof RangeError) return undefined;
    throw error;
  }
}

/** Pending output: text, or a value to encode. */
type Step = { readonly text: string } | { readonly value: unknown };

/** Encodes what JSON.stringify cannot. Uses an explicit stack, so that deep nesting does not overflow the call stack. */
function encodeWidely(root: unknown): string {
  let out = '';
  const steps: Step[] = [{ value: root }];
  for (let step = steps.pop(); step !== undefined; step = steps.pop()) {
    if ('text' in step) out += step.text;
    else if (typeof step.value === 'bigint') out += String(step.value);
    else if (typeof step.value === 'object' && step.value !== null) {
      for (const next of stepsOf(step.value).reverse()) steps.push(next);
    }
    // Values that JSON cannot represent become null in an array, like in JSON.stringify.
    else out += JSON.stringify(step.value) ?? 'null';
  }
  return out;
}

function stepsOf(container: object): Step[] {
  if (Array.isArray(container)) {
    const items = container.flatMap((value, index): Step[] => [{ text: index === 0 ? '' : ',' }, { value }]);
    return [{ text: '[' }, ...items, { text: ']' }];
  }
  const fields = Object.entries(container).filter(([, value]) => value !== undefined);
  const members = fields.flatMap(([key, value], index): Step[] => [
    { text: `${index === 0 ? '' : ','}${JSON.stringify(key)}:` },
    { value },
  ]);
  return [{ text: '{' }, ...members, { text: '}' }];
}

/** A lone surrogate cannot be encoded in UTF-8. */
function replaceHalf(match: string): string {
  return match === '\\\\' ? match : '\\ufffd';
}

/**
 * The object as an item of a typed list: without kind and apiVersion, which the list states. The item is created once for
 * each object, so that encodings can be cached by its identity.
 */
export function bareItem(object: ApiObject): object {
  const known = bareItems.get(object);
  if (known !== undefined) return known;
  const { kind: _kind, apiVersion: _apiVersion, ...rest } = object;
  if (!Object.isFrozen(object)) return rest;
  const bare = Object.freeze(rest);
  bareItems.set(object, bare);
  wholeObjects.set(bare, object);
  return bare;
}
