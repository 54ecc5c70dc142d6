/** What stands between brackets in a regular expression: `[^a-z\d[:punct:]]`. */
import { readClassEscape, readEscape } from './escape.js';
import type { Node } from './node.js';
import { one } from './node.js';
import { problem } from './problem.js';
import type { Member, Range } from './set.js';
import { CharacterSet, namedMember } from './set.js';

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
