/**
 * String functions, regular expression search (`find`, `findAll`) and JSON pointer escaping. Indexes count code points.
 */

import { re2FindAll, re2Problem } from '../../text/re2/index.js';
import { ArrayList, itemsOf } from '../evaluate/views.js';
import type { Library } from '../library.js';
import { onRegexSteps } from '../standard/operators.js';
import { DYN, INT, listOf, STRING } from '../types.js';
import { CelError, type CelList, type CelValue } from '../values.js';
import { spendWork } from '../work-budget.js';
import { declare, globalFunction, member, memberFunction } from './declare.js';
import { format } from './format.js';
import { printValue } from './print-value.js';
import { characterCount, characterIndex, unitIndex } from './text.js';
import { firstIndexOf, lastIndexOf as lastUnitIndexOf, splitText } from './text-search.js';

const TEXTS = listOf(STRING);

export const STRINGS: Library = {
  name: 'strings',
  functions: [
    memberFunction('charAt', 'string_char_at_int', [STRING, INT], STRING, charAt),
    declare(
      'indexOf',
      member('string_index_of_string', [STRING, STRING], INT, (text, part) => indexOf(text, part, 0n)),
      member('string_index_of_string_int', [STRING, STRING, INT], INT, indexOf),
    ),
    declare(
      'lastIndexOf',
      member('string_last_index_of_string', [STRING, STRING], INT, (text, part) => {
        const size = BigInt(characterCount(text));
        return lastIndexOf(text, part, part === '' ? size : size - 1n);
      }),
      member('string_last_index_of_string_int', [STRING, STRING, INT], INT, lastIndexOf),
    ),
    memberFunction('lowerAscii', 'string_lower_ascii', [STRING], STRING, (text) =>
      text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase()),
    ),
    declare(
      'replace',
      member('string_replace_string_string', [STRING, STRING, STRING], STRING, replace),
      member('string_replace_string_string_int', [STRING, STRING, STRING, INT], STRING, replace),
    ),
    declare(
      'split',
      member('string_split_string', [STRING, STRING], TEXTS, (text, by) => new ArrayList(split(text, by, -1n))),
      member(
        'string_split_string_int',
        [STRING, STRING, INT],
        TEXTS,
        (text, by, limit) => new ArrayList(split(text, by, limit)),
      ),
    ),
    declare(
      'substring',
      member('string_substring_int', [STRING, INT], STRING, substring),
      member('string_substring_int_int', [STRING, INT, INT], STRING, substring),
    ),
    memberFunction('trim', 'string_trim', [STRING], STRING, trim),
    memberFunction('upperAscii', 'string_upper_ascii', [STRING], STRING, (text) =>
      text.replace(/[a-z]+/g, (letters) => letters.toUpperCase()),
    ),
    memberFunction('format', 'string_format', [STRING, listOf(DYN)], STRING, format),
    globalFunction('strings.quote', 'strings_quote', [STRING], STRING, quoted),
    declare(
      'join',
      member('list_join', [TEXTS], STRING, (list) => join(list, '')),
      member('list_join_string', [TEXTS, STRING], STRING, join),
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
  return foundAt(text, firstIndexOf(text, part, unitIndex(text, Number(from))));
}

function lastIndexOf(text: string, part: string, upTo: bigint): bigint {
  if (part === '') return upTo;
  if (upTo < 0n) throw outOfRange(upTo);
  if (upTo >= characterCount(text)) return -1n;
  return foundAt(text, lastUnitIndexOf(text, part, unitIndex(text, Number(upTo))));
}

function foundAt(text: string, unit: number): bigint {
  return BigInt(unit < 0 ? unit : characterIndex(text, unit));
}

/** An empty `old` matches before every character and at the end. A negative limit means no limit. */
function replace(text: string, old: string, replacement: string, limit = -1n): string {
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
  const parts = by === '' ? [...text] : splitText(text, by);
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

export const REGEX: Library = {
  name: 'regex',
  functions: [
    memberFunction(
      'find',
      'string_find_string',
      [STRING, STRING],
      STRING,
      (text, pattern) => matches(text, pattern, 1n)[0] ?? '',
    ),
    declare(
      'findAll',
      member('string_find_all_string', [STRING, STRING], TEXTS, findAll),
      member('string_find_all_string_int', [STRING, STRING, INT], TEXTS, findAll),
    ),
  ],
};

function findAll(text: string, pattern: string, limit = -1n): ArrayList {
  return new ArrayList(matches(text, pattern, limit));
}

/** A negative limit means no limit. */
function matches(text: string, pattern: string, limit: bigint): readonly string[] {
  const problem = re2Problem(pattern, { onSteps: onRegexSteps });
  if (problem !== undefined) throw new CelError(`Illegal regex: ${problem}`);
  const count = limit < 0n ? Number.POSITIVE_INFINITY : Number(limit);
  return re2FindAll(pattern, text, { limit: count, onSteps: onRegexSteps });
}

/** `jsonpatch.escapeKey`: escapes a key for use in a JSON pointer. Only mutating admission policies have it. */
export const JSON_PATCHES: Library = {
  name: 'jsonpatch',
  functions: [
    globalFunction('jsonpatch.escapeKey', 'string_jsonpatch_escapeKey_string', [STRING], STRING, (text) =>
      text.replaceAll('~', '~0').replaceAll('/', '~1'),
    ),
  ],
};
