/**
 * YAML bodies as the reference server reads those of apply: YAML 1.1 (with `yes` and `017`), converted to JSON. Most
 * bodies are JSON already and are parsed as such where that makes no difference.
 *
 * `text/yaml` scans, parses and decodes the text. It is not a library, because available libraries implement YAML 1.2,
 * treat some indentations and unfinished lines differently, and report less specific errors.
 */

import { errors } from '../meta/errors.js';
import type { RequestBody } from '../protocol/body.js';
import { BodyError } from '../protocol/body.js';
import { MAX_CHARACTERS, MAX_CONTAINERS } from '../protocol/value-limits.js';
import { jsonType } from '../schema/decode-scalar.js';
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
  YamlLimitError,
  type YamlMapping,
  YamlSyntaxError,
  type YamlValue,
} from '../text/yaml/index.js';
import { append } from '../util/arrays.js';
import { decodeUtf8 } from '../util/bytes.js';
import { resultOf } from '../util/clock.js';
import type { MutableRecord, ParsedBody } from '../util/json.js';
import { isRecord, setOwn, withSortedKeys } from '../util/json.js';
import { type Codec, encodeEach } from './codec.js';
import { bodySummary } from './json.js';

export const yaml: Codec = {
  mediaType: () => 'application/yaml',
  carries: 'all kinds',
  tables: true,
  body: (bytes) => yamlDocumentBody(decodeUtf8(bytes)),
  encode: (document) => resultOf(encodeSteps(document)).join(''),
  encodeSteps,
};

/** The texts of frozen documents and of frozen items, which differ in indentation. */
const documents = new WeakMap<object, string>();

const items = new WeakMap<object, string>();

const ITEMS = 'items:\n';

export interface YamlBody extends RequestBody {
  /**
   * One message for each duplicate key in document order: `line 7: key "k" already set in map`. Throws {@link BodyError}
   * like `read`.
   */
  repeatedKeys(): readonly string[];
}

/**
 * A request body of YAML text. `read` returns an object, or null if there is no document. It throws {@link BodyError} for
 * anything else, with the reference server's message starting at `error converting YAML to JSON` or `error unmarshaling
 * JSON`.
 *
 * @example
 * yamlBody('a: yes\na: 017\n').read().value // { a: 15 }
 *
 * @param linesBefore the number of lines before the text in its file, for line numbers in messages
 */
export function yamlBody(text: string, linesBefore = 0): YamlBody {
  return lazyBody(text, () => readConfiguration(text, linesBefore));
}

/**
 * The same for the body of a create or update, which may be any document. If the text cannot be converted to JSON, `read`
 * throws a {@link BodyError} with a complete message.
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

/** The text cannot be converted to JSON. The two callers use different message prefixes. */
class ConversionError extends Error {
  override readonly name = 'ConversionError';
}

/** The reference server sorts all keys in the conversion to JSON, which determines the first reported error. */
function readWhole(text: string): Document {
  const { parsed, repeatedKeys } = readOr(text, 0, (problem) => new BodyError(problem, { isWhole: true }));
  return { parsed: { ...parsed, value: withSortedKeys(parsed.value) }, repeatedKeys };
}

function readConfiguration(text: string, linesBefore: number): Document {
  const refuse = (problem: string) => new BodyError(`error converting YAML to JSON: ${problem}`);
  const document = readOr(text, linesBefore, refuse);
  const { value } = document.parsed;
  if (value !== null && !isRecord(value)) {
    throw new BodyError(
      `error unmarshaling JSON: while decoding JSON: json: cannot unmarshal ${jsonType(value)} into Go value of type map[string]interface {}`,
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

/** Parses text that has the same meaning in JSON and YAML; undefined if it may differ or is not JSON. */
function readPlainJson(text: string): Document | undefined {
  // A tab is not allowed around a YAML document.
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
 * JSON that YAML interprets differently or rejects: `\/` and escaped surrogates, white space before a colon, characters
 * that YAML forbids or treats as line breaks, numbers with many digits, and negative zero.
 */
const UNLIKE_YAML =
  /\\\/|\\u[dD][89a-fA-F]|"\s+:|[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\p{Surrogate}]|\d{17}|-0(?![.\d])/u;

/** A YAML key has at most 1024 characters including quotes; JSON may use six characters to escape one. */
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

/** A node needs some hundred bytes until the document is JSON. */
const LIMITS = { collections: MAX_CONTAINERS, nodes: 1_000_000 };

function readYaml(text: string, linesBefore: number): Document {
  try {
    const whole = normalizeBreaks(text.startsWith('\ufeff') ? text.slice(1) : text);
    const badCharacter = forbiddenCharacterError(whole);
    if (badCharacter !== undefined) throw badCharacter;
    const root = parseDocument(whole, linesBefore, LIMITS);
    // A file may be longer than a request; aliases may not make it longer still.
    const decoder = new Decoder(Math.max(MAX_CHARACTERS, whole.length));
    const value = root === undefined ? null : toJson(decoder.decode(root));
    return { parsed: { value }, repeatedKeys: decoder.repeatedKeys };
  } catch (error) {
    if (error instanceof YamlLimitError) throw errors.requestTooLarge(error.message);
    if (error instanceof YamlSyntaxError) throw new ConversionError(`yaml: ${error.message}`);
    // The grammar allows deeper nesting than the recursive conversion supports.
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
      // Exact as in JSON bodies: a bigint if it is not a safe integer.
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

/**
 * Encodes the items of a list, or the rows of a table, one by one, with the cache; they do not depend on each other.
 */
function* encodeSteps(document: object): Generator<undefined, readonly string[]> {
  const record: Readonly<Record<string, unknown>> = { ...document };
  const listKey = 'rows' in record ? 'rows' : 'items';
  const list = record[listKey];
  if (!Array.isArray(list) || list.length === 0) return [kept(documents, document, writeYaml)];
  let text = '';
  for (const key of Object.keys(record).sort(compareKeys)) {
    if (record[key] === undefined) continue;
    if (key !== listKey) {
      text += writeYaml({ [key]: record[key] });
      continue;
    }
    text += `${key}:\n`;
    yield* encodeEach(list, (item: unknown) => {
      const added = encodeItem(item);
      text += added;
      return added.length;
    });
  }
  return [text];
}

function encodeItem(item: unknown): string {
  const write = (value: unknown): string => writeYaml({ items: [value] }).slice(ITEMS.length);
  return typeof item === 'object' && item !== null ? kept(items, item, write) : write(item);
}

function kept(texts: WeakMap<object, string>, value: object, write: (value: object) => string): string {
  const known = texts.get(value);
  if (known !== undefined) return known;
  const text = write(value);
  // By convention frozen objects are deeply frozen.
  if (Object.isFrozen(value)) texts.set(value, text);
  return text;
}
