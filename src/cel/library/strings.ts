/**
 * String functions, regular expression search (`find`, `findAll`) and JSON pointer escaping. Indexes count code points.
 */

import { re2FindAll, re2Problem } from '../../text/re2/index.js';
import { ArrayList, itemsOf } from '../evaluate/views.js';
import type { Library } from '../library.js';
import { onRegexSteps } from '../standard/operators.js';
import { DYN, INT, listOf, STRING } from '../types.js';
import { CelError, CelList, type CelValue } from '../values.js';
import { spendWork } from '../work-budget.js';
import { asInstance, asInt, asString, declare, global, member } from './declare.js';
import { format } from './format.js';
import { printValue } from './print-value.js';
import { characterCount, characterIndex, unitIndex } from './text.js';

const TEXTS = listOf(STRING);

export const STRINGS: Library = {
  name: 'strings',
  functions: [
    declare(
      'charAt',
      member('string_char_at_int', [STRING, INT], STRING, (text, index) => charAt(asString(text), asInt(index))),
    ),
    declare(
      'indexOf',
      member('string_index_of_string', [STRING, STRING], INT, (text, part) =>
        indexOf(asString(text), asString(part), 0n),
      ),
      member('string_index_of_string_int', [STRING, STRING, INT], INT, (text, part, from) =>
        indexOf(asString(text), asString(part), asInt(from)),
      ),
    ),
    declare(
      'lastIndexOf',
      member('string_last_index_of_string', [STRING, STRING], INT, (text, part) => {
        const size = BigInt(characterCount(asString(text)));
        return lastIndexOf(asString(text), asString(part), part === '' ? size : size - 1n);
      }),
      member('string_last_index_of_string_int', [STRING, STRING, INT], INT, (text, part, upTo) =>
        lastIndexOf(asString(text), asString(part), asInt(upTo)),
      ),
    ),
    declare(
      'lowerAscii',
      member('string_lower_ascii', [STRING], STRING, (text) =>
        asString(text).replace(/[A-Z]+/g, (letters) => letters.toLowerCase()),
      ),
    ),
    declare(
      'replace',
      member('string_replace_string_string', [STRING, STRING, STRING], STRING, (text, old, replacement) =>
        replace(asString(text), asString(old), { replacement: asString(replacement), limit: -1n }),
      ),
      member(
        'string_replace_string_string_int',
        [STRING, STRING, STRING, INT],
        STRING,
        (text, old, replacement, limit) =>
          replace(asString(text), asString(old), { replacement: asString(replacement), limit: asInt(limit) }),
      ),
    ),
    declare(
      'split',
      member(
        'string_split_string',
        [STRING, STRING],
        TEXTS,
        (text, by) => new ArrayList(split(asString(text), asString(by), -1n)),
      ),
      member(
        'string_split_string_int',
        [STRING, STRING, INT],
        TEXTS,
        (text, by, limit) => new ArrayList(split(asString(text), asString(by), asInt(limit))),
      ),
    ),
    declare(
      'substring',
      member('string_substring_int', [STRING, INT], STRING, (text, start) => substring(asString(text), asInt(start))),
      member('string_substring_int_int', [STRING, INT, INT], STRING, (text, start, end) =>
        substring(asString(text), asInt(start), asInt(end)),
      ),
    ),
    declare(
      'trim',
      member('string_trim', [STRING], STRING, (text) => trim(asString(text))),
    ),
    declare(
      'upperAscii',
      member('string_upper_ascii', [STRING], STRING, (text) =>
        asString(text).replace(/[a-z]+/g, (letters) => letters.toUpperCase()),
      ),
    ),
    declare(
      'format',
      member('string_format', [STRING, listOf(DYN)], STRING, (text, list) =>
        format(asString(text), asInstance(CelList, list)),
      ),
    ),
    declare(
      'strings.quote',
      global('strings_quote', [STRING], STRING, (text) => quoted(asString(text))),
    ),
    declare(
      'join',
      member('list_join', [TEXTS], STRING, (list) => join(asInstance(CelList, list), '')),
      member('list_join_string', [TEXTS, STRING], STRING, (list, separator) =>
        join(asInstance(CelList, list), asString(separator)),
      ),
    ),
  ],
};

function outOfRange(index: bigint): CelError {
  return new CelError(`index out of range: ${index}`);
}

/** The UTF-16 index of a character index, which may be the end of the string. */
function unitOffset(text: string, index: bigint): number {
  spendWork(text.length);
  if (index < 0n || index > text.length || index > characterCount(text)) throw outOfRange(index);
  return unitIndex(text, Number(index));
}

/** Returns the empty string at the end of the text. */
function charAt(text: string, index: bigint): string {
  const at = unitOffset(text, index);
  return at === text.length ? '' : String.fromCodePoint(text.codePointAt(at) ?? 0);
}

function substring(text: string, start: bigint, end?: bigint): string {
  if (end !== undefined && start > end) {
    throw new CelError(`invalid substring range. start: ${start}, end: ${end}`);
  }
  const from = unitOffset(text, start);
  return text.slice(from, end === undefined ? undefined : unitOffset(text, end));
}

/** The empty string is found at the start of the search, even out of range. */
function indexOf(text: string, part: string, from: bigint): bigint {
  if (part === '') return from;
  if (from < 0n) throw outOfRange(from);
  if (from >= characterCount(text)) return -1n;
  return foundAt(text, text.indexOf(part, unitIndex(text, Number(from))));
}

function lastIndexOf(text: string, part: string, upTo: bigint): bigint {
  if (part === '') return upTo;
  if (upTo < 0n) throw outOfRange(upTo);
  if (upTo >= characterCount(text)) return -1n;
  return foundAt(text, text.lastIndexOf(part, unitIndex(text, Number(upTo))));
}

function foundAt(text: string, unit: number): bigint {
  return BigInt(unit < 0 ? unit : characterIndex(text, unit));
}

/** An empty `old` matches before every character and at the end. A negative limit means no limit. */
function replace(
  text: string,
  old: string,
  { replacement, limit }: { readonly replacement: string; readonly limit: bigint },
): string {
  if (old === replacement || limit === 0n) return text;
  const parts = old === '' ? ['', ...text, ''] : split(text, old, limit < 0n ? limit : limit + 1n);
  // The cost depends on the input; the output may be much longer.
  spendWork(text.length + parts.length * replacement.length);
  if (old !== '' || limit < 0n || limit >= parts.length - 1) return parts.join(replacement);
  const replaced = Number(limit);
  return `${parts.slice(0, replaced).join(replacement)}${replacement}${parts.slice(replaced).join('')}`;
}

/**
 * Splits into at most `limit` parts, the last one with the rest; a negative limit means no limit. An empty separator
 * splits into characters.
 */
function split(text: string, by: string, limit: bigint): readonly string[] {
  if (limit === 0n) return [];
  const parts = by === '' ? [...text] : text.split(by);
  if (limit < 0n || limit >= parts.length) return parts;
  const whole = Number(limit) - 1;
  return [...parts.slice(0, whole), parts.slice(whole).join(by)];
}

const SPACE = /[\t-\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]/;

/** Trims Unicode white space as Go defines it, which differs from JavaScript's. */
function trim(text: string): string {
  let [start, end] = [0, text.length];
  while (start < end && SPACE.test(text.charAt(start))) start++;
  while (end > start && SPACE.test(text.charAt(end - 1))) end--;
  return text.slice(start, end);
}

const ESCAPES: Readonly<Record<string, string>> = {
  '\u0007': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
  '\\': '\\\\',
  '"': '\\"',
};

function quoted(text: string): string {
  spendWork(text.length);
  return `"${Array.from(text, (character) => ESCAPES[character] ?? character).join('')}"`;
}

function join(list: CelList, separator: string): string {
  const texts = itemsOf(list).map(joinable);
  // A short list of references to one long string produces a very long one, and its cost is known only afterwards.
  let length = separator.length * texts.length;
  for (const text of texts) length += text.length;
  spendWork(length);
  return texts.join(separator);
}

function joinable(item: CelValue): string {
  if (typeof item !== 'string') throw new CelError(`join: invalid input: ${printValue(item)}`);
  return item;
}

const MATCHES = listOf(STRING);

export const REGEX: Library = {
  name: 'regex',
  functions: [
    declare(
      'find',
      member('string_find_string', [STRING, STRING], STRING, (text, pattern) => matches(text, pattern, 1n)[0] ?? ''),
    ),
    declare(
      'findAll',
      member('string_find_all_string', [STRING, STRING], MATCHES, (text, pattern) => found(text, pattern, -1n)),
      member('string_find_all_string_int', [STRING, STRING, INT], MATCHES, (text, pattern, limit) =>
        found(text, pattern, limit),
      ),
    ),
  ],
};

function found(text: CelValue, pattern: CelValue, limit: CelValue): ArrayList {
  return new ArrayList(matches(text, pattern, limit));
}

/** A negative limit means no limit. */
function matches(text: CelValue, pattern: CelValue, limit: CelValue): readonly string[] {
  const problem = re2Problem(asString(pattern), { onSteps: onRegexSteps });
  if (problem !== undefined) throw new CelError(`Illegal regex: ${problem}`);
  const count = Number(asInt(limit));
  return re2FindAll(asString(pattern), asString(text), {
    limit: count < 0 ? Number.POSITIVE_INFINITY : count,
    onSteps: onRegexSteps,
  });
}

/** `jsonpatch.escapeKey`: escapes a key for use in a JSON pointer. Only mutating admission policies have it. */
export const JSON_PATCHES: Library = {
  name: 'jsonpatch',
  functions: [
    declare(
      'jsonpatch.escapeKey',
      global('string_jsonpatch_escapeKey_string', [STRING], STRING, (text) =>
        asString(text).replaceAll('~', '~0').replaceAll('/', '~1'),
      ),
    ),
  ],
};
