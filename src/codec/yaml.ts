/**
 * YAML bodies as the reference server reads those of apply: YAML 1.1 (with `yes` and `017`), converted to JSON. Most
 * bodies are JSON already and are parsed as such where that makes no difference.
 *
 * `text/yaml` scans, parses and decodes the text. It is not a library, because available libraries implement YAML 1.2,
 * treat some indentations and unfinished lines differently, and report less specific errors.
 */

import type { RequestBody } from '../protocol/body.js';
import { BodyError } from '../protocol/body.js';
import { JsonSyntaxError, parseJson } from '../text/json/parse-json.js';
import {
  compareKeys,
  Decoder,
  forbiddenCharacterError,
  goScalar,
  goValue,
  isYamlScalar,
  jsonKey,
  normalizeBreaks,
  parseDocument,
  writeYaml,
  type YamlMapping,
  YamlSyntaxError,
  type YamlValue,
} from '../text/yaml/index.js';
import { append } from '../util/arrays.js';
import { decodeUtf8 } from '../util/bytes.js';
import type { MutableRecord, ParsedBody } from '../util/json.js';
import { isRecord, setOwn } from '../util/json.js';
import type { Codec } from './codec.js';
import { bodySummary } from './json.js';

export const yaml: Codec = {
  mediaType: () => 'application/yaml',
  carries: 'all kinds',
  tables: true,
  body: (bytes) => yamlDocumentBody(decodeUtf8(bytes)),
  encode: encodeDocument,
};

/** Texts of frozen documents and of frozen items, for as long as those live. They differ in how far they are indented. */
const documents = new WeakMap<object, string>();

const items = new WeakMap<object, string>();

const ITEMS = 'items:\n';

export interface YamlBody extends RequestBody {
  /**
   * What a strict reader complains of, one finished line per repeated key in document order:
   * `line 7: key "k" already set in map`. Empty when there is none. Throws {@link BodyError} like `read`.
   */
  repeatedKeys(): readonly string[];
}

/**
 * A request body of YAML text. `read` gives an object or null: null for no document at all. It throws
 * {@link BodyError} for anything else, with the reference server's whole sentence from `error converting YAML to JSON`
 * or `error unmarshaling JSON` on.
 *
 * @example
 * yamlBody('a: yes\na: 017\n').read().value // { a: 15 }
 *
 * @param linesBefore of the file that the text is a part of: messages count from its beginning
 */
export function yamlBody(text: string, linesBefore = 0): YamlBody {
  return lazyBody(text, () => readConfiguration(text, linesBefore));
}

/**
 * The same for a text that may be any document, as a create or an update carries it. A text that cannot be turned into
 * JSON is a {@link BodyError} whose message says all.
 */
export function yamlDocumentBody(text: string): YamlBody {
  return lazyBody(text, () => readWhole(text));
}

function lazyBody(text: string, read: () => Document): YamlBody {
  let document: Document | undefined;
  const open = (): Document => {
    document ??= read();
    return document;
  };
  return {
    read: () => open().parsed,
    repeatedKeys: () => open().repeatedKeys,
    summary: () => bodySummary(text),
    text: () => text,
  };
}

interface Document {
  readonly parsed: ParsedBody;
  readonly repeatedKeys: readonly string[];
}

/** The text cannot be turned into JSON; the two callers word it differently. */
class ConversionError extends Error {
  override readonly name = 'ConversionError';
}

/** On its way through JSON the reference server sorts all keys, which decides what it complains of first. */
function readWhole(text: string): Document {
  const { parsed, repeatedKeys } = readOr(text, 0, (problem) => new BodyError(problem, { isWhole: true }));
  return { parsed: { ...parsed, value: inKeyOrder(parsed.value) }, repeatedKeys };
}

function inKeyOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inKeyOrder);
  if (!isRecord(value)) return value;
  const sorted: MutableRecord = {};
  for (const key of Object.keys(value).sort()) setOwn(sorted, key, inKeyOrder(value[key]));
  return sorted;
}

function readConfiguration(text: string, linesBefore: number): Document {
  const refuse = (problem: string) => new BodyError(`error converting YAML to JSON: ${problem}`);
  const document = readOr(text, linesBefore, refuse);
  const { value } = document.parsed;
  if (value !== null && !isRecord(value)) {
    throw new BodyError(
      `error unmarshaling JSON: while decoding JSON: json: cannot unmarshal ${jsonTypeOf(value)} into Go value of type map[string]interface {}`,
    );
  }
  return document;
}

function readOr(text: string, linesBefore: number, refuse: (problem: string) => BodyError): Document {
  try {
    return readPlainJson(text) ?? readYaml(text, linesBefore);
  } catch (error) {
    if (error instanceof ConversionError) throw refuse(error.message);
    throw error;
  }
}

function jsonTypeOf(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'boolean') return 'bool';
  return typeof value === 'string' ? 'string' : 'number';
}

/** A text that means the same as JSON and as YAML; undefined when it might not, or is no JSON. */
function readPlainJson(text: string): Document | undefined {
  // A tab is not among the white space that may surround a YAML document.
  if (!/^[ \r\n]*\{/.test(text) || !/\}[ \r\n]*$/.test(text) || UNLIKE_YAML.test(text)) return undefined;
  try {
    const parsed = parseJson(text);
    if (parsed.duplicates !== undefined || (text.length > LONGEST_KEY && hasLongKey(parsed.value))) return undefined;
    return { parsed, repeatedKeys: [] };
  } catch (error) {
    if (error instanceof JsonSyntaxError) return undefined;
    throw error;
  }
}

/**
 * What JSON may hold and YAML reads differently or not at all: `\/` and escaped surrogates, white space before a colon
 * (a key and its colon share a line), characters that YAML forbids or takes for line breaks, numbers of many digits,
 * and a minus before a zero.
 */
const UNLIKE_YAML =
  /\\\/|\\u[dD][89a-fA-F]|"\s+:|[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\p{Surrogate}]|\d{17}|-0(?![.\d])/u;

/** A YAML key has 1024 characters at most, quotes included; one of JSON may spend six on each of its own. */
const LONGEST_KEY = 1024;

function hasLongKey(document: unknown): boolean {
  const left = [document];
  while (left.length > 0) {
    const value = left.pop();
    if (typeof value !== 'object' || value === null) continue;
    if (!Array.isArray(value) && Object.keys(value).some((key) => key.length * 6 + 2 > LONGEST_KEY)) return true;
    append(left, Object.values(value));
  }
  return false;
}

function readYaml(text: string, linesBefore: number): Document {
  try {
    const whole = normalizeBreaks(text.startsWith('\ufeff') ? text.slice(1) : text);
    const badCharacter = forbiddenCharacterError(whole);
    if (badCharacter !== undefined) throw badCharacter;
    const root = parseDocument(whole, linesBefore);
    const decoder = new Decoder();
    const value = root === undefined ? null : toJson(decoder.decode(root));
    return { parsed: { value }, repeatedKeys: decoder.repeatedKeys };
  } catch (error) {
    if (error instanceof YamlSyntaxError) throw new ConversionError(`yaml: ${error.message}`);
    // The grammar allows more depth than the walks over its tree have stack for.
    if (error instanceof RangeError) throw new ConversionError('yaml: exceeded max depth of 10000');
    throw error;
  }
}

function toJson(value: YamlValue): unknown {
  if (!isYamlScalar(value)) return value instanceof Map ? toJsonObject(value) : value.map(toJson);
  switch (value.type) {
    case 'null':
      return null;
    case 'int':
      // As in JSON bodies: exact, so beyond what a number holds it is a bigint.
      return Number.isSafeInteger(Number(value.value)) ? Number(value.value) : value.value;
    case 'float':
      if (!Number.isFinite(value.value)) throw new ConversionError(`json: unsupported value: ${goScalar(value)}`);
      return value.value;
    default:
      return value.value;
  }
}

function toJsonObject(mapping: YamlMapping): MutableRecord {
  const object: MutableRecord = {};
  for (const { key, value } of mapping.values()) {
    const name = jsonKey(key);
    if (name === undefined) {
      const type = key.type === 'null' ? '%!s(<nil>)' : 'uint64';
      throw new ConversionError(
        `unsupported map key of type: ${type}, key: ${goScalar(key)}, value: ${goValue(value)}`,
      );
    }
    setOwn(object, name, toJson(value));
  }
  return object;
}

/** What has items comes item by item, each from what is kept of it; no line of one depends on another. */
function encodeDocument(document: object): string {
  if (!('items' in document) || !Array.isArray(document.items) || document.items.length === 0) {
    return kept(documents, document, writeYaml);
  }
  const list: readonly unknown[] = document.items;
  const keys = Object.keys(document).sort(compareKeys);
  const record: Readonly<Record<string, unknown>> = { ...document };
  return keys
    .filter((key) => record[key] !== undefined)
    .map((key) => (key === 'items' ? ITEMS + list.map(encodeItem).join('') : writeYaml({ [key]: record[key] })))
    .join('');
}

function encodeItem(item: unknown): string {
  const write = (value: unknown): string => writeYaml({ items: [value] }).slice(ITEMS.length);
  return typeof item === 'object' && item !== null ? kept(items, item, write) : write(item);
}

function kept(texts: WeakMap<object, string>, value: object, write: (value: object) => string): string {
  const known = texts.get(value);
  if (known !== undefined) return known;
  const text = write(value);
  // By our convention what is frozen is frozen all the way down.
  if (Object.isFrozen(value)) texts.set(value, text);
  return text;
}
