/** What stands between brackets in a regular expression: `[^a-z\d[:punct:]]`. */
import type { Node } from './node.js';
import { one } from './node.js';
import type { Member, Range } from './set.js';
import { CharacterSet, namedMember, perlMember, unicodeMember } from './set.js';

/** What is wrong with a regular expression. It leaves the reader of expressions as a text only. */
export class SyntaxProblem extends Error {}

const CONTROL: Readonly<Record<string, number>> = { a: 7, f: 12, t: 9, n: 10, r: 13, v: 11 };

const OCTAL = /0[0-7]{0,2}|[1-7][0-7]{1,2}/y;

const HEX = /^[0-9a-fA-F]+$/;

const MAX_CODE = 0x10ffff;

export interface ClassContext {
  readonly folded: boolean;
  /** Where the last `:]` of the text is, lest every `[:` look for one up to the end. */
  readonly lastNameEnd: number;
}

/** The class that opens at a place, and where it ends. */
export function readClass(text: string, start: number, context: ClassContext): { node: Node; end: number } {
  const { folded, lastNameEnd } = context;
  const negated = text[start + 1] === '^';
  const first = start + (negated ? 2 : 1);
  const ranges: Range[] = [];
  const members: Member[] = [];
  let at = first;
  // A bracket that comes first does not close the class.
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

/** A class of one character is that character. */
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

/** `[:alpha:]` or `[:^alpha:]`. A bracket and a colon that nothing closes are themselves. */
function readNamed(text: string, at: number): { member: Member; end: number } | undefined {
  if (!text.startsWith('[:', at)) return undefined;
  const close = text.indexOf(':]', at + 2);
  const end = close + 2;
  const negated = text[at + 2] === '^';
  const member = namedMember(text.slice(at + (negated ? 3 : 2), close), negated);
  if (member === undefined) throw problem('invalid character class range', text.slice(at, end));
  return { member, end };
}

function readMember(text: string, at: number): { member: Member; end: number } | undefined {
  return text[at] === '\\' ? readClassEscape(text, at) : undefined;
}

/** One character, or two with a line between; a line right before the end is a character. */
function readRange(text: string, at: number, start: number): { range: Range; end: number } {
  const low = readOne(text, at, start);
  const next = text[low.end + 1];
  if (text[low.end] !== '-' || next === undefined || next === ']') return { range: [low.code, low.code], end: low.end };
  const high = readOne(text, low.end + 1, start);
  if (high.code < low.code) throw problem('invalid character class range', text.slice(at, high.end));
  return { range: [low.code, high.code], end: high.end };
}

function readOne(text: string, at: number, start: number): { code: number; end: number } {
  const code = text.codePointAt(at);
  if (code === undefined) throw problem('missing closing ]', text.slice(start));
  if (code === 0x5c) return readEscape(text, at);
  return { code, end: at + (code > 0xffff ? 2 : 1) };
}

/** The character that is meant by the backslash at a place. */
export function readEscape(text: string, start: number): { code: number; end: number } {
  const at = start + 1;
  const letter = characterAt(text, at);
  if (letter === '') throw problem('trailing backslash at end of expression', '');
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

/** `\d`, `\pL` or `\p{Greek}`; undefined when the backslash at a place begins something else. */
export function readClassEscape(text: string, start: number): { member: Member; end: number } | undefined {
  const letter = text[start + 1] ?? '';
  if (letter === 'p' || letter === 'P') return readUnicode(text, start);
  const member = perlMember(letter);
  return member && { member, end: start + 2 };
}

/** `\x7F` or `\x{10FFFF}`. */
function readHex(text: string, start: number): { code: number; end: number } {
  const at = start + 2;
  if (text[at] === '{') return readBracedHex(text, start);
  const first = characterAt(text, at);
  const second = characterAt(text, at + first.length);
  const end = at + first.length + second.length;
  if (!HEX.test(first) || !HEX.test(second)) throw wrong(text, start, end);
  return { code: Number.parseInt(first + second, 16), end };
}

/** The first character that cannot be part of it ends what the complaint quotes. */
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

/** The name is one character, or stands in braces, and may be negated once more inside them. */
function readUnicode(text: string, start: number): { member: Member; end: number } {
  const at = start + 2;
  const isBraced = text[at] === '{';
  const brace = isBraced ? text.indexOf('}', at) : -1;
  const end = isBraced ? brace + 1 : at + characterAt(text, at).length;
  if (isBraced && brace < 0) throw problem('invalid character class range', text.slice(start));
  const written = isBraced ? text.slice(at + 1, brace) : text.slice(at, end);
  const isInverse = written.startsWith('^');
  const isNegated = (text[start + 1] === 'P') !== isInverse;
  const member = unicodeMember(isInverse ? written.slice(1) : written, isNegated);
  if (member === undefined) throw problem('invalid character class range', text.slice(start, end));
  return { member, end };
}

function wrong(text: string, start: number, end: number): Error {
  return problem('invalid escape sequence', text.slice(start, end));
}

/** The character at a place, nothing at the end. */
function characterAt(text: string, at: number): string {
  const code = text.codePointAt(at);
  return code === undefined ? '' : String.fromCodePoint(code);
}

/** A problem and the piece of the expression that has it. */
export function problem(what: string, where: string): SyntaxProblem {
  return new SyntaxProblem(`${what}: \`${where}\``);
}
