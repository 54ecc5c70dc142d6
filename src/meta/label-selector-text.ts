/**
 * Parses the text of a label selector into requirements; labels.ts matches them. spec: Parameters
 */
import { aggregateText, type FieldError, invalid, keyPath, printFieldError } from './field-error.js';
import { labelValueProblems, qualifiedNameProblems } from './names.js';

/** Thrown for an invalid selector text. Clients see the message. */
export class SelectorError extends Error {
  override readonly name = 'SelectorError';
}

export type LabelOperator = '=' | '==' | '!=' | 'in' | 'notin' | 'exists' | '!' | 'gt' | 'lt';

export interface LabelRequirement {
  readonly key: string;
  readonly operator: LabelOperator;
  /** Sorted, without duplicates; empty for `exists` and `!`. */
  readonly values: readonly string[];
}

/** The requirements of a selector text, in text order. Throws SelectorError. */
export function readRequirements(text: string): LabelRequirement[] {
  return new SelectorReader(text).read();
}

/** Stable, so that requirements of one key keep their order. */
export function sortedByKey(requirements: readonly LabelRequirement[]): LabelRequirement[] {
  return [...requirements].sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
}

export function sortedSet(values: Iterable<string>): string[] {
  return [...new Set(values)].sort();
}

/** Undefined for text that is not a 64-bit integer. */
export function parseInt64(text: string): bigint | undefined {
  // Label values have at most 63 characters, but the length is validated only later.
  if (text.length > 100 || !/^[+-]?[0-9]+$/.test(text)) return undefined;
  const value = BigInt(text.startsWith('+') ? text.slice(1) : text);
  return value === BigInt.asIntN(64, value) ? value : undefined;
}

type TokenKind = 'word' | 'end' | '(' | ')' | ',' | '!' | '=' | '==' | '!=' | '>' | '<' | 'in' | 'notin';

interface Token {
  readonly kind: TokenKind;
  readonly text: string;
}

const END: Token = { kind: 'end', text: '' };
const SYMBOLS = new Map(
  (['=', '==', '!', '!=', '(', ')', ',', '>', '<'] as const).map((kind): [string, Token] => [
    kind,
    { kind, text: kind },
  ]),
);
/** Characters that end a word: the first four separate tokens. */
const DELIMITERS = ' \t\r\n\0=!(),><';
const SPACES = 4;

/** The position in {@link DELIMITERS} of each ASCII character, -1 for others. A text may have a million tokens. */
const positions = Int8Array.from({ length: 128 }, (_, code) => DELIMITERS.indexOf(String.fromCharCode(code)));

function isDelimiter(code: number): boolean {
  return (positions[code] ?? -1) >= 0;
}

function isSpace(code: number): boolean {
  const position = positions[code] ?? -1;
  return position >= 0 && position < SPACES;
}

/** Splits at whitespace and symbols. A NUL ends a token, or the whole text if no token precedes it. */
class Scanner {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  next(): Token {
    const text = this.#text;
    let at = this.#at;
    while (isSpace(text.charCodeAt(at))) at++;
    const start = at;
    while (at < text.length && !isDelimiter(text.charCodeAt(at))) at++;
    let token = END;
    if (at > start) {
      const word = text.slice(start, at);
      token = { kind: word === 'in' || word === 'notin' ? word : 'word', text: word };
    } else {
      token = SYMBOLS.get(text.slice(at, at + 2)) ?? SYMBOLS.get(text.charAt(at)) ?? END;
      // The rest is not read after a NUL.
      at = token === END ? text.length : at + token.text.length;
    }
    this.#at = text.charCodeAt(at) === 0 ? at + 1 : at;
    return token;
  }
}

const OPERATORS: ReadonlyMap<TokenKind, LabelOperator> = new Map<TokenKind, LabelOperator>([
  ['in', 'in'],
  ['notin', 'notin'],
  ['=', '='],
  ['==', '=='],
  ['!=', '!='],
  ['>', 'gt'],
  ['<', 'lt'],
]);

const NONE: readonly string[] = [];

/** A recursive descent parser for one selector. */
class SelectorReader {
  readonly #scanner: Scanner;
  /** The next token. */
  #ahead: Token;

  constructor(text: string) {
    this.#scanner = new Scanner(text);
    this.#ahead = this.#scanner.next();
  }

  read(): LabelRequirement[] {
    const found: LabelRequirement[] = [];
    if (this.#peek().kind === 'end') return found;
    if (!this.#startsRequirement()) {
      throw new SelectorError(`found '${this.#peek().text}', expected: !, identifier, or 'end of string'`);
    }
    for (;;) {
      found.push(this.#requirement());
      const next = this.#take();
      if (next.kind === 'end') return found;
      if (next.kind !== ',') throw new SelectorError(`found '${next.text}', expected: ',' or 'end of string'`);
      if (!this.#startsRequirement()) {
        throw new SelectorError(`found '${this.#peek().text}', expected: identifier after ','`);
      }
    }
  }

  #startsRequirement(): boolean {
    const { kind } = this.#peek();
    return kind === 'word' || kind === '!';
  }

  #requirement(): LabelRequirement {
    const negated = this.#peek().kind === '!';
    if (negated) this.#take();
    const key = this.#word();
    const keyProblems = qualifiedNameProblems(key);
    if (keyProblems.length > 0) fail(printFieldError(invalid('<nil>', key, keyProblems.join('; '))));
    if (negated) return { key, operator: '!', values: NONE };
    const { kind } = this.#peek();
    if (kind === 'end' || kind === ',') return { key, operator: 'exists', values: NONE };
    const operator = this.#operator();
    const values = sortedSet(operator === 'in' || operator === 'notin' ? this.#values() : [this.#value()]);
    checkValues(key, operator, values);
    return { key, operator, values };
  }

  #word(): string {
    const token = this.#take();
    if (token.kind !== 'word') fail(`found '${token.text}', expected: identifier`);
    return token.text;
  }

  #operator(): LabelOperator {
    // Only here are `in` and `notin` operators; elsewhere they are words.
    const token = this.#advance();
    const operator = OPERATORS.get(token.kind);
    return operator ?? fail(`found '${token.text}', expected: in, notin, =, ==, !=, gt, lt`);
  }

  /** The right side of a comparison; a missing value is the empty value. */
  #value(): string {
    const { kind } = this.#peek();
    return kind === 'end' || kind === ',' ? '' : this.#word();
  }

  /** `(a, b)`. A missing value between two commas, or between a comma and a parenthesis, is the empty value. */
  #values(): string[] {
    const open = this.#take();
    if (open.kind !== '(') fail(`found '${open.text}' expected: '('`);
    const first = this.#peek();
    if (first.kind !== 'word' && first.kind !== ',' && first.kind !== ')') {
      fail(`found '${first.text}', expected: ',', ')' or identifier`);
    }
    const values = first.kind === ')' ? [''] : this.#valueList();
    this.#take();
    return values;
  }

  /** Reads up to the closing parenthesis, exclusive. `(a,,)` fails: a word must follow two commas in a row. */
  #valueList(): string[] {
    const values: string[] = [];
    for (;;) {
      const token = this.#take();
      const next = this.#peek();
      if (token.kind === 'word') {
        values.push(token.text);
        if (next.kind === ')') return values;
        if (next.kind !== ',') fail(`found '${next.text}', expected: ',' or ')'`);
      } else if (token.kind === ',') {
        if (values.length === 0 || next.kind === ')' || next.kind === ',') values.push('');
        if (next.kind === ')') return values;
        if (next.kind === ',') this.#take();
      } else {
        fail(`found '${token.text}', expected: ',', or identifier`);
      }
    }
  }

  #peek(): Token {
    const token = this.#ahead;
    return token.kind === 'in' || token.kind === 'notin' ? { kind: 'word', text: token.text } : token;
  }

  #take(): Token {
    const token = this.#peek();
    this.#advance();
    return token;
  }

  #advance(): Token {
    const token = this.#ahead;
    this.#ahead = this.#scanner.next();
    return token;
  }
}

function checkValues(key: string, operator: LabelOperator, values: readonly string[]): void {
  const errors: FieldError[] = [];
  if (operator === 'gt' || operator === 'lt') {
    for (const [index, value] of values.entries()) {
      if (parseInt64(value) !== undefined) continue;
      errors.push(invalid(keyPath('values', index), value, "for 'Gt', 'Lt' operators, the value must be an integer"));
    }
  }
  for (const [index, value] of values.entries()) {
    const problems = labelValueProblems(value);
    if (problems.length > 0) errors.push(invalid(keyPath(keyPath('values', index), key), value, problems.join('; ')));
  }
  if (errors.length > 0) fail(aggregateText(errors.map(printFieldError)));
}

function fail(why: string): never {
  throw new SelectorError(`unable to parse requirement: ${why}`);
}
