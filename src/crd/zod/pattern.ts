/**
 * Converts JavaScript regular expressions to RE2. Syntax with the same meaning is copied; syntax with another meaning
 * (`.`, `\s`) is expanded; what RE2 does not support (lookaround, back references) fails, except for lookaheads
 * directly after the first `^`, which become separate patterns that must (not) match.
 *
 *     /^(?!-)(?=.{1,9}$)\w+$/  →  matches ^\w+$ and ^(?:[^\n\r…]{1,9}$), but not ^(?:-)
 */
import { re2Problem } from '../../text/re2/index.js';

/** The patterns that a string must match, and those it must not match. */
export interface Patterns {
  readonly all: readonly string[];
  readonly none: readonly string[];
}

/** Returns the equivalent RE2 patterns, or the reason why there are none. */
export function patternsOf(expression: RegExp): Patterns | string {
  const { source, flags } = expression;
  if (flags.includes('m') && /[$^]/.test(source)) return 'has line anchors';
  if (flags.includes('y')) return 'is sticky';
  if (flags.includes('v')) return 'uses the v flag';
  try {
    const { body, ahead } = splitLookaheads(source);
    const translate = (text: string) => (flags.includes('i') ? '(?i)' : '') + new Translator(text, flags).run();
    const anchored = (text: string) => translate(`^(?:${text})`);
    const found: Patterns = {
      all: [translate(body), ...ahead.filter(({ negated }) => !negated).map(({ text }) => anchored(text))],
      none: ahead.filter(({ negated }) => negated).map(({ text }) => anchored(text)),
    };
    const problem = [...found.all, ...found.none].map((one) => re2Problem(one)).find((each) => each !== undefined);
    return problem ?? found;
  } catch (error) {
    if (error instanceof Untranslatable) return error.message;
    throw error;
  }
}

/** A pattern that matches the text literally. */
export function literalPattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}

class Untranslatable extends Error {}

interface Lookahead {
  readonly negated: boolean;
  readonly text: string;
}

/** Separates the lookaheads after the first anchor from the rest of the expression. */
function splitLookaheads(source: string): { readonly body: string; readonly ahead: readonly Lookahead[] } {
  const ahead: Lookahead[] = [];
  let rest = source.startsWith('^') ? source.slice(1) : '';
  for (let kind = /^\(\?[=!]/.exec(rest); kind !== null; kind = /^\(\?[=!]/.exec(rest)) {
    const end = endOfGroup(rest);
    ahead.push({ negated: kind[0] === '(?!', text: rest.slice(3, end) });
    rest = rest.slice(end + 1);
  }
  // With alternatives, the anchor and the lookaheads only belong to the first alternative.
  if (ahead.length === 0 || hasAlternatives(rest)) return { body: source, ahead: [] };
  return { body: `^${rest}`, ahead };
}

/** The index of the parenthesis that closes the group at the beginning. */
function endOfGroup(source: string): number {
  let depth = 0;
  for (const [index, token] of tokens(source)) {
    if (token === '(') depth++;
    else if (token === ')' && --depth === 0) return index;
  }
  throw new Untranslatable('has an unclosed group');
}

function hasAlternatives(source: string): boolean {
  let depth = 0;
  for (const [, token] of tokens(source)) {
    if (token === '(') depth++;
    else if (token === ')') depth--;
    else if (token === '|' && depth === 0) return true;
  }
  return false;
}

/** The tokens of an expression with their indexes; an escape or a class is one token. */
function* tokens(source: string): Generator<readonly [number, string]> {
  for (const match of source.matchAll(/\\.|\[(?:\\.|[^\]\\])*\]|./gsu)) yield [match.index, match[0]];
}

/** All white space of JavaScript, for use in a class. */
const SPACES =
  '\\t\\n\\v\\f\\r \\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}\\x{feff}';
const NOT_SPACES =
  '\\x00-\\x08\\x0e-\\x1f!-\\x{9f}\\x{a1}-\\x{167f}\\x{1681}-\\x{1fff}\\x{200b}-\\x{2027}\\x{202a}-\\x{202e}\\x{2030}-\\x{205e}' +
  '\\x{2060}-\\x{2fff}\\x{3001}-\\x{fefe}\\x{ff00}-\\x{10ffff}';
const NOT_LINE_END = '[^\\n\\r\\x{2028}\\x{2029}]';
const ANYTHING = '(?s:.)';
const NOTHING = '[^\\x00-\\x{10ffff}]';

/** Escapes with the same meaning in both syntaxes. */
const SAME_ESCAPES = 'dDwWbBtnvfr';

class Translator {
  #at = 0;

  constructor(
    private readonly source: string,
    private readonly flags: string,
  ) {}

  run(): string {
    let out = '';
    while (this.#at < this.source.length) out += this.#part();
    return out;
  }

  #part(): string {
    const rest = this.source.slice(this.#at);
    if (rest.startsWith('\\')) return this.#escape(false);
    if (rest.startsWith('[')) return this.#class();
    if (rest.startsWith('(?')) return this.#group(rest);
    // A brace that is not a quantifier is a literal.
    const count = /^\{\d+(,\d*)?\}/.exec(rest)?.[0];
    if (count !== undefined) return this.#take(count);
    const character = String.fromCodePoint(rest.codePointAt(0) ?? 0);
    this.#at += character.length;
    if (character === '.') return this.flags.includes('s') ? ANYTHING : NOT_LINE_END;
    return character === '{' || character === '}' ? `\\${character}` : character;
  }

  #take(text: string, as = text): string {
    this.#at += text.length;
    return as;
  }

  #group(rest: string): string {
    if (rest.startsWith('(?:')) return this.#take('(?:');
    const name = /^\(\?<[^=!][^>]*>/.exec(rest)?.[0];
    if (name !== undefined) return this.#take(name, '(?:');
    throw new Untranslatable(/^\(\?<?[=!]/.test(rest) ? 'has lookahead or lookbehind' : 'has inline flags');
  }

  #class(): string {
    const isNegated = this.source.startsWith('[^', this.#at);
    this.#at += isNegated ? 2 : 1;
    let inner = '';
    while (this.source[this.#at] !== ']') {
      if (this.#at >= this.source.length) throw new Untranslatable('has an unclosed class');
      if (this.source[this.#at] === '\\') {
        inner += this.#escape(true);
        continue;
      }
      const character = String.fromCodePoint(this.source.codePointAt(this.#at) ?? 0);
      this.#at += character.length;
      // These have (or may have) a special meaning in an RE2 class.
      inner += character === '[' || character === '^' ? `\\${character}` : character;
    }
    this.#at++;
    if (inner === '') return isNegated ? ANYTHING : NOTHING;
    return `[${isNegated ? '^' : ''}${inner}]`;
  }

  #escape(inClass: boolean): string {
    const rest = this.source.slice(this.#at + 1);
    const letter = rest[0] ?? '';
    const code = /^(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|u\{([0-9a-fA-F]+)\})/.exec(rest);
    if (code !== null) return this.#take(`\\${code[0]}`, `\\x{${code[1] ?? code[2] ?? code[3]}}`);
    // Names that RE2 does not support fail when the result is parsed.
    const property = /^([pP])\{(?:(?:Script|sc|General_Category|gc)=)?(\w+)\}/.exec(rest);
    if (property !== null && this.flags.includes('u'))
      return this.#take(`\\${property[0]}`, `\\${property[1]}{${property[2]}}`);
    if (letter === 'k' || /^[1-9]/.test(letter)) throw new Untranslatable('has a back reference');
    this.#at += 1 + letter.length;
    if (letter === 's') return inClass ? SPACES : `[${SPACES}]`;
    if (letter === 'S') return inClass ? NOT_SPACES : `[^${SPACES}]`;
    if (letter === 'b' && inClass) return '\\x08';
    if (letter === '0') return '\\x00';
    if (letter === 'c') throw new Untranslatable('has a control escape');
    if (SAME_ESCAPES.includes(letter)) return `\\${letter}`;
    // An unnecessary escape.
    return /[\w\u{80}-\u{10ffff}]/u.test(letter) ? letter : `\\${letter}`;
  }
}
