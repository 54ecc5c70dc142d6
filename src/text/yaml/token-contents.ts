/**
 * Scans YAML 1.1 tokens with contents: scalars in all styles, tags and directives. Each function starts at the first
 * character, stops after the last and throws the reference server's error if the contents are invalid.
 */
import { type CharacterReader, isAlpha, isBlank, isBlankOrEnd, isBreak, isBreakOrEnd } from './characters.js';

/** Scans `'…'` or `"…"`; returns the contents with folded lines. */
export function scanQuotedScalar(reader: CharacterReader): string {
  const quoteMark = reader.peek();
  reader.skip();
  let text = '';
  for (;;) {
    if (reader.atDocumentMark()) throw reader.error('found unexpected document indicator');
    const character = reader.peek();
    if (character === '') throw reader.error('found unexpected end of stream');
    if (character === quoteMark) {
      reader.skip();
      if (quoteMark === '"' || reader.peek() !== quoteMark) return text;
      reader.skip();
      text += quoteMark;
    } else if (isBlank(character) || isBreak(character)) {
      text += scanSpace(reader).text;
    } else if (character === '\\' && quoteMark === '"') {
      text += scanEscape(reader);
    } else {
      text += reader.takeCharacter();
    }
  }
}

/**
 * Scans white space in a scalar and returns what it folds to: itself within a line; across lines a space, or one line
 * feed less than there are. `beforeBlank` is called for each blank at the start of a line.
 */
function scanSpace(reader: CharacterReader, beforeBlank?: () => void): Folded {
  const from = reader.offset;
  while (isBlank(reader.peek())) reader.skip();
  if (!isBreak(reader.peek())) return { text: reader.since(from), hasBreak: false };
  const first = reader.peek();
  reader.skip();
  const breaks = scanBreaks(reader, beforeBlank);
  if (first !== '\n') return { text: first + breaks, hasBreak: true };
  return { text: breaks === '' ? ' ' : breaks, hasBreak: true };
}

/** Skips white space at the start of a line; returns the line breaks in it. */
function scanBreaks(reader: CharacterReader, beforeBlank?: () => void): string {
  let breaks = '';
  for (let next = reader.peek(); isBlank(next) || isBreak(next); next = reader.peek()) {
    if (isBreak(next)) breaks += next;
    else beforeBlank?.();
    reader.skip();
  }
  return breaks;
}

interface Folded {
  readonly text: string;
  readonly hasBreak: boolean;
}

function scanEscape(reader: CharacterReader): string {
  const letter = reader.peek(1);
  if (isBreak(letter)) {
    reader.skip(2);
    return scanBreaks(reader);
  }
  const plain = SIMPLE_ESCAPES.get(letter);
  const digits = HEX_ESCAPES.get(letter);
  if (plain === undefined && digits === undefined) throw reader.error('found unknown escape character');
  reader.skip(2);
  if (digits === undefined) return plain ?? '';
  let code = 0;
  for (let at = 0; at < digits; at++) {
    const digit = reader.peek(at);
    if (!isHex(digit)) throw reader.error('did not find expected hexdecimal number');
    code = code * 16 + Number.parseInt(digit, 16);
  }
  // Unlike in JSON, surrogate pairs are not combined: each half is rejected.
  if ((code >= 0xd800 && code <= 0xdfff) || code > 0x10ffff) {
    throw reader.error('found invalid Unicode character escape code');
  }
  reader.skip(digits);
  return String.fromCodePoint(code);
}

/** Unlike JSON, YAML 1.1 has no `\/`. */
const SIMPLE_ESCAPES: ReadonlyMap<string, string> = new Map([
  ['0', '\0'],
  ['a', '\x07'],
  ['b', '\b'],
  ['t', '\t'],
  ['\t', '\t'],
  ['n', '\n'],
  ['v', '\v'],
  ['f', '\f'],
  ['r', '\r'],
  ['e', '\x1b'],
  [' ', ' '],
  ['"', '"'],
  ["'", "'"],
  ['\\', '\\'],
  ['N', '\u0085'],
  ['_', '\u00a0'],
  ['L', '\u2028'],
  ['P', '\u2029'],
]);

const HEX_ESCAPES: ReadonlyMap<string, number> = new Map([
  ['x', 2],
  ['u', 4],
  ['U', 8],
]);

function isHex(character: string): boolean {
  return /^[0-9a-fA-F]$/.test(character);
}

/**
 * Scans a plain scalar with folded lines. It may continue on lines with enough indentation; whether it ends after a
 * line break affects what may follow.
 */
export function scanPlainScalar(
  reader: CharacterReader,
  { indent, inFlow }: { readonly indent: number; readonly inFlow: boolean },
): { readonly text: string; readonly endsAfterBreak: boolean } {
  const checkTab = (): void => {
    if (reader.column > indent || reader.peek() !== '\t') return;
    throw reader.error('found a tab character that violates indentation');
  };
  let text = '';
  let space: Folded = { text: '', hasBreak: false };
  for (;;) {
    if (reader.atDocumentMark() || reader.peek() === '#') break;
    const from = reader.offset;
    while (!isBlankOrEnd(reader.peek()) && !endsPlain(reader, inFlow)) reader.skip();
    if (reader.offset > from) {
      text += space.text + reader.since(from);
      space = { text: '', hasBreak: false };
    }
    if (!isBlank(reader.peek()) && !isBreak(reader.peek())) break;
    space = scanSpace(reader, checkTab);
    if (!inFlow && reader.column <= indent) break;
  }
  return { text, endsAfterBreak: space.hasBreak };
}

function endsPlain(reader: CharacterReader, inFlow: boolean): boolean {
  const character = reader.peek();
  if (character === ':') return isBlankOrEnd(reader.peek(1));
  return inFlow && ',?[]{}'.includes(character);
}

/** Scans a block scalar (`|` or `>`), its header and its lines; returns the text. */
export function scanBlockScalar(reader: CharacterReader, parentIndent: number): string {
  const isFolded = reader.peek() === '>';
  reader.skip();
  const { increment, chomping } = scanBlockHeader(reader);
  while (isBlank(reader.peek())) reader.skip();
  if (reader.peek() === '#') while (!isBreakOrEnd(reader.peek())) reader.skip();
  if (!isBreakOrEnd(reader.peek())) throw reader.error('did not find expected comment or line break');
  if (isBreak(reader.peek())) reader.skip();
  const given = increment > 0 ? Math.max(parentIndent, 0) + increment : 0;
  let { indent, breaks } = scanBlockIndent(reader, given, parentIndent);
  let text = '';
  let lineEnd = '';
  let wasBlank = false;
  while (reader.column === indent && reader.peek() !== '') {
    const isMoreIndented = isBlank(reader.peek());
    // Folding joins two lines with a space, unless one of them is indented more or empty lines are between them.
    const isJoined = isFolded && lineEnd === '\n' && !wasBlank && !isMoreIndented;
    text += (isJoined ? (breaks === '' ? ' ' : '') : lineEnd) + breaks;
    wasBlank = isMoreIndented;
    const from = reader.offset;
    while (!isBreakOrEnd(reader.peek())) reader.skip();
    text += reader.since(from);
    lineEnd = reader.peek();
    if (isBreak(lineEnd)) reader.skip();
    breaks = scanBlockIndent(reader, indent, parentIndent).breaks;
  }
  if (chomping !== '-') text += lineEnd;
  return chomping === '+' ? text + breaks : text;
}

/** Scans chomping and indentation indicators in either order; increment 0 means none. */
function scanBlockHeader(reader: CharacterReader): { readonly increment: number; readonly chomping: string } {
  let increment = 0;
  let chomping = '';
  for (;;) {
    const character = reader.peek();
    if (chomping === '' && (character === '+' || character === '-')) chomping = character;
    else if (increment === 0 && /^[0-9]$/.test(character)) {
      if (character === '0') throw reader.error('found an indentation indicator equal to 0');
      increment = Number(character);
    } else return { increment, chomping };
    reader.skip();
  }
}

/** Skips empty lines and indentation; detects the indentation of the scalar if it is unknown (0). */
function scanBlockIndent(
  reader: CharacterReader,
  indent: number,
  parentIndent: number,
): { readonly indent: number; readonly breaks: string } {
  let deepest = 0;
  let breaks = '';
  for (;;) {
    while ((indent === 0 || reader.column < indent) && reader.peek() === ' ') reader.skip();
    deepest = Math.max(deepest, reader.column);
    if ((indent === 0 || reader.column < indent) && reader.peek() === '\t') {
      throw reader.error('found a tab character where an indentation space is expected');
    }
    if (!isBreak(reader.peek())) break;
    breaks += reader.peek();
    reader.skip();
  }
  return { indent: indent > 0 ? indent : Math.max(deepest, parentIndent + 1, 1), breaks };
}

/**
 * Scans a tag (`!`, `!name`, `!!name`, `!handle!name`, `!<uri>`): the handle, which is empty if there is nothing to
 * expand, and the suffix.
 */
export function scanTag(reader: CharacterReader): { readonly handle: string; readonly text: string } {
  const tag = reader.peek(1) === '<' ? scanVerbatimTag(reader) : scanShortTag(reader);
  if (!isBlankOrEnd(reader.peek())) throw reader.error('did not find expected whitespace or line break');
  return tag;
}

function scanVerbatimTag(reader: CharacterReader): { readonly handle: string; readonly text: string } {
  reader.skip(2);
  const text = scanUri(reader, true);
  if (reader.peek() !== '>') throw reader.error("did not find the expected '>'");
  reader.skip();
  return { handle: '', text };
}

function scanShortTag(reader: CharacterReader): { readonly handle: string; readonly text: string } {
  const handle = scanTagHandle(reader, false);
  const isNamed = handle.length > 1 && handle.endsWith('!');
  const uri = scanUri(reader, isNamed);
  if (isNamed) return { handle, text: uri };
  const text = handle.slice(1) + uri;
  return text === '' ? { handle: '', text: '!' } : { handle: '!', text };
}

function scanTagHandle(reader: CharacterReader, inDirective: boolean): string {
  if (reader.peek() !== '!') throw reader.error("did not find expected '!'");
  const from = reader.offset;
  reader.skip();
  while (isAlpha(reader.peek())) reader.skip();
  if (reader.peek() === '!') reader.skip();
  else if (inDirective && reader.since(from) !== '!') throw reader.error("did not find expected '!'");
  return reader.since(from);
}

function scanUri(reader: CharacterReader, isRequired: boolean): string {
  const from = reader.offset;
  for (let next = reader.peek(); isAlpha(next) || (next !== '' && URI_MARKS.includes(next)); next = reader.peek()) {
    if (next === '%') scanUriEscape(reader);
    else reader.skip();
  }
  const uri = reader.since(from);
  if (isRequired && uri === '') throw reader.error('did not find expected tag URI');
  return uri.includes('%') ? decodeEscapes(uri) : uri;
}

/** Invalid UTF-8 yields an unknown tag, however it is decoded. */
function decodeEscapes(uri: string): string {
  const bytes = Uint8Array.from(uri.match(/%..|./g) ?? [], (part) =>
    part.length === 3 ? Number.parseInt(part.slice(1), 16) : part.charCodeAt(0),
  );
  return new TextDecoder().decode(bytes);
}

const URI_MARKS = ";/?:@&=+$,.!~*'()[]%";

/** Scans one UTF-8 character as `%` and two digits per byte. */
function scanUriEscape(reader: CharacterReader): void {
  let left = 0;
  do {
    if (reader.peek() !== '%' || !isHex(reader.peek(1)) || !isHex(reader.peek(2))) {
      throw reader.error('did not find URI escaped octet');
    }
    const octet = Number.parseInt(reader.peek(1) + reader.peek(2), 16);
    if (left === 0) {
      left = octet < 0x80 ? 1 : octet >> 5 === 6 ? 2 : octet >> 4 === 14 ? 3 : octet >> 3 === 30 ? 4 : 0;
      if (left === 0) throw reader.error('found an incorrect leading UTF-8 octet');
    } else if (octet >> 6 !== 2) {
      throw reader.error('found an incorrect trailing UTF-8 octet');
    }
    reader.skip(3);
    left--;
  } while (left > 0);
}

/** Scans a directive; returns it without the `%`: `YAML 1.1`, `TAG !e! uri`. */
export function scanDirective(reader: CharacterReader): string {
  reader.skip();
  const from = reader.offset;
  while (isAlpha(reader.peek())) reader.skip();
  const name = reader.since(from);
  if (name === '') throw reader.error('could not find expected directive name');
  if (!isBlankOrEnd(reader.peek())) throw reader.error('found unexpected non-alphabetical character');
  if (name !== 'YAML' && name !== 'TAG') throw reader.error('found unknown directive name');
  while (isBlank(reader.peek())) reader.skip();
  const value = name === 'YAML' ? scanVersion(reader) : scanTagDirective(reader);
  while (isBlank(reader.peek())) reader.skip();
  if (reader.peek() === '#') while (!isBreakOrEnd(reader.peek())) reader.skip();
  if (!isBreakOrEnd(reader.peek())) throw reader.error('did not find expected comment or line break');
  if (isBreak(reader.peek())) reader.skip();
  return `${name} ${value}`;
}

function scanVersion(reader: CharacterReader): string {
  const major = scanVersionNumber(reader);
  if (reader.peek() !== '.') throw reader.error("did not find expected digit or '.' character");
  reader.skip();
  return `${major}.${scanVersionNumber(reader)}`;
}

function scanVersionNumber(reader: CharacterReader): number {
  const from = reader.offset;
  while (/^[0-9]$/.test(reader.peek())) {
    if (reader.offset - from === 2) throw reader.error('found extremely long version number');
    reader.skip();
  }
  if (reader.offset === from) throw reader.error('did not find expected version number');
  return Number(reader.since(from));
}

function scanTagDirective(reader: CharacterReader): string {
  const handle = scanTagHandle(reader, true);
  if (!isBlank(reader.peek())) throw reader.error('did not find expected whitespace');
  while (isBlank(reader.peek())) reader.skip();
  const prefix = scanUri(reader, true);
  if (!isBlankOrEnd(reader.peek())) throw reader.error('did not find expected whitespace or line break');
  return `${handle} ${prefix}`;
}
