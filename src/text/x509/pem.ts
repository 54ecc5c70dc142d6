/**
 * Reads PEM blocks like Go's `encoding/pem`, because which blocks of a damaged bundle are found determines the error
 * messages. Does not interpret the contents.
 */
import { Base64Error, canonicalBase64 } from '../../util/base64.js';

export interface PemBlock {
  /** The label after BEGIN: `CERTIFICATE`. */
  readonly type: string;
  readonly headers: ReadonlyMap<string, string>;
  readonly bytes: Uint8Array;
}

const BEGIN = '-----BEGIN ';
const END = '\n-----END ';
const DASHES = '-----';

/**
 * Returns all blocks in order. Skips other text and malformed blocks.
 *
 * @example
 * pemBlocks('-----BEGIN NOTE-----\nAQI=\n-----END NOTE-----\n') // [{ type: 'NOTE', headers: Map(0), bytes: [1, 2] }]
 */
export function pemBlocks(text: string): PemBlock[] {
  const blocks: PemBlock[] = [];
  let found = nextBlock(text, 0);
  while (found !== undefined) {
    blocks.push(found.block);
    found = nextBlock(text, found.after);
  }
  return blocks;
}

/** Returns the first block; undefined if there is none. */
export function firstPemBlock(text: string): PemBlock | undefined {
  return nextBlock(text, 0)?.block;
}

/**
 * Returns the first block of a text in base64. Bytes become characters: a decoder of UTF-8 would remove a byte order mark,
 * after which another block would be the first.
 */
export function firstPemBlockIn(base64: string): PemBlock | undefined {
  return firstPemBlock(atob(base64));
}

interface Found {
  readonly block: PemBlock;
  /** The start of the line after the block. */
  readonly after: number;
}

/**
 * Searches for an END line first and then for the last BEGIN before it, so a BEGIN without END hides only itself. The
 * search continues after the END and ends if headers were read beyond it, which keeps it linear.
 */
function nextBlock(text: string, from: number): Found | undefined {
  let start = from;
  for (;;) {
    const end = text.indexOf(END, start);
    if (end < 0) return undefined;
    const begin = lastBegin(text, start, end);
    const found = begin === undefined ? undefined : readBlock(text, begin, end);
    if (found === 'ended') return undefined;
    if (found !== undefined) return found;
    start = end + END.length;
  }
}

/** The start of the type. Only the last BEGIN counts, even if it is not at the start of a line. */
function lastBegin(text: string, start: number, end: number): number | undefined {
  // Slice first: a backward search in the whole text would scan everything before `start` again.
  const at = text.slice(start, end).lastIndexOf(BEGIN);
  if (at < 0 || (at > 0 && text.charAt(start + at - 1) !== '\n')) return undefined;
  return start + at + BEGIN.length;
}

/** Reads a block; undefined if it is malformed, `'ended'` if its headers reach beyond the END or to the end of the text. */
function readBlock(text: string, begin: number, end: number): Found | 'ended' | undefined {
  const first = lineAt(text, begin);
  if (!first.line.endsWith(DASHES)) return undefined;
  const type = first.line.slice(0, -DASHES.length);
  const { headers, bodyStart } = readHeaders(text, first.next);
  const trailer = end + END.length;
  if (bodyStart >= text.length || bodyStart > trailer) return 'ended';
  // An empty block shares the line break between BEGIN and END; headers must be followed by their own.
  if (headers.size > 0 && end < bodyStart) return undefined;

  if (!text.startsWith(type + DASHES, trailer)) return undefined;
  const last = lineAt(text, trailer + type.length + DASHES.length);
  if (last.line !== '') return undefined;
  const bytes = decodeBody(text.slice(bodyStart, Math.max(bodyStart, end)));
  return bytes === undefined ? undefined : { block: { type, headers, bytes }, after: last.next };
}

/** Reads all lines with a colon up to the first without one. */
function readHeaders(text: string, start: number): { headers: ReadonlyMap<string, string>; bodyStart: number } {
  const headers = new Map<string, string>();
  let bodyStart = start;
  while (bodyStart < text.length) {
    const { line, next } = lineAt(text, bodyStart);
    const colon = line.indexOf(':');
    if (colon < 0) break;
    headers.set(line.slice(0, colon).trim(), line.slice(colon + 1).trim());
    bodyStart = next;
  }
  return { headers, bodyStart };
}

/**
 * Reads a line without trailing blanks and line break. A carriage return is part of the break only before a line feed.
 */
function lineAt(text: string, start: number): { readonly line: string; readonly next: number } {
  const feed = text.indexOf('\n', start);
  if (feed < 0) return { line: withoutBlanks(text.slice(start)), next: text.length };
  const stop = feed > start && text.charAt(feed - 1) === '\r' ? feed - 1 : feed;
  return { line: withoutBlanks(text.slice(start, stop)), next: feed + 1 };
}

/** Not a regular expression: matching trailing blanks takes quadratic time on long runs. */
function withoutBlanks(line: string): string {
  let stop = line.length;
  while (stop > 0 && (line.charAt(stop - 1) === ' ' || line.charAt(stop - 1) === '\t')) stop--;
  return line.slice(0, stop);
}

function decodeBody(body: string): Uint8Array | undefined {
  try {
    const binary = atob(canonicalBase64(body.replace(/[ \t\r\n]+/g, '')));
    return Uint8Array.from(binary, (character) => character.charCodeAt(0));
  } catch (error) {
    if (error instanceof Base64Error) return undefined;
    throw error;
  }
}
