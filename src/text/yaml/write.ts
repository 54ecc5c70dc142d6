/**
 * JSON → YAML as the reference server writes it: maps in the order of their keys, lists as deep as their key, lines
 * folded behind 80 characters, texts bare where they can be. The places where a line may be broken depend on where the
 * writer stands, so what it knows of that is kept here: the column, and whether only indentation came before.
 */
import { isRecord, jsonView } from '../../util/json.js';
import { goScalar, isTimestamp, resolveScalar } from './scalar.js';
import { compareKeys } from './write-order.js';

/** Numbers in base 60, as in times of day, which other readers know. */
const SEXAGESIMAL = /^[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?$/;

const BREAK = /[\n\r\u0085\u2028\u2029]/;

const SPACE_BEFORE_BREAK = / [\n\r\u0085\u2028\u2029]/;

const SPACE_BEHIND_BREAK = /[\n\r\u0085\u2028\u2029] /;

/** What may stand without an escape; characters beyond 16 bits may not. */
const PRINTABLE = /^[\n\x20-\x7e\u00a0-\ud7ff\ue000-\ufefe\uff00-\ufffd]*$/;

/** What means something to a reader outside flow collections: at the beginning, and anywhere. */
const INDICATOR = /^(?:[#,[\]{}&*!|>'"%@`]|---|\.\.\.|[?:-](?:[ \t]|$))|:(?:[ \t]|$)|[ \t\n\u2028\u2029]#/;

/**
 * A JSON value as a YAML document with its final line end. Keys that hold `undefined` are left out; half a surrogate pair
 * becomes U+FFFD.
 *
 * @example
 * writeYaml({ b: ['yes'], a: 1 }) // a: 1\nb:\n- "yes"\n
 */
export function writeYaml(value: unknown, options: WriteYamlOptions = {}): string {
  const writer = new YamlWriter(options);
  writer.node(value, { isInMapping: false });
  return writer.end();
}

export interface WriteYamlOptions {
  /**
   * The key `<<` in quotes, so that readers do not take it for a merge. The reference server leaves them out, and its own
   * reader does not understand what it wrote; false unless given.
   */
  readonly quoteMergeKeys?: boolean;
}

const INDENT = 2;
/** Lines are broken at the first space behind this many characters. */
const WIDTH = 80;
/** Longer keys, in bytes, are marked as such with a `?`. */
const LONGEST_SIMPLE_KEY = 128;

class YamlWriter {
  readonly #quoteMergeKeys: boolean;
  #text = '';
  #column = 0;
  /** Of the container being written; none yet. */
  #indent = -1;
  /** Whether what was written last needs no space behind it. */
  #isSpaced = true;
  /** Whether there is nothing but indentation and `-`, `?` and `:` in this line. */
  #isIndentation = true;

  constructor({ quoteMergeKeys = false }: WriteYamlOptions) {
    this.#quoteMergeKeys = quoteMergeKeys;
  }

  end(): string {
    this.#indent = -1;
    this.#beginLine();
    return this.#text;
  }

  node(given: unknown, place: { readonly isInMapping: boolean }): void {
    const value = jsonView(given);
    if (Array.isArray(value)) this.#sequence(value, place.isInMapping);
    else if (isRecord(value)) this.#mapping(value);
    else if (typeof value === 'string') this.#string(value, { isSimpleKey: false });
    else this.#plain(scalarText(value), false);
  }

  #sequence(items: readonly unknown[], isInMapping: boolean): void {
    if (items.length === 0) {
      this.#indicator('[]', { isSpaced: false });
      return;
    }
    const outer = this.#indent;
    // The items of a key's list stand below the key itself.
    this.#indent = outer < 0 ? 0 : isInMapping && !this.#isIndentation ? outer : outer + INDENT;
    for (const item of items) {
      this.#beginLine();
      this.#indicator('-', { isIndentation: true });
      this.node(item, { isInMapping: false });
    }
    this.#indent = outer;
  }

  #mapping(record: Readonly<Record<string, unknown>>): void {
    const keys = Object.keys(record).filter((key) => record[key] !== undefined);
    if (keys.length === 0) {
      this.#indicator('{}', { isSpaced: false });
      return;
    }
    const outer = this.#indent;
    this.#indent = outer < 0 ? 0 : outer + INDENT;
    for (const key of keys.sort(compareKeys)) {
      this.#beginLine();
      this.#key(key);
      this.node(record[key], { isInMapping: true });
    }
    this.#indent = outer;
  }

  #key(key: string): void {
    const isMerge = key === '<<' && this.#quoteMergeKeys;
    const traits = isMerge ? { ...traitsOf(key), mayBePlain: false } : traitsOf(key);
    if (!traits.isMultiline && byteLength(key) <= LONGEST_SIMPLE_KEY) {
      this.#string(key, { isSimpleKey: true }, traits);
      this.#indicator(':', { needsSpace: false });
      return;
    }
    this.#indicator('?', { isIndentation: true });
    this.#string(key, { isSimpleKey: false }, traits);
    this.#beginLine();
    this.#indicator(':', { isIndentation: true });
  }

  #string(given: string, { isSimpleKey }: { readonly isSimpleKey: boolean }, known?: TextTraits): void {
    // Half a surrogate pair cannot be written in UTF-8.
    const text = given.replace(/\p{Surrogate}/gu, '\ufffd');
    const outer = this.#indent;
    this.#indent = Math.max(outer, 0) + INDENT;
    const mayBreak = !isSimpleKey;
    switch (styleOf(text, known ?? traitsOf(text), isSimpleKey)) {
      case 'plain':
        this.#plain(text, mayBreak);
        break;
      case 'single':
        this.#single(text, mayBreak);
        break;
      case 'double':
        this.#double(text, mayBreak);
        break;
      case 'literal':
        this.#literal(text);
    }
    this.#indent = outer;
  }

  #plain(text: string, mayBreak: boolean): void {
    if (!this.#isSpaced) this.#put(' ');
    this.#folded(text, mayBreak);
    this.#isSpaced = false;
    this.#isIndentation = false;
  }

  #single(text: string, mayBreak: boolean): void {
    this.#indicator("'");
    this.#folded(text.replaceAll("'", "''"), mayBreak);
    this.#indicator("'", { needsSpace: false });
  }

  /** Words with the line broken at single spaces; separators of Unicode are breaks already, and lines behind them indented. */
  #folded(text: string, mayBreak: boolean): void {
    const characters = [...text];
    for (const [at, character] of characters.entries()) {
      const before = characters[at - 1];
      const isSingleSpace = character === ' ' && before !== ' ' && characters[at + 1] !== ' ';
      const isInside = at > 0 && at < characters.length - 1;
      if (mayBreak && isSingleSpace && isInside && this.#column > WIDTH) {
        this.#beginLine();
      } else if (isSeparator(character)) {
        this.#put(character);
        this.#column = 0;
        this.#isIndentation = true;
      } else {
        if (before !== undefined && isSeparator(before)) this.#beginLine();
        this.#put(character);
        this.#isIndentation = false;
      }
    }
  }

  #double(text: string, mayBreak: boolean): void {
    this.#indicator('"');
    const characters = [...text];
    // The reference server takes everything behind a mark of byte order for one, too.
    const isMarked = text.startsWith('\ufeff');
    for (const [at, character] of characters.entries()) {
      if (isMarked || mustEscape(character)) {
        this.#put(escapeOf(character));
        continue;
      }
      const isFirstSpace = character === ' ' && characters[at - 1] !== ' ';
      if (mayBreak && isFirstSpace && this.#column > WIDTH && at > 0 && at < characters.length - 1) {
        this.#beginLine();
        // The spaces that begin a line are not read, unless the first is escaped.
        if (characters[at + 1] === ' ') this.#put('\\');
        continue;
      }
      this.#put(character);
    }
    this.#indicator('"', { needsSpace: false });
  }

  /** A block of lines, of which none is ever folded. */
  #literal(text: string): void {
    const characters = [...text];
    const [first = '', last = '', beforeLast] = [characters[0], characters.at(-1), characters.at(-2)];
    const depth = first === ' ' || isBreak(first) ? String(INDENT) : '';
    const keeps = isBreak(last) && (beforeLast === undefined || isBreak(beforeLast));
    this.#indicator(`|${depth}${isBreak(last) ? (keeps ? '+' : '') : '-'}`);
    this.#breakLine('\n');
    this.#isSpaced = true;
    let atBreak = true;
    for (const character of characters) {
      if (isBreak(character)) {
        this.#breakLine(character);
      } else {
        if (atBreak) this.#beginLine();
        this.#put(character);
        this.#isIndentation = false;
      }
      atBreak = isBreak(character);
    }
  }

  #indicator(
    text: string,
    { needsSpace = true, isSpaced = false, isIndentation = false }: Partial<Record<IndicatorTrait, boolean>> = {},
  ): void {
    if (needsSpace && !this.#isSpaced) this.#put(' ');
    this.#put(text);
    this.#isSpaced = isSpaced;
    this.#isIndentation &&= isIndentation;
  }

  /** Goes to the present indentation, in a new line unless only indentation came before and there is room. */
  #beginLine(): void {
    const indent = Math.max(this.#indent, 0);
    const isPast = this.#column > indent || (this.#column === indent && !this.#isSpaced);
    if (!this.#isIndentation || isPast) this.#breakLine('\n');
    if (this.#column < indent) this.#put(' '.repeat(indent - this.#column));
    this.#isSpaced = true;
    this.#isIndentation = true;
  }

  #breakLine(character: string): void {
    this.#text += character;
    this.#column = 0;
    this.#isIndentation = true;
  }

  /** Text within a line. */
  #put(text: string): void {
    this.#text += text;
    this.#column += text.length;
  }
}

type IndicatorTrait = 'needsSpace' | 'isSpaced' | 'isIndentation';

/** Null, a boolean or a number; a number is read from its JSON text, where integers beyond 64 bits are fractions. */
function scalarText(value: unknown): string {
  if (typeof value !== 'number' && typeof value !== 'bigint') return String(value ?? null);
  const isInteger = typeof value === 'bigint' || (Number.isInteger(value) && Math.abs(value) < 1e21);
  const integer = isInteger ? BigInt(String(value)) : undefined;
  if (integer !== undefined && integer >= -(2n ** 63n) && integer < 2n ** 64n) return String(integer);
  return goScalar({ type: 'float', value: Number(value) });
}

function isBreak(character: string): boolean {
  return character === '\n' || isSeparator(character);
}

/** The line breaks of Unicode that need no escape. */
function isSeparator(character: string): boolean {
  return character === '\u2028' || character === '\u2029';
}

function mustEscape(character: string): boolean {
  return character === '"' || character === '\\' || isBreak(character) || !PRINTABLE.test(character);
}

function escapeOf(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  const short = SHORT_ESCAPES.get(code);
  if (short !== undefined) return `\\${short}`;
  const [letter, width] = code <= 0xff ? ['x', 2] : code <= 0xffff ? ['u', 4] : ['U', 8];
  return `\\${letter}${code.toString(16).toUpperCase().padStart(Number(width), '0')}`;
}

const SHORT_ESCAPES: ReadonlyMap<number, string> = new Map([
  [0x00, '0'],
  [0x07, 'a'],
  [0x08, 'b'],
  [0x09, 't'],
  [0x0a, 'n'],
  [0x0b, 'v'],
  [0x0c, 'f'],
  [0x0d, 'r'],
  [0x1b, 'e'],
  [0x22, '"'],
  [0x5c, '\\'],
  [0x85, 'N'],
  [0xa0, '_'],
  [0x2028, 'L'],
  [0x2029, 'P'],
]);

function byteLength(text: string): number {
  // At most three bytes for each unit, so most keys need not be looked at.
  return text.length * 3 <= LONGEST_SIMPLE_KEY ? text.length : new TextEncoder().encode(text).length;
}

type ScalarStyle = 'plain' | 'single' | 'double' | 'literal';

/** What a text is made of, as far as it matters. */
interface TextTraits {
  readonly isMultiline: boolean;
  readonly mayBePlain: boolean;
  readonly mayBeSingle: boolean;
  readonly mayBeLiteral: boolean;
}

/** The style of a text that is no simple key, or is one without line breaks. */
function styleOf(text: string, traits: TextTraits, isSimpleKey: boolean): ScalarStyle {
  if (text.includes('\n')) return traits.mayBeLiteral && !isSimpleKey ? 'literal' : 'double';
  if (!readsAsText(text)) return 'double';
  if (traits.mayBePlain) return 'plain';
  return traits.mayBeSingle ? 'single' : 'double';
}

/**
 * Whether the text, without quotes, would be read as just that. The reference server does not think of `<<`, which as a
 * key means something to its own reader.
 */
function readsAsText(text: string): boolean {
  if (isTimestamp(text) || SEXAGESIMAL.test(text)) return false;
  return resolveScalar({ text, tag: '', isPlain: true }).type === 'str';
}

function traitsOf(text: string): TextTraits {
  const isMultiline = BREAK.test(text);
  const isSpecial = !PRINTABLE.test(text) || SPACE_BEFORE_BREAK.test(text);
  const hasSpaceBehindBreak = SPACE_BEHIND_BREAK.test(text);
  return {
    isMultiline,
    mayBePlain: !isMultiline && !isSpecial && !hasSpaceBehindBreak && !/^ | $/.test(text) && !INDICATOR.test(text),
    mayBeSingle: !isSpecial && !hasSpaceBehindBreak,
    mayBeLiteral: !isSpecial && !text.endsWith(' '),
  };
}
