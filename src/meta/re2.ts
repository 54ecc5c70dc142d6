/**
 * The regular expressions of schemas: the syntax of the reference server, checked in its words, and matched by the
 * engine at hand after a translation. Lookaround and back references are no part of it.
 */

/** What is wrong with an expression: `error parsing regexp: missing closing ): \`(\``; undefined when nothing is. */
export function re2Problem(pattern: string): string | undefined {
  try {
    new Reader(pattern).read();
    return undefined;
  } catch (error) {
    if (error instanceof SyntaxProblem) return `error parsing regexp: ${error.message}`;
    throw error;
  }
}

/** Whether an expression matches anywhere in a text. An expression with a problem matches nothing. */
export function re2Matches(pattern: string, text: string): boolean {
  return compiled(pattern)?.test(text) ?? false;
}

const MAX_COMPILED = 200;
const cache = new Map<string, RegExp | undefined>();

function compiled(pattern: string): RegExp | undefined {
  if (cache.has(pattern)) return cache.get(pattern);
  if (cache.size >= MAX_COMPILED) cache.clear();
  const made = re2Problem(pattern) === undefined ? translated(pattern) : undefined;
  cache.set(pattern, made);
  return made;
}

function translated(pattern: string): RegExp | undefined {
  const { source, flags } = new Reader(pattern).read();
  try {
    return new RegExp(source, `u${flags}`);
  } catch (error) {
    // What the engine at hand cannot express at all (flags in the middle, rare classes) matches nothing.
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

class SyntaxProblem extends Error {}

function problem(what: string, where: string): SyntaxProblem {
  return new SyntaxProblem(`${what}: \`${where}\``);
}

interface Translation {
  readonly source: string;
  readonly flags: string;
}

const MAX_REPEAT = 1000;

/** Reads an expression once from left to right, and writes down the same for the engine at hand. */
class Reader {
  readonly #text: string;
  #at = 0;
  #out = '';
  #flags = '';
  #open = 0;
  /** Where the last thing began that may be repeated, and whether it has been. */
  #atom: { readonly start: number; readonly repeated: boolean } | undefined;

  constructor(text: string) {
    this.#text = text;
  }

  read(): Translation {
    while (this.#at < this.#text.length) this.#step();
    if (this.#open > 0) throw problem('missing closing )', this.#text);
    return { source: this.#out, flags: this.#flags };
  }

  #rest(): string {
    return this.#text.slice(this.#at);
  }

  #step(): void {
    const start = this.#at;
    const character = this.#text[start] as string;
    switch (character) {
      case '(':
        this.#group();
        return;
      case ')':
        if (this.#open === 0) throw problem('unexpected )', this.#text);
        this.#open--;
        this.#take(')', start);
        return;
      case '|':
        this.#write('|');
        return;
      case '^':
        this.#take('^', start);
        return;
      case '$':
        this.#take('$', start);
        return;
      case '*':
      case '+':
      case '?':
        this.#repeat(character);
        return;
      case '{':
        this.#braces();
        return;
      case '[':
        this.#class();
        return;
      case '\\':
        this.#escape();
        return;
      default:
        this.#take(/[}\]/]/.test(character) ? `\\${character}` : character, start);
    }
  }

  /** One character read, something written that may be repeated. */
  #take(written: string, start: number): void {
    this.#at = start + 1;
    this.#out += written;
    this.#atom = { start, repeated: false };
  }

  /** One character read that stands between things. */
  #write(written: string): void {
    this.#at++;
    this.#out += written;
    this.#atom = undefined;
  }

  #group(): void {
    const rest = this.#rest();
    this.#atom = undefined;
    this.#open++;
    if (!rest.startsWith('(?')) {
      this.#write('(');
      return;
    }
    const named = /^\(\?P?<([^>]*)>/.exec(rest);
    if (rest.startsWith('(?P<') || (rest.startsWith('(?<') && !/^\(\?<[=!]/.test(rest))) {
      if (named === null) throw problem('invalid named capture', rest);
      const name = named[1] ?? '';
      if (!/^\w+$/.test(name)) throw problem('invalid named capture', named[0]);
      this.#at += named[0].length;
      this.#out += '(';
      return;
    }
    this.#flagGroup(rest);
  }

  #flagGroup(rest: string): void {
    const flags = /^\(\?([imsU]*(?:-[imsU]+)?)([:)])/.exec(rest);
    if (flags === null) {
      const bad = /^\(\?[imsU-]*./s.exec(rest);
      if (bad === null) throw problem('missing closing )', this.#text);
      throw problem('invalid or unsupported Perl syntax', rest.startsWith('(?<') ? rest.slice(0, 4) : bad[0]);
    }
    const [all, names = '', end] = flags;
    if (end === ')') {
      // Flags for the rest: at the start they are the engine's own, further on it has no word for them.
      this.#open--;
      if (this.#out === '') this.#flags = names.replace(/-.*|U/g, '');
      this.#at += all.length;
      return;
    }
    if (this.#out === '' && names !== '' && !names.includes('-')) this.#flags = names.replaceAll('U', '');
    this.#at += all.length;
    this.#out += '(?:';
  }

  #repeat(operator: string): void {
    const start = this.#at;
    const length = this.#text[start + 1] === '?' ? 2 : 1;
    this.#repeated(start, operator, length);
  }

  #braces(): void {
    const count = /^\{(\d+)(,(\d*))?\}/.exec(this.#rest());
    const start = this.#at;
    if (count === null) {
      this.#take('\\{', start);
      return;
    }
    const [all, low = '0', range, high = ''] = count;
    const top = range === undefined || high === '' ? Number(low) : Number(high);
    if (Number(low) > MAX_REPEAT || top > MAX_REPEAT || top < Number(low)) throw problem('invalid repeat count', all);
    const lazy = this.#text[start + all.length] === '?' ? 1 : 0;
    this.#repeated(start, all, all.length + lazy);
  }

  #repeated(start: number, operator: string, length: number): void {
    const text = this.#text.slice(start, start + length);
    if (this.#atom === undefined) throw problem('missing argument to repetition operator', text);
    if (this.#atom.repeated) {
      throw problem('invalid nested repetition operator', this.#text.slice(this.#atom.start, start + length));
    }
    // `^*` is allowed there and not here; it says nothing in either case.
    const last = this.#out.at(-1);
    if (last === '^' || (last === '$' && !this.#out.endsWith('\\$')))
      this.#out = `${this.#out.slice(0, -1)}(?:${last})`;
    this.#out += operator + (length > operator.length ? '?' : '');
    this.#at = start + length;
    this.#atom = { start, repeated: true };
  }

  #class(): void {
    const start = this.#at;
    const whole = this.#text.slice(start);
    let at = start + 1;
    let out = '[';
    if (this.#text[at] === '^') {
      out += '^';
      at++;
    }
    for (let first = true; first || this.#text[at] !== ']'; first = false) {
      if (at >= this.#text.length) throw problem('missing closing ]', whole);
      const named = /^\[:(\^?)([a-z]+):\]/.exec(this.#text.slice(at));
      if (named !== null) {
        out += namedClass(named[2] ?? '', named[1] === '^', named[0]);
        at += named[0].length;
        continue;
      }
      const low = this.#member(at);
      at += low.length;
      if (this.#text[at] !== '-' || this.#text[at + 1] === ']' || at + 1 >= this.#text.length) {
        out += low.written;
        continue;
      }
      const high = this.#member(at + 1);
      const range = this.#text.slice(at - low.length, at + 1 + high.length);
      if (low.code === undefined || high.code === undefined || high.code < low.code) {
        throw problem('invalid character class range', range);
      }
      out += `${low.written}-${high.written}`;
      at += 1 + high.length;
    }
    this.#at = at + 1;
    this.#out += `${out}]`;
    this.#atom = { start, repeated: false };
  }

  /** One character of a class, or a class within it, which has no code. */
  #member(at: number): { length: number; written: string; code?: number } {
    const text = this.#text.slice(at);
    if (text.startsWith('\\')) return readEscape(text);
    const character = String.fromCodePoint(text.codePointAt(0) ?? 0);
    const written = /[[\]\\^$.|?*+(){}/-]/.test(character) ? `\\${character}` : character;
    return { length: character.length, written, code: character.codePointAt(0) ?? 0 };
  }

  #escape(): void {
    const start = this.#at;
    const rest = this.#rest();
    const literal = /^\\Q([\s\S]*?)(\\E|$)/.exec(rest);
    if (literal !== null) {
      this.#at += literal[0].length;
      this.#out += (literal[1] ?? '').replace(/[[\]\\^$.|?*+(){}/]/g, '\\$&');
      this.#atom = { start, repeated: false };
      return;
    }
    const anchor = { A: '(?<![\\s\\S])', z: '(?![\\s\\S])', b: '\\b', B: '\\B' }[rest[1] ?? ''];
    const { length, written } = anchor === undefined ? readEscape(rest) : { length: 2, written: anchor };
    this.#at += length;
    this.#out += written;
    this.#atom = { start, repeated: false };
  }
}

const CONTROL: Readonly<Record<string, number>> = { a: 7, f: 12, t: 9, n: 10, r: 13, v: 11 };

/** An escape at the start of a text, for the engine at hand. */
function readEscape(text: string): { length: number; written: string; code?: number } {
  const next = text[1];
  if (next === undefined) throw problem('trailing backslash at end of expression', '');
  if (/[dDsSwW]/.test(next)) return { length: 2, written: text.slice(0, 2) };
  const property = /^\\[pP](?:\{(\^?)(\w+)\}|([A-Z]))/.exec(text);
  if (property !== null) {
    const name = property[2] ?? property[3] ?? '';
    const negated = (text[1] === 'P') !== (property[1] === '^');
    return { length: property[0].length, written: unicodeClass(name, negated, property[0]) };
  }
  const hex = /^\\x(?:\{([0-9a-fA-F]+)\}|([0-9a-fA-F]{2}))/.exec(text);
  if (hex !== null) return coded(hex[0].length, Number.parseInt(hex[1] ?? hex[2] ?? '', 16));
  const octal = /^\\(0[0-7]{0,2}|[1-7][0-7]{1,2})/.exec(text);
  if (octal !== null) return coded(octal[0].length, Number.parseInt(octal[1] ?? '', 8));
  const control = Object.hasOwn(CONTROL, next) ? CONTROL[next] : undefined;
  if (control !== undefined) return coded(2, control);
  if (/[A-Za-z0-9]/.test(next)) throw problem('invalid escape sequence', text.slice(0, 2));
  return { ...coded(2, next.charCodeAt(0)), written: /[[\]\\^$.|?*+(){}/-]/.test(next) ? `\\${next}` : next };
}

function coded(length: number, code: number): { length: number; written: string; code: number } {
  return { length, written: `\\u{${code.toString(16)}}`, code };
}

/** Scripts and categories have other names in the engine at hand, and it knows which there are. */
function unicodeClass(name: string, negated: boolean, text: string): string {
  for (const form of [name, `Script=${name}`]) {
    const written = `\\${negated ? 'P' : 'p'}{${form}}`;
    try {
      new RegExp(written, 'u');
      return written;
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
    }
  }
  throw problem('invalid character class range', text);
}

const NAMED: Readonly<Record<string, string>> = {
  alnum: '0-9A-Za-z',
  alpha: 'A-Za-z',
  ascii: '\\u{0}-\\u{7f}',
  blank: '\\t ',
  cntrl: '\\u{0}-\\u{1f}\\u{7f}',
  digit: '0-9',
  graph: '!-~',
  lower: 'a-z',
  print: ' -~',
  punct: '!-\\/:-@\\[-`\\{-~',
  space: '\\t\\n\\v\\f\\r ',
  upper: 'A-Z',
  word: '0-9A-Za-z_',
  xdigit: '0-9A-Fa-f',
};

function namedClass(name: string, negated: boolean, text: string): string {
  const inside = Object.hasOwn(NAMED, name) ? NAMED[name] : undefined;
  if (inside === undefined) throw problem('invalid character class range', text);
  if (!negated) return inside;
  const complements: Readonly<Record<string, string>> = { digit: '\\D', word: '\\W' };
  return (Object.hasOwn(complements, name) ? complements[name] : undefined) ?? `\\u{80}-\\u{10ffff}`;
}
