/**
 * Parser for the JSONPath of printer columns: `.spec.ports[*].name`, `.status.conditions[?(@.type=="Ready")].status`.
 * It follows kubectl's syntax, not RFC 9535, including its special cases: `['a.b']` is two names, a quoted string is a
 * result of its own, and an existence filter treats a failure as true.
 *
 * `steps.ts` implements the steps.
 */

import { trimRight } from '../../util/trim.js';
import { isPrintable } from '../go/go-text.js';
import {
  descend,
  fieldStep,
  filterStep,
  type JsonPathStep,
  literalStep,
  MAX_VALUES,
  PathNumber,
  plainValue,
  run,
  type SliceBounds,
  sliceStep,
  TooManyValuesError,
  textStep,
  unionStep,
  unknownWordStep,
  ValueBudget,
  wildcard,
} from './steps.js';

/** An invalid path; `why` is the reference server's message. */
export class JsonPathError extends Error {
  override readonly name = 'JsonPathError';

  constructor(
    readonly why: string,
    where: string,
  ) {
    super(`${why} ${where}`);
  }
}

/** Finds values in an object; undefined if the path fails on the object, or finds too many values for it or for `outer`. */
export type JsonPath = (object: unknown, outer?: ValueBudget) => readonly unknown[] | undefined;

/** Parses a path. Throws {@link JsonPathError}. */
export function parseJsonPath(text: string): JsonPath {
  const actions = new Parser(`{${text}}`).template();
  return (object, outer) => {
    // A path with braces has several actions: only the first one's results are returned, but none may fail.
    const budget = new ValueBudget(MAX_VALUES, outer);
    try {
      const outcomes = actions.map((steps) => run(steps, [object], budget));
      return outcomes.some(({ failed }) => failed) ? undefined : (outcomes[0]?.values ?? []).map(plainValue);
    } catch (error) {
      if (error instanceof TooManyValuesError) return undefined;
      throw error;
    }
  };
}

/** Parses a nested path up to its closing brace. */
function parseInner(text: string): readonly JsonPathStep[] {
  return new Parser(`{${text}}`).template()[0] as readonly JsonPathStep[];
}

const NAME_END = /[ \t\r\n.,[\]$@{}]/;
const DICTIONARY_KEY = /^'([^']*)'$/;
const SLICE = /^(-?\d*)(:-?\d*)?(:-?\d*)?$/;
const COMPARISON = /^([^!<>=]+)([!<>=]+)([^\n]+)$/;

class Parser {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** Parses the actions in braces and skips the text between them. */
  template(): readonly (readonly JsonPathStep[])[] {
    const actions: JsonPathStep[][] = [];
    for (;;) {
      const open = this.#text.indexOf('{', this.#at);
      if (open < 0) return actions;
      this.#at = open + 1;
      actions.push(this.#action());
    }
  }

  #action(): JsonPathStep[] {
    const steps: JsonPathStep[] = [];
    for (;;) {
      if (this.#takes('}')) return steps;
      const [char = ''] = this.#rest();
      if (this.#takes('[?(')) steps.push(this.#filter());
      else if (this.#takes('..')) this.#descent(steps);
      else if (this.#takes('[')) steps.push(...this.#bracket());
      else if (this.#takes('.')) steps.push(this.#field());
      else if (char === '"' || char === "'") steps.push(textStep(this.#quoted(char)));
      else if (/[+\-\p{Nd}]/u.test(char)) steps.push(literalStep(this.#number()));
      else if (/[_\p{L}]/u.test(char)) steps.push(this.#word());
      else if (char === ' ' || char === '@' || char === '$') this.#at++;
      else throw this.#error(char === '' ? 'unclosed action' : `unrecognized character in action: ${codePoint(char)}`);
    }
  }

  #rest(): string {
    return this.#text.slice(this.#at);
  }

  #takes(token: string): boolean {
    if (!this.#text.startsWith(token, this.#at)) return false;
    this.#at += token.length;
    return true;
  }

  #error(why: string): JsonPathError {
    return new JsonPathError(why, `at ${this.#at} in ${JSON.stringify(this.#text)}`);
  }

  #descent(steps: JsonPathStep[]): void {
    if (steps.at(-1) === descend) throw this.#error('invalid multiple recursive descent');
    steps.push(descend);
    if (/^[_\p{L}\p{Nd}]/u.test(this.#rest())) steps.push(this.#field());
  }

  #field(): JsonPathStep {
    const name = this.#name();
    return name === '*' ? wildcard : fieldStep(name.replaceAll('\\', ''));
  }

  /** Reads up to the end of a name; a backslash escapes the next character. */
  #name(): string {
    const start = this.#at;
    while (this.#at < this.#text.length) {
      const char = this.#text[this.#at] as string;
      if (char === '\\') this.#at++;
      else if (NAME_END.test(char)) break;
      this.#at++;
    }
    this.#at = Math.min(this.#at, this.#text.length);
    return this.#text.slice(start, this.#at);
  }

  /** `true` and `false`; other words have a meaning only in templates. */
  #word(): JsonPathStep {
    const start = this.#at;
    while (this.#at < this.#text.length && !NAME_END.test(this.#text[this.#at] as string)) this.#at++;
    const word = this.#text.slice(start, this.#at);
    return word === 'true' || word === 'false' ? literalStep(word === 'true') : unknownWordStep;
  }

  #number(): PathNumber {
    const [text = ''] = /^[+-]?[.\p{Nd}]*/u.exec(this.#rest()) ?? [];
    this.#at += text.length;
    if (!/^[+-]?(\d+(?:\.\d*)?|\.\d+)$/.test(text)) throw this.#error(`cannot parse number ${text}`);
    return new PathNumber(Number(text), text.includes('.') || !Number.isSafeInteger(Number(text)));
  }

  #quoted(quote: string): string {
    const start = this.#at++;
    for (; this.#at < this.#text.length; this.#at++) {
      const char = this.#text[this.#at];
      if (char === '\n') break;
      if (char !== quote || this.#text[this.#at - 1] === '\\') continue;
      this.#at++;
      const text = unescaped(this.#text.slice(start + 1, this.#at - 1), quote);
      if (text === undefined) throw this.#error('invalid syntax');
      return text;
    }
    throw this.#error('unterminated quoted string');
  }

  /** The bracket ends at the first `]`, even within quotes. */
  #bracket(): readonly JsonPathStep[] {
    const end = this.#text.indexOf(']', this.#at);
    const inside = this.#text.slice(this.#at, Math.max(this.#at, end));
    if (end < 0 || inside.includes('\n')) throw this.#error('unterminated array');
    this.#at = end + 1;
    if (inside === '*') return [sliceStep({})];
    const parts = inside.split(',');
    if (parts.length > 1)
      return [unionStep(parts.map((part) => parseInner(`[${trimRight(part.replace(/^ +/, ''), ' ')}]`)))];
    const key = DICTIONARY_KEY.exec(inside);
    if (key !== null) return parseInner(`.${key[1]}`);
    return [sliceStep(this.#bounds(inside))];
  }

  #bounds(inside: string): SliceBounds {
    const slice = SLICE.exec(inside);
    if (slice === null) throw this.#error(`invalid array index ${inside}`);
    const [from, to, by] = [slice[1], slice[2]?.slice(1), slice[3]?.slice(1)].map((text) => this.#index(text));
    // A single index has a derived upper bound, which may count from the end.
    const isOne = slice[2] === undefined;
    return {
      ...(from === undefined ? {} : { from }),
      ...(isOne ? { to: (from ?? 0) + 1, isDerived: true } : to === undefined ? {} : { to }),
      ...(by === undefined ? {} : { by }),
    };
  }

  #index(text: string | undefined): number | undefined {
    if (text === undefined || text === '') return undefined;
    const index = Number(text);
    if (!Number.isSafeInteger(index)) throw this.#error(`array index ${text} is not a number`);
    return index;
  }

  #filter(): JsonPathStep {
    const inside = this.#filterText();
    const comparison = COMPARISON.exec(inside);
    if (comparison === null) return filterStep(parseInner(inside));
    const [, left = '', operator = '', right = ''] = comparison;
    return filterStep(parseInner(left), { operator, right: parseInner(right) });
  }

  /** Reads up to `)]`; a parenthesis between the first pair of quotes does not count. */
  #filterText(): string {
    const start = this.#at;
    let pair: string | undefined;
    let isPaired = false;
    for (; this.#at < this.#text.length; this.#at++) {
      const char = this.#text[this.#at] as string;
      if (char === '\n') break;
      if (char === '"' || char === "'") {
        if (pair === undefined) pair = char;
        else if (char === pair && this.#text[this.#at - 1] !== '\\') isPaired = true;
      } else if (char === ')' && (pair !== undefined) === isPaired) {
        const inside = this.#text.slice(start, this.#at++);
        if (!this.#takes(']')) throw this.#error('unclosed array expect ]');
        return inside;
      }
    }
    throw this.#error('unterminated filter');
  }
}

/** Formats a code point: `U+0023 '#'`, without the character if it is not printable. */
function codePoint(char: string): string {
  const code = (char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
  return isPrintable(char) ? `U+${code} '${char}'` : `U+${code}`;
}

const ESCAPE = /\\(?:([abfnrtv\\])|x([\da-fA-F]{2})|u([\da-fA-F]{4})|U([\da-fA-F]{8})|([0-7]{3})|(['"]))|\\/g;
const CONTROL: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  '\\': '\\',
};

/** Unescapes a quoted string; undefined if an escape is invalid. */
function unescaped(text: string, quote: string): string | undefined {
  let isBroken = false;
  const result = text.replace(ESCAPE, (_all, control, hex, short, long, octal, mark) => {
    if (control !== undefined) return CONTROL[control] ?? '';
    if (mark === quote) return mark;
    const digits = hex ?? short ?? long;
    const code = digits === undefined ? Number.parseInt(octal, 8) : Number.parseInt(digits, 16);
    const isCharacter = code <= 0x10ffff && !(code >= 0xd800 && code < 0xe000);
    if (isCharacter && !(octal !== undefined && code > 255)) return String.fromCodePoint(code);
    isBroken = true;
    return '';
  });
  return isBroken ? undefined : result;
}
