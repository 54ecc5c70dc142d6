/**
 * Writes JSON values as YAML like the reference server: sorted keys, lists at the indentation of their key, lines
 * folded after 80 characters, plain strings where possible. Line breaks depend on the current column and on whether
 * only indentation precedes, so the writer tracks both.
 */
import { isRecord, jsonView } from '../../util/json.js';
import { compareKeys } from './key-order.js';
import { goScalar, isTimestamp, resolveScalar } from './scalar.js';

/** Base-60 numbers, such as times of day, which other YAML readers resolve. */
const SEXAGESIMAL = /^[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?$/;

const BREAK = /[\n\r\u0085\u2028\u2029]/;

const SPACE_BEFORE_BREAK = / [\n\r\u0085\u2028\u2029]/;

const SPACE_AFTER_BREAK = /[\n\r\u0085\u2028\u2029] /;

/** Characters that need no escape; characters beyond 16 bits do. */
const PRINTABLE = /^[\n\x20-\x7e\u00a0-\ud7ff\ue000-\ufefe\uff00-\ufffd]*$/;

/** Runs of characters that need no escapes in double quotes, and single other characters and spaces. */
const PARTS_TO_ESCAPE = /[!#-[\]-~\u00a0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd]+|./gsu;

const CHARACTERS = /./gsu;

/** Printable characters that `escapeInvisible` escapes. */
const INVISIBLE = /[\p{Bidi_Control}\u2028\u2029]/u;

const LINES_AND_BREAKS = /[\n\u2028\u2029]|[^\n\u2028\u2029]+/g;

/** Indicators outside of flow collections: at the start, and anywhere. */
const INDICATOR = /^(?:[#,[\]{}&*!|>'"%@`]|---|\.\.\.|[?:-](?:[ \t]|$))|:(?:[ \t]|$)|[ \t\n\u2028\u2029]#/;

/**
 * Writes a JSON value as a YAML document with a final line break. Omits keys with the value `undefined`; a lone
 * surrogate becomes U+FFFD.
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
   * Quotes the key `<<`, so that readers do not treat it as a merge. Default: false, because the reference server does
   * not quote it (its own reader then misreads its output).
   */
  readonly quoteMergeKeys?: boolean;
  /**
   * Escapes line separators and text directions, which are invisible. Default: false, because the reference server does
   * not escape them.
   */
  readonly escapeInvisible?: boolean;
}

const INDENT = 2;
/** Lines are broken at the first space after this many characters. */
const WIDTH = 80;
/** Keys longer than this many bytes are written with `?`. */
const LONGEST_SIMPLE_KEY = 128;

class YamlWriter {
  readonly #quoteMergeKeys: boolean;
  readonly #escapeInvisible: boolean;
  #text = '';
  #column = 0;
  /** The indentation of the current container; -1 before the first. */
  #indent = -1;
  /** Whether the last output needs no space after it. */
  #isSpaced = true;
  /** Whether the line contains only indentation and `-`, `?` and `:`. */
  #isIndentation = true;

  constructor({ quoteMergeKeys = false, escapeInvisible = false }: WriteYamlOptions) {
    this.#quoteMergeKeys = quoteMergeKeys;
    this.#escapeInvisible = escapeInvisible;
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
    // The items of a list under a key have the key's indentation.
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
    // UTF-8 cannot encode a lone surrogate.
    const text = given.replace(/\p{Surrogate}/gu, '\ufffd');
    const outer = this.#indent;
    this.#indent = Math.max(outer, 0) + INDENT;
    const mayBreak = !isSimpleKey;
    const hasInvisible = this.#escapeInvisible && INVISIBLE.test(text);
    switch (hasInvisible ? 'double' : styleOf(text, known ?? traitsOf(text), isSimpleKey)) {
      case 'plain':
        this.#plain(text, mayBreak);
        break;
      case 'single':
        this.#single(text, mayBreak);
        break;
      case 'double':
        this.#double(text, mayBreak, hasInvisible);
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

  /**
   * Writes text and breaks lines at single spaces. Unicode separators are line breaks already; the following line is
   * indented.
   */
  #folded(text: string, mayBreak: boolean): void {
    let written = 0;
    const writeUntil = (end: number): void => {
      if (end === written) return;
      this.#put(text.slice(written, end));
      this.#isIndentation = false;
      written = end;
    };
    for (let at = 0; at < text.length; at++) {
      const character = text[at] as string;
      if (isSeparator(character)) {
        writeUntil(at);
        this.#put(character);
        this.#column = 0;
        this.#isIndentation = true;
        written = at + 1;
        continue;
      }
      if (at > 0 && isSeparator(text[at - 1] as string)) this.#beginLine();
      if (character !== ' ' || !mayBreak || this.#column + at - written <= WIDTH) continue;
      const isSingleSpace = text[at - 1] !== ' ' && text[at + 1] !== ' ';
      if (!isSingleSpace || at === 0 || at === text.length - 1) continue;
      writeUntil(at);
      this.#beginLine();
      written = at + 1;
    }
    writeUntil(text.length);
  }

  #double(text: string, mayBreak: boolean, hasInvisible: boolean): void {
    this.#indicator('"');
    // The reference server escapes everything after a byte order mark.
    const isMarked = text.startsWith('\ufeff');
    for (const { 0: part, index: at } of text.matchAll(isMarked || hasInvisible ? CHARACTERS : PARTS_TO_ESCAPE)) {
      if (isMarked || mustEscape(part) || (hasInvisible && INVISIBLE.test(part))) {
        this.#put(escapeOf(part));
        continue;
      }
      const isFirstSpace = part === ' ' && text[at - 1] !== ' ';
      if (mayBreak && isFirstSpace && this.#column > WIDTH && at > 0 && at < text.length - 1) {
        this.#beginLine();
        // Readers skip spaces at the start of a line unless the first is escaped.
        if (text[at + 1] === ' ') this.#put('\\');
        continue;
      }
      this.#put(part);
    }
    this.#indicator('"', { needsSpace: false });
  }

  /** Writes a literal block; its lines are not folded. */
  #literal(text: string): void {
    const [first = '', last = '', beforeLast] = [text[0], text.at(-1), text.at(-2)];
    const depth = first === ' ' || isBreak(first) ? String(INDENT) : '';
    const keeps = isBreak(last) && (beforeLast === undefined || isBreak(beforeLast));
    this.#indicator(`|${depth}${isBreak(last) ? (keeps ? '+' : '') : '-'}`);
    this.#breakLine('\n');
    this.#isSpaced = true;
    let atBreak = true;
    for (const [part] of text.matchAll(LINES_AND_BREAKS)) {
      if (isBreak(part)) {
        this.#breakLine(part);
      } else {
        if (atBreak) this.#beginLine();
        this.#put(part);
        this.#isIndentation = false;
      }
      atBreak = isBreak(part);
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

  /** Moves to the current indentation, in a new line unless only indentation precedes and there is room. */
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

  /** Writes text within a line. */
  #put(text: string): void {
    this.#text += text;
    this.#column += text.length;
  }
}

type IndicatorTrait = 'needsSpace' | 'isSpaced' | 'isIndentation';

/** Formats null, a boolean or a number; integers beyond 64 bits are floats. */
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

/** Whether a character is a Unicode line break that needs no escape. */
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
  // A unit needs at most three bytes, so most keys need no encoding.
  return text.length * 3 <= LONGEST_SIMPLE_KEY ? text.length : new TextEncoder().encode(text).length;
}

type ScalarStyle = 'plain' | 'single' | 'double' | 'literal';

/** The properties of a text that determine its style. */
interface TextTraits {
  readonly isMultiline: boolean;
  readonly mayBePlain: boolean;
  readonly mayBeSingle: boolean;
  readonly mayBeLiteral: boolean;
}

/** Chooses the style of a text. A simple key has no line breaks. */
function styleOf(text: string, traits: TextTraits, isSimpleKey: boolean): ScalarStyle {
  if (text.includes('\n')) return traits.mayBeLiteral && !isSimpleKey ? 'literal' : 'double';
  if (!readsAsText(text)) return 'double';
  if (traits.mayBePlain) return 'plain';
  return traits.mayBeSingle ? 'single' : 'double';
}

/**
 * Whether the unquoted text is read as a string. The reference server ignores `<<`, which its reader treats as a merge
 * key.
 */
function readsAsText(text: string): boolean {
  if (isTimestamp(text) || SEXAGESIMAL.test(text)) return false;
  return resolveScalar({ text, tag: '', isPlain: true }).type === 'str';
}

function traitsOf(text: string): TextTraits {
  const isMultiline = BREAK.test(text);
  const isSpecial = !PRINTABLE.test(text) || SPACE_BEFORE_BREAK.test(text);
  const hasSpaceAfterBreak = SPACE_AFTER_BREAK.test(text);
  return {
    isMultiline,
    mayBePlain: !isMultiline && !isSpecial && !hasSpaceAfterBreak && !/^ | $/.test(text) && !INDICATOR.test(text),
    mayBeSingle: !isSpecial && !hasSpaceAfterBreak,
    mayBeLiteral: !isSpecial && !text.endsWith(' '),
  };
}
