/**
 * The JSONPath of printer columns: `.spec.ports[*].name`, `.status.conditions[?(@.type=="Ready")].status`. It has the
 * syntax of the reference's command line, not that of RFC 9535, corners included: `['a.b']` is two names, a quoted text
 * is a result of its own, and a filter that only asks whether something is there takes a failure for a yes.
 *
 * This file is the syntax; what the steps do stands in `json-path-steps.ts`.
 */
import { isPrintable } from '../go/go-text.js';
import {
  Budget,
  descend,
  failing,
  fieldStep,
  filterStep,
  type JsonPathStep,
  literalStep,
  PathNumber,
  plainValue,
  run,
  type SliceBounds,
  sliceStep,
  TooManyValues,
  textStep,
  unionStep,
  wildcard,
} from './steps.js';

/** The text is no path; `why` is what the reference server says of it. */
export class JsonPathError extends Error {
  override readonly name = 'JsonPathError';

  constructor(
    readonly why: string,
    where: string,
  ) {
    super(`${why} ${where}`);
  }
}

/** Finds values in an object; undefined when the path leads where there can be nothing, or finds too much. */
export type JsonPath = (object: unknown) => readonly unknown[] | undefined;

/** Throws {@link JsonPathError}. */
export function parseJsonPath(text: string): JsonPath {
  const actions = new Parser(`{${text}}`).template();
  return (object) => {
    // A path with braces of its own is several: only the first one's results are looked at, but none may fail.
    const budget = new Budget();
    try {
      const outcomes = actions.map((steps) => run(steps, [object], budget));
      return outcomes.some(({ failed }) => failed) ? undefined : (outcomes[0]?.values ?? []).map(plainValue);
    } catch (error) {
      if (error instanceof TooManyValues) return undefined;
      throw error;
    }
  };
}

/** A path within a path: everything up to its own closing brace. */
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

  /** The actions in braces; what stands between them is only read over. */
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

  /** Up to where a name ends; a backslash takes what follows into it. */
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

  /** `true` and `false`; other words mean something in templates only. */
  #word(): JsonPathStep {
    const start = this.#at;
    while (this.#at < this.#text.length && !NAME_END.test(this.#text[this.#at] as string)) this.#at++;
    const word = this.#text.slice(start, this.#at);
    return word === 'true' || word === 'false' ? literalStep(word === 'true') : failing;
  }

  #number(): PathNumber {
    const [text = ''] = /^[+-]?[.\p{Nd}]*/u.exec(this.#rest()) ?? [];
    this.#at += text.length;
    if (!/^[+-]?(\d+\.?\d*|\.\d+)$/.test(text)) throw this.#error(`cannot parse number ${text}`);
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

  /** What is in brackets ends with the first one that closes, wherever that stands. */
  #bracket(): readonly JsonPathStep[] {
    const end = this.#text.indexOf(']', this.#at);
    const inside = this.#text.slice(this.#at, Math.max(this.#at, end));
    if (end < 0 || inside.includes('\n')) throw this.#error('unterminated array');
    this.#at = end + 1;
    if (inside === '*') return [sliceStep({})];
    const parts = inside.split(',');
    if (parts.length > 1) return [unionStep(parts.map((part) => parseInner(`[${part.replace(/^ +| +$/g, '')}]`)))];
    const key = DICTIONARY_KEY.exec(inside);
    if (key !== null) return parseInner(`.${key[1]}`);
    return [sliceStep(this.#bounds(inside))];
  }

  #bounds(inside: string): SliceBounds {
    const slice = SLICE.exec(inside);
    if (slice === null) throw this.#error(`invalid array index ${inside}`);
    const [from, to, by] = [slice[1], slice[2]?.slice(1), slice[3]?.slice(1)].map((text) => this.#index(text));
    // One number names one item; the bound after it is its own, counted from the end where it is.
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

  /** Up to `)]`; a parenthesis between the first quote and its pair does not count. */
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

/** `U+0023 '#'`; what cannot be printed is not. */
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

/** What a quoted text says; undefined when it is not well written. */
function unescaped(text: string, quote: string): string | undefined {
  let isBroken = false;
  const said = text.replace(ESCAPE, (_all, control, hex, short, long, octal, mark) => {
    if (control !== undefined) return CONTROL[control] ?? '';
    if (mark === quote) return mark;
    const digits = hex ?? short ?? long;
    const code = digits === undefined ? Number.parseInt(octal, 8) : Number.parseInt(digits, 16);
    const isCharacter = code <= 0x10ffff && !(code >= 0xd800 && code < 0xe000);
    if (isCharacter && !(octal !== undefined && code > 255)) return String.fromCodePoint(code);
    isBroken = true;
    return '';
  });
  return isBroken ? undefined : said;
}
