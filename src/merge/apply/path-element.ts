/**
 * Path elements: one step of a field path, in the text form of FieldsV1. Field sets use these texts as keys, so two
 * elements are equal if and only if their texts are.
 *
 * - `f:spec`: a field of a struct, or a map key
 * - `k:{"name":"web"}`: the list item with these keys
 * - `v:"example.com/wait"`: the item of a set with this value
 * - `i:3`: the item at an index; parsed, but never created
 */
import { quote } from '../../text/go/go-text.js';
import { compareUtf8, printGoValue } from '../../text/go/go-value.js';
import { escapeForPages, isRecord, requireJson } from '../../util/json.js';

/** The text of a path element. */
export type PathElement = string;

/** The path element of a field or a map key. */
export function fieldElement(name: string): PathElement {
  return `f:${name}`;
}

/** The keys must be sorted by name. */
export function keyElement(keys: readonly (readonly [name: string, value: unknown])[]): PathElement {
  let text = 'k:{';
  let separator = '';
  for (const [name, value] of keys) {
    text += `${separator}${JSON.stringify(name)}:${valueText(value)}`;
    separator = ',';
  }
  return `${text}}`;
}

/** The path element of an item of a `set` list. */
export function valueElement(value: unknown): PathElement {
  return `v:${valueText(value)}`;
}

/** Stands for list items without a path element. Only used in temporary sets. */
export const UNKNOWN_ITEM: PathElement = '?:';

/** The name of a field element; undefined for other elements. */
export function fieldName(element: PathElement): string | undefined {
  return element.startsWith('f:') ? element.slice(2) : undefined;
}

/** Reports whether an element is that of an item of a `map` list. */
export function isKeyed(element: PathElement): boolean {
  return element.startsWith('k:');
}

/**
 * Compact JSON with sorted keys, so that equal values have equal texts. Elements are compared and printed as text, so
 * this is exactly the reference server's encoding.
 */
function valueText(value: unknown): string {
  if (typeof value === 'string') {
    return PLAIN.test(value) ? `"${value}"` : escapeForPages(JSON.stringify(value).replace(ESCAPE, longEscape));
  }
  if (Number.isSafeInteger(value)) return String(value);
  // The server writes exponents with at least two digits.
  if (typeof value === 'number') return JSON.stringify(value).replace(/e-(\d)$/, 'e-0$1');
  if (Array.isArray(value)) return `[${value.map(valueText).join(',')}]`;
  if (!isRecord(value)) return String(value ?? null);
  const members = Object.keys(value)
    .sort(compareUtf8)
    .map((key) => `${valueText(key)}:${valueText(value[key])}`);
  return `{${members.join(',')}}`;
}

/** No character that must be escaped, as in almost all names. */
const PLAIN = /^[\w ./:-]*$/;

/** A complete JSON escape, so that a backslash is not taken for the start of another one. */
const ESCAPE = /\\./g;

/** The server has no short escape for these two. */
function longEscape(found: string): string {
  if (found === '\\b') return '\\u0008';
  return found === '\\f' ? '\\u000c' : found;
}

/** A path element from a client is invalid. */
export class PathElementError extends Error {
  override readonly name = 'PathElementError';
}

/**
 * Parses a path element and returns its canonical text; undefined for an unknown kind of element, which is ignored.
 * Throws {@link PathElementError}.
 */
export function parseElement(text: string): PathElement | undefined {
  if (text.length < 2) throw new PathElementError('key must be 2 characters long:');
  if (text[1] !== ':') throw new PathElementError(`missing colon: ${text}`);
  const rest = text.slice(2);
  switch (text[0]) {
    case 'f':
      return text;
    case 'k': {
      const keys = parseJson(rest);
      if (!isRecord(keys)) throw new PathElementError(`expected map: ${text}`);
      return keyElement(Object.entries(keys).sort(([left], [right]) => compareUtf8(left, right)));
    }
    case 'v':
      return valueElement(parseJson(rest));
    case 'i': {
      if (!/^[+-]?\d+$/.test(rest)) throw new PathElementError(`strconv.Atoi: parsing ${quote(rest)}: invalid syntax`);
      return `i:${Number(rest)}`;
    }
    default:
      return undefined;
  }
}

function parseJson(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    // Limits the depth.
    requireJson(value);
    return value;
  } catch (error) {
    throw new PathElementError(`invalid value ${quote(text)}`, { cause: error });
  }
}

/**
 * Prints a path element for messages: `.spec`, `[name="web"]`, `[="x"]`, `[3]`. Numbers of a stored set are floats:
 * `[port=1e+06]`.
 */
export function printElement(element: PathElement, from: 'object' | 'stored' = 'object'): string {
  const rest = element.slice(2);
  switch (element[0]) {
    case 'k':
      return `[${keysOf(element)
        .map(([name, value]) => `${name}=${printValue(value, from)}`)
        .join(',')}]`;
    case 'v':
      return `[=${printValue(JSON.parse(rest), from)}]`;
    case 'i':
      return `[${rest}]`;
    default:
      return `.${rest}`;
  }
}

function printValue(value: unknown, from: 'object' | 'stored'): string {
  if (typeof value === 'string') return quote(value);
  if (value === null) return 'null';
  if (Array.isArray(value)) return `[${value.map((item) => printValue(item, from)).join(',')}]`;
  if (isRecord(value)) {
    return Object.entries(value)
      .map(([key, item]) => `${key}=${printValue(item, from)}`)
      .join('');
  }
  const isLong = typeof value === 'number' && Math.abs(value) >= 1e6;
  return isLong && from === 'stored' ? value.toExponential().replace(/\+(\d)$/, '+0$1') : printGoValue(value);
}

/** The canonical order of sibling elements: the node itself, fields, items by key, by value, by index. */
export function compareElements(left: PathElement, right: PathElement): number {
  if (left === right) return 0;
  if (left[0] === 'f' && right[0] === 'f') return compareUtf8(left, right);
  if (left[0] === 'k' && right[0] === 'k') return compareKeys(keysOf(left), keysOf(right));
  return compareParsed(parsed(left), parsed(right));
}

/** Sorts elements in canonical order, in place. Each element is parsed at most once. */
export function sortElements(elements: PathElement[]): PathElement[] {
  if (elements.every((element) => element[0] === 'f' || element === '.')) return elements.sort(compareUtf8);
  // The parsed keys are cached.
  if (elements.length <= FEW && elements.every((element) => element[0] === 'k' || element === '.')) {
    return elements.sort(compareElements);
  }
  return elements
    .map((element) => ({ element, parsed: parsed(element) }))
    .sort((left, right) => compareParsed(left.parsed, right.parsed))
    .map(({ element }) => element);
}

const FEW = 16;

const RANK = '.fkvi';

/** An element, parsed as far as its order requires. */
interface Parsed {
  readonly rank: number;
  readonly value: unknown;
}

function parsed(element: PathElement): Parsed {
  const rank = RANK.indexOf(element[0] ?? '');
  switch (element[0]) {
    case 'k':
      return { rank, value: keysOf(element) };
    case 'v':
      return { rank, value: JSON.parse(element.slice(2)) };
    case 'i':
      return { rank, value: Number(element.slice(2)) };
    default:
      return { rank, value: element };
  }
}

function compareParsed(left: Parsed, right: Parsed): number {
  if (left.rank !== right.rank) return left.rank - right.rank;
  if (RANK[left.rank] === 'k') return compareKeys(left.value as Keys, right.value as Keys);
  return compareValues(left.value, right.value);
}

type Keys = readonly (readonly [name: string, value: unknown])[];

/** Cache of parsed keys, because the same few are compared often. Cleared when it is full. */
const parsedKeys = new Map<PathElement, Keys>();
const MAX_PARSED_KEYS = 10_000;
const LONGEST_PARSED_KEY = 200;

/** The names and values of a `k:` element. */
export function keysOf(element: PathElement): Keys {
  const cached = parsedKeys.get(element);
  if (cached !== undefined) return cached;
  const keys = Object.entries(JSON.parse(element.slice(2)) as Record<string, unknown>);
  // Long keys are rare and not worth caching.
  if (element.length > LONGEST_PARSED_KEY) return keys;
  if (parsedKeys.size >= MAX_PARSED_KEYS) parsedKeys.clear();
  parsedKeys.set(element, keys);
  return keys;
}

function compareKeys(left: Keys, right: Keys): number {
  for (let at = 0; at < left.length && at < right.length; at++) {
    const [leftName, leftValue] = left[at] as Keys[number];
    const [rightName, rightValue] = right[at] as Keys[number];
    const order =
      (leftName === rightName ? 0 : compareUtf8(leftName, rightName)) ||
      (typeof leftValue === 'string' && typeof rightValue === 'string'
        ? compareUtf8(leftValue, rightValue)
        : compareValues(leftValue, rightValue));
    if (order !== 0) return order;
  }
  return left.length - right.length;
}

/** Numbers, then strings, booleans, lists, maps, and null last. */
function compareValues(left: unknown, right: unknown): number {
  const kind = valueRank(left) - valueRank(right);
  if (kind !== 0) return kind;
  if (typeof left === 'string') return compareUtf8(left, right as string);
  if (typeof left === 'number' || typeof left === 'boolean') return Number(left) - Number(right);
  return compareUtf8(JSON.stringify(left), JSON.stringify(right));
}

function valueRank(value: unknown): number {
  if (value === null) return 5;
  if (Array.isArray(value)) return 3;
  return VALUE_RANKS.indexOf(typeof value);
}

const VALUE_RANKS = ['number', 'string', 'boolean', 'list', 'object'];
