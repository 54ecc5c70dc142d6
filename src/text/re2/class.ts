/** Parses character classes (`[^a-z\d[:punct:]]`) and escape sequences, in and outside of brackets. */
import { type Node, one } from './node.js';
import { CharacterSet, type Member, namedMember, perlMember, type Range, unicodeMember } from './set.js';

/** A syntax error in a pattern. `index.ts` converts it to a message. */
export class Re2SyntaxError extends Error {}

export interface ClassContext {
  readonly folded: boolean;
  /** The index of the last `:]`, so that not every `[:` searches up to the end. */
  readonly lastNameEnd: number;
}

/** Parses the class that starts at an index. */
export function readClass(text: string, start: number, context: ClassContext): { node: Node; end: number } {
  const { folded, lastNameEnd } = context;
  const negated = text[start + 1] === '^';
  const first = start + (negated ? 2 : 1);
  const ranges: Range[] = [];
  const members: Member[] = [];
  let at = first;
  // A bracket at the start does not close the class.
  while (at === first || text[at] !== ']') {
    const named = (at < lastNameEnd - 1 ? readNamed(text, at) : undefined) ?? readMember(text, at);
    if (named !== undefined) {
      members.push(named.member);
      at = named.end;
      continue;
    }
    const { range, end } = readRange(text, at, start);
    ranges.push(range);
    at = end;
  }
  return { node: classNode(ranges, members, { negated, folded }), end: at + 1 };
}

/** A class of one character becomes that character. */
function classNode(
  ranges: readonly Range[],
  members: readonly Member[],
  options: { readonly negated: boolean; readonly folded: boolean },
): Node {
  const [range] = ranges;
  const isOne = ranges.length === 1 && members.length === 0 && !options.negated && !options.folded;
  if (isOne && range !== undefined && range[0] === range[1]) return one(range[0], 'exact');
  return one(new CharacterSet({ ranges, members, ...options }));
}

/** Parses `[:alpha:]` or `[:^alpha:]`. An unclosed `[:` is literal. */
function readNamed(text: string, at: number): { member: Member; end: number } | undefined {
  if (!text.startsWith('[:', at)) return undefined;
  const close = text.indexOf(':]', at + 2);
  const end = close + 2;
  const negated = text[at + 2] === '^';
  const member = namedMember(text.slice(at + (negated ? 3 : 2), close), negated);
  if (member === undefined) throw syntaxError('invalid character class range', text.slice(at, end));
  return { member, end };
}

function readMember(text: string, at: number): { member: Member; end: number } | undefined {
  return text[at] === '\\' ? readClassEscape(text, at) : undefined;
}

/** Parses a character or a range; a dash before the closing bracket is literal. */
function readRange(text: string, at: number, start: number): { range: Range; end: number } {
  const low = readOne(text, at, start);
  const next = text[low.end + 1];
  if (text[low.end] !== '-' || next === undefined || next === ']') return { range: [low.code, low.code], end: low.end };
  const high = readOne(text, low.end + 1, start);
  if (high.code < low.code) throw syntaxError('invalid character class range', text.slice(at, high.end));
  return { range: [low.code, high.code], end: high.end };
}

function readOne(text: string, at: number, start: number): { code: number; end: number } {
  const code = text.codePointAt(at);
  if (code === undefined) throw syntaxError('missing closing ]', text.slice(start));
  if (code === 0x5c) return readEscape(text, at);
  return { code, end: at + (code > 0xffff ? 2 : 1) };
}

const CONTROL: Readonly<Record<string, number>> = { a: 7, f: 12, t: 9, n: 10, r: 13, v: 11 };

const OCTAL = /0[0-7]{0,2}|[1-7][0-7]{1,2}/y;

const HEX = /^[0-9a-fA-F]+$/;

const MAX_CODE = 0x10ffff;

/** Parses an escaped character. */
export function readEscape(text: string, start: number): { code: number; end: number } {
  const at = start + 1;
  const letter = characterAt(text, at);
  if (letter === '') throw syntaxError('trailing backslash at end of expression', '');
  OCTAL.lastIndex = at;
  const [octal] = OCTAL.exec(text) ?? [];
  if (octal !== undefined) return { code: Number.parseInt(octal, 8), end: at + octal.length };
  if (letter === 'x') return readHex(text, start);
  const control = Object.hasOwn(CONTROL, letter) ? CONTROL[letter] : undefined;
  if (control !== undefined) return { code: control, end: at + 1 };
  const code = letter.codePointAt(0) ?? 0;
  if (code >= 0x80 || /[A-Za-z0-9]/.test(letter)) throw wrong(text, start, at + letter.length);
  return { code, end: at + 1 };
}

/** Parses `\d`, `\pL` or `\p{Greek}`; undefined for other escapes. */
export function readClassEscape(text: string, start: number): { member: Member; end: number } | undefined {
  const letter = text[start + 1] ?? '';
  if (letter === 'p' || letter === 'P') return readUnicode(text, start);
  const member = perlMember(letter);
  return member && { member, end: start + 2 };
}

/** Parses `\x7F` or `\x{10FFFF}`. */
function readHex(text: string, start: number): { code: number; end: number } {
  const at = start + 2;
  if (text[at] === '{') return readBracedHex(text, start);
  const first = characterAt(text, at);
  const second = characterAt(text, at + first.length);
  const end = at + first.length + second.length;
  if (!HEX.test(first) || !HEX.test(second)) throw wrong(text, start, end);
  return { code: Number.parseInt(first + second, 16), end };
}

/** The first invalid character ends the quoted text of the error. */
function readBracedHex(text: string, start: number): { code: number; end: number } {
  const first = start + 3;
  let code = 0;
  for (let at = first; ; at++) {
    const digit = characterAt(text, at);
    const end = at + digit.length;
    if (digit === '}' && at > first) return { code, end };
    if (!HEX.test(digit)) throw wrong(text, start, end);
    code = code * 16 + Number.parseInt(digit, 16);
    if (code > MAX_CODE) throw wrong(text, start, end);
  }
}

/** The name is one character or in braces, where `^` negates it again. */
function readUnicode(text: string, start: number): { member: Member; end: number } {
  const at = start + 2;
  const isBraced = text[at] === '{';
  const brace = isBraced ? text.indexOf('}', at) : -1;
  const end = isBraced ? brace + 1 : at + characterAt(text, at).length;
  if (isBraced && brace < 0) throw syntaxError('invalid character class range', text.slice(start));
  const written = isBraced ? text.slice(at + 1, brace) : text.slice(at, end);
  const isInverse = written.startsWith('^');
  const isNegated = (text[start + 1] === 'P') !== isInverse;
  const member = unicodeMember(isInverse ? written.slice(1) : written, isNegated);
  if (member === undefined) throw syntaxError('invalid character class range', text.slice(start, end));
  return { member, end };
}

function wrong(text: string, start: number, end: number): Error {
  return syntaxError('invalid escape sequence', text.slice(start, end));
}

/** The character at an index; empty at the end. */
function characterAt(text: string, at: number): string {
  const code = text.codePointAt(at);
  return code === undefined ? '' : String.fromCodePoint(code);
}

/** An error with the part of the pattern it refers to. */
export function syntaxError(what: string, where: string): Re2SyntaxError {
  return new Re2SyntaxError(`${what}: \`${where}\``);
}
