/** Functions of texts. Indexes count characters. */

import { re2FindAll, re2Problem } from '../../text/re2/index.js';
import { ArrayList, itemsOf } from '../evaluate/views.js';
import type { Library } from '../library.js';
import { onRegexSteps } from '../standard/operators.js';
import { DYN, INT, listOf, STRING } from '../types.js';
import { CelError, CelList, type CelValue } from '../values.js';
import { spend } from '../work-budget.js';
import { declare, global, instanceOf, intOf, member, textOf } from './declare.js';
import { format } from './format.js';
import { printValue } from './print-value.js';
import { characterCount, characterIndex, unitIndex } from './text.js';

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

const TEXTS = listOf(STRING);

export const STRINGS: Library = {
  name: 'strings',
  functions: [
    declare(
      'charAt',
      member('string_char_at_int', [STRING, INT], STRING, (text, index) => charAt(textOf(text), intOf(index))),
    ),
    declare(
      'indexOf',
      member('string_index_of_string', [STRING, STRING], INT, (text, part) => indexOf(textOf(text), textOf(part), 0n)),
      member('string_index_of_string_int', [STRING, STRING, INT], INT, (text, part, from) =>
        indexOf(textOf(text), textOf(part), intOf(from)),
      ),
    ),
    declare(
      'lastIndexOf',
      member('string_last_index_of_string', [STRING, STRING], INT, (text, part) => {
        const size = BigInt(characterCount(textOf(text)));
        return lastIndexOf(textOf(text), textOf(part), part === '' ? size : size - 1n);
      }),
      member('string_last_index_of_string_int', [STRING, STRING, INT], INT, (text, part, upTo) =>
        lastIndexOf(textOf(text), textOf(part), intOf(upTo)),
      ),
    ),
    declare(
      'lowerAscii',
      member('string_lower_ascii', [STRING], STRING, (text) =>
        textOf(text).replace(/[A-Z]+/g, (letters) => letters.toLowerCase()),
      ),
    ),
    declare(
      'replace',
      member('string_replace_string_string', [STRING, STRING, STRING], STRING, (text, old, replacement) =>
        replace(textOf(text), textOf(old), { replacement: textOf(replacement), limit: -1n }),
      ),
      member(
        'string_replace_string_string_int',
        [STRING, STRING, STRING, INT],
        STRING,
        (text, old, replacement, limit) =>
          replace(textOf(text), textOf(old), { replacement: textOf(replacement), limit: intOf(limit) }),
      ),
    ),
    declare(
      'split',
      member(
        'string_split_string',
        [STRING, STRING],
        TEXTS,
        (text, by) => new ArrayList(split(textOf(text), textOf(by), -1n)),
      ),
      member(
        'string_split_string_int',
        [STRING, STRING, INT],
        TEXTS,
        (text, by, limit) => new ArrayList(split(textOf(text), textOf(by), intOf(limit))),
      ),
    ),
    declare(
      'substring',
      member('string_substring_int', [STRING, INT], STRING, (text, start) => substring(textOf(text), intOf(start))),
      member('string_substring_int_int', [STRING, INT, INT], STRING, (text, start, end) =>
        substring(textOf(text), intOf(start), intOf(end)),
      ),
    ),
    declare(
      'trim',
      member('string_trim', [STRING], STRING, (text) => trim(textOf(text))),
    ),
    declare(
      'upperAscii',
      member('string_upper_ascii', [STRING], STRING, (text) =>
        textOf(text).replace(/[a-z]+/g, (letters) => letters.toUpperCase()),
      ),
    ),
    declare(
      'format',
      member('string_format', [STRING, listOf(DYN)], STRING, (text, list) =>
        format(textOf(text), instanceOf(CelList, list)),
      ),
    ),
    declare(
      'strings.quote',
      global('strings_quote', [STRING], STRING, (text) => quoted(textOf(text))),
    ),
    declare(
      'join',
      member('list_join', [TEXTS], STRING, (list) => join(instanceOf(CelList, list), '')),
      member('list_join_string', [TEXTS, STRING], STRING, (list, separator) =>
        join(instanceOf(CelList, list), textOf(separator)),
      ),
    ),
  ],
};

function outOfRange(index: bigint): CelError {
  return new CelError(`index out of range: ${index}`);
}

/** Where a character begins, or the end of the text. */
function place(text: string, index: bigint): number {
  spend(text.length);
  if (index < 0n || index > text.length || index > characterCount(text)) throw outOfRange(index);
  return unitIndex(text, Number(index));
}

/** Right behind the last character there is nothing. */
function charAt(text: string, index: bigint): string {
  const at = place(text, index);
  return at === text.length ? '' : String.fromCodePoint(text.codePointAt(at) ?? 0);
}

function substring(text: string, start: bigint, end?: bigint): string {
  if (end !== undefined && start > end) {
    throw new CelError(`invalid substring range. start: ${start}, end: ${end}`);
  }
  const from = place(text, start);
  return text.slice(from, end === undefined ? undefined : place(text, end));
}

/** Nothing is found where the search begins, wherever that is. */
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

/** Nothing is before every character and at the end. A limit below zero is none. */
function replace(
  text: string,
  old: string,
  { replacement, limit }: { readonly replacement: string; readonly limit: bigint },
): string {
  if (old === replacement || limit === 0n) return text;
  const parts = old === '' ? ['', ...text, ''] : split(text, old, limit < 0n ? limit : limit + 1n);
  // The cost is of what goes in; what comes out may be far longer.
  spend(text.length + parts.length * replacement.length);
  if (old !== '' || limit < 0n || limit >= parts.length - 1) return parts.join(replacement);
  const replaced = Number(limit);
  return `${parts.slice(0, replaced).join(replacement)}${replacement}${parts.slice(replaced).join('')}`;
}

/** At most `limit` parts, of which the last is the whole rest; a limit below zero is none. Nothing splits everywhere. */
function split(text: string, by: string, limit: bigint): readonly string[] {
  if (limit === 0n) return [];
  const parts = by === '' ? [...text] : text.split(by);
  if (limit < 0n || limit >= parts.length) return parts;
  const whole = Number(limit) - 1;
  return [...parts.slice(0, whole), parts.slice(whole).join(by)];
}

const SPACE = /[\t-\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]/;

/** Spaces of Unicode, which are not quite those of JavaScript. */
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
  spend(text.length);
  return `"${Array.from(text, (character) => ESCAPES[character] ?? character).join('')}"`;
}

function join(list: CelList, separator: string): string {
  const texts = itemsOf(list).map(joinable);
  // A short list of references to one long text makes a very long one; its price is known only when it is there.
  let length = separator.length * texts.length;
  for (const text of texts) length += text.length;
  spend(length);
  return texts.join(separator);
}

function joinable(item: CelValue): string {
  if (typeof item !== 'string') throw new CelError(`join: invalid input: ${printValue(item)}`);
  return item;
}

function found(text: CelValue, pattern: CelValue, limit: CelValue): ArrayList {
  return new ArrayList(matches(text, pattern, limit));
}

/** A limit below zero is none. */
function matches(text: CelValue, pattern: CelValue, limit: CelValue): readonly string[] {
  const problem = re2Problem(textOf(pattern), { onSteps: onRegexSteps });
  if (problem !== undefined) throw new CelError(`Illegal regex: ${problem}`);
  const most = Number(intOf(limit));
  return re2FindAll(textOf(pattern), textOf(text), {
    limit: most < 0 ? Number.POSITIVE_INFINITY : most,
    onSteps: onRegexSteps,
  });
}
