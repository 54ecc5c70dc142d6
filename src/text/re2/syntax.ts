/**
 * Parses a pattern from left to right to nodes; syntax errors equal the reference server's. `class.ts` parses escapes
 * and brackets.
 */
import { readClass, readClassEscape, readEscape, syntaxError } from './class.js';
import {
  type Assertion,
  assertion,
  capture,
  choice,
  MAX_COPIES,
  MAX_HEIGHT,
  MAX_SIZE,
  type Node,
  one,
  repeat,
  sequence,
} from './node.js';
import { CharacterSet } from './set.js';

/** Parses a pattern. Throws a Re2SyntaxError with the message after `error parsing regexp: `. */
export function parseRe2(pattern: string): Node {
  return new PatternParser(pattern).read();
}

interface Flags {
  /** `i`: case-insensitive. */
  readonly folded: boolean;
  /** `m`: `^` and `$` match at lines. */
  readonly lines: boolean;
  /** `s`: the dot matches line feeds. */
  readonly dotAll: boolean;
  /** `U`: swaps greedy and lazy repetitions. */
  readonly ungreedy: boolean;
}

const NO_FLAGS: Flags = { folded: false, lines: false, dotAll: false, ungreedy: false };
const FLAG_LETTERS: Readonly<Record<string, keyof Flags>> = { i: 'folded', m: 'lines', s: 'dotAll', U: 'ungreedy' };

/** The state of the whole pattern or of an open group. */
interface Frame {
  /** The flags outside of the group. */
  readonly outside: Flags;
  readonly isCapture: boolean;
  readonly choices: Node[];
  parts: Node[];
}

const COUNT = /\{(0|[1-9][0-9]*)(?:(,)(0|[1-9][0-9]*)?)?\}/y;
const CAPTURE_NAME = /^[A-Za-z0-9_]+$/;
const ENDLESS = Number.POSITIVE_INFINITY;
const SIGNS = { '*': [0, ENDLESS], '+': [1, ENDLESS], '?': [0, 1] } as const;
const ESCAPED_ASSERTIONS: Readonly<Record<string, Assertion>> = {
  A: 'textStart',
  z: 'textEnd',
  b: 'wordBoundary',
  B: 'noWordBoundary',
};
const ANYTHING = new CharacterSet({ negated: true });
const ANYTHING_IN_LINE = new CharacterSet({ ranges: [[0x0a, 0x0a]], negated: true });

class PatternParser {
  readonly #text: string;
  readonly #lastNameEnd: number;
  readonly #open: Frame[] = [];
  #frame: Frame;
  /** Cached literal nodes by character. */
  readonly #literals = new Map<number, Node>();
  readonly #foldedLiterals = new Map<number, Node>();
  #flags = NO_FLAGS;
  #at = 0;
  /** The start of a directly preceding repetition; another one must not follow. */
  #repetition: number | undefined;

  constructor(text: string) {
    this.#text = text;
    this.#lastNameEnd = text.lastIndexOf(':]');
    this.#frame = this.#newFrame(false);
  }

  read(): Node {
    while (this.#at < this.#text.length) {
      const start = this.#at;
      const isRepetition = this.#step(String.fromCodePoint(this.#text.codePointAt(start) ?? 0));
      this.#repetition = isRepetition ? start : undefined;
    }
    const whole = this.#currentChoice();
    if (this.#open.length > 0) throw syntaxError('missing closing )', this.#text);
    return whole;
  }

  /** Parses the next element; returns true for a repetition. */
  #step(character: string): boolean {
    switch (character) {
      case '*':
      case '+':
      case '?':
        this.#at++;
        this.#repeat(SIGNS[character], 'sign');
        return true;
      case '{':
        if (this.#count()) return true;
        break;
      case '(':
        this.#group();
        return false;
      case '[':
        this.#class();
        return false;
      case '\\':
        this.#escape();
        return false;
      case '|':
        this.#at++;
        this.#frame.choices.push(this.#currentSequence());
        this.#frame.parts = [];
        return false;
      case ')':
        this.#at++;
        this.#close();
        return false;
      case '^':
        this.#at++;
        this.#add(assertion(this.#flags.lines ? 'lineStart' : 'textStart'));
        return false;
      case '$':
        this.#at++;
        this.#add(assertion(this.#flags.lines ? 'lineEnd' : 'textEnd'));
        return false;
      case '.':
        this.#at++;
        this.#add(one(this.#flags.dotAll ? ANYTHING : ANYTHING_IN_LINE));
        return false;
    }
    this.#at += character.length;
    this.#literal(character.codePointAt(0) ?? 0);
    return false;
  }

  #add(node: Node): void {
    this.#frame.parts.push(node);
  }

  #literal(code: number): void {
    const { folded } = this.#flags;
    const known = folded ? this.#foldedLiterals : this.#literals;
    const node =
      known.get(code) ??
      (folded ? one(new CharacterSet({ ranges: [[code, code]], folded }), 'folded') : one(code, 'exact'));
    known.set(code, node);
    this.#add(node);
  }

  /** Checks the limits of a node. */
  #checked(node: Node): Node {
    if (node.size > MAX_SIZE) throw syntaxError('expression too large', this.#text);
    if (node.height > MAX_HEIGHT) throw syntaxError('expression nests too deeply', this.#text);
    return node;
  }

  #newFrame(isCapture: boolean): Frame {
    return { outside: this.#flags, isCapture, choices: [], parts: [] };
  }

  #currentSequence(): Node {
    return this.#checked(sequence(this.#frame.parts));
  }

  #currentChoice(): Node {
    const last = this.#currentSequence();
    return this.#checked(choice([...this.#frame.choices, last]));
  }

  #close(): void {
    const inside = this.#currentChoice();
    const { isCapture, outside } = this.#frame;
    const around = this.#open.pop();
    if (around === undefined) throw syntaxError('unexpected )', this.#text);
    this.#frame = around;
    this.#flags = outside;
    this.#add(isCapture ? this.#checked(capture(inside)) : inside);
  }

  #group(): void {
    const start = this.#at;
    if (this.#text[start + 1] !== '?') {
      this.#at++;
      this.#openGroup(true);
      return;
    }
    const afterName = this.#nameStart(start);
    if (afterName === undefined) {
      this.#flagGroup(start);
      return;
    }
    const end = this.#text.indexOf('>', start);
    if (end < 0) throw syntaxError('invalid named capture', this.#text.slice(start));
    if (!CAPTURE_NAME.test(this.#text.slice(afterName, end))) {
      throw syntaxError('invalid named capture', this.#text.slice(start, end + 1));
    }
    this.#at = end + 1;
    this.#openGroup(true);
  }

  /** The start of the name in `(?P<name>` or `(?<name>`. At the end of the text `<` does not start a name. */
  #nameStart(start: number): number | undefined {
    const sign = ['(?P<', '(?<'].find((candidate) => this.#text.startsWith(candidate, start));
    const at = start + (sign?.length ?? 0);
    return sign === undefined || at >= this.#text.length ? undefined : at;
  }

  #openGroup(isCapture: boolean): void {
    this.#open.push(this.#frame);
    this.#frame = this.#newFrame(isCapture);
  }

  /** Parses `(?i)` for the rest of the enclosing group, or `(?i-s:` for a new group. */
  #flagGroup(start: number): void {
    let flags = this.#flags;
    let isOn = true;
    let isAnyNamed = false;
    this.#at = start + 2;
    for (;;) {
      const letter = this.#take();
      const flag = Object.hasOwn(FLAG_LETTERS, letter) ? FLAG_LETTERS[letter] : undefined;
      if (flag !== undefined) {
        flags = { ...flags, [flag]: isOn };
        isAnyNamed = true;
      } else if (letter === '-' && isOn) {
        isOn = false;
        isAnyNamed = false;
      } else if ((letter === ':' || letter === ')') && (isOn || isAnyNamed)) {
        if (letter === ':') this.#openGroup(false);
        this.#flags = flags;
        return;
      } else {
        throw syntaxError('invalid or unsupported Perl syntax', this.#text.slice(start, this.#at));
      }
    }
  }

  /** Consumes a character; empty at the end. */
  #take(): string {
    const code = this.#text.codePointAt(this.#at);
    const character = code === undefined ? '' : String.fromCodePoint(code);
    this.#at += character.length;
    return character;
  }

  /** Parses `{2}`, `{2,}` or `{2,5}`; returns false if the brace is literal. */
  #count(): boolean {
    COUNT.lastIndex = this.#at;
    const [all, low, comma, high] = COUNT.exec(this.#text) ?? [];
    if (all === undefined) return false;
    const min = Number(low);
    const upTo = high === undefined ? ENDLESS : Number(high);
    const max = comma === undefined ? min : upTo;
    const highest = max === ENDLESS ? min : max;
    if (highest > MAX_COPIES || min > max) throw syntaxError('invalid repeat count', all);
    this.#at += all.length;
    this.#repeat([min, max], 'count', all.length);
    return true;
  }

  #repeat([min, max]: readonly [number, number], written: 'sign' | 'count', length = 1): void {
    const start = this.#at - length;
    const isMarked = this.#text[this.#at] === '?';
    if (isMarked) this.#at++;
    if (this.#repetition !== undefined) {
      throw syntaxError('invalid nested repetition operator', this.#text.slice(this.#repetition, this.#at));
    }
    const operator = this.#text.slice(start, this.#at);
    const part = this.#frame.parts.pop();
    if (part === undefined) throw syntaxError('missing argument to repetition operator', operator);
    const repeated = this.#checked(repeat(part, { min, max, lazy: isMarked !== this.#flags.ungreedy }, written));
    const isCounted = written === 'count' && (min >= 2 || (max >= 2 && max !== ENDLESS));
    if (isCounted && repeated.copies > MAX_COPIES) throw syntaxError('invalid repeat count', operator);
    this.#add(repeated);
  }

  #class(): void {
    const { node, end } = readClass(this.#text, this.#at, {
      folded: this.#flags.folded,
      lastNameEnd: this.#lastNameEnd,
    });
    this.#at = end;
    this.#add(node);
  }

  #escape(): void {
    const start = this.#at;
    const letter = this.#text[start + 1] ?? '';
    const asserted = Object.hasOwn(ESCAPED_ASSERTIONS, letter) ? ESCAPED_ASSERTIONS[letter] : undefined;
    if (asserted !== undefined) {
      this.#at += 2;
      this.#add(assertion(asserted));
      return;
    }
    if (letter === 'Q') {
      this.#quoted();
      return;
    }
    const named = readClassEscape(this.#text, start);
    if (named !== undefined) {
      this.#at = named.end;
      this.#add(one(new CharacterSet({ members: [named.member], folded: this.#flags.folded })));
      return;
    }
    const { code, end } = readEscape(this.#text, start);
    this.#at = end;
    this.#literal(code);
  }

  /** Parses `\Q...\E`: literal text, up to the end if it is not closed. */
  #quoted(): void {
    const end = this.#text.indexOf('\\E', this.#at + 2);
    const inside = this.#text.slice(this.#at + 2, end < 0 ? undefined : end);
    for (const character of inside) this.#literal(character.codePointAt(0) ?? 0);
    this.#at = end < 0 ? this.#text.length : end + 2;
  }
}
