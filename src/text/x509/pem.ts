/**
 * PEM: base64 between a BEGIN and an END line, with whatever text around it. Reads as Go's `encoding/pem` does, because
 * which blocks of a damaged bundle are seen decides which errors a client is told. Says nothing about what is inside.
 */
import { Base64Error, canonicalBase64 } from '../../util/base64.js';

export interface PemBlock {
  /** What stands behind BEGIN: `CERTIFICATE`. */
  readonly type: string;
  readonly headers: ReadonlyMap<string, string>;
  readonly bytes: Uint8Array;
}

const BEGIN = '-----BEGIN ';
const END = '\n-----END ';
const DASHES = '-----';

/**
 * All blocks in order. Text between them is passed over, and so is a block that is not well-formed.
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

/** The first block; undefined when there is none. */
export function firstPemBlock(text: string): PemBlock | undefined {
  return nextBlock(text, 0)?.block;
}

interface Found {
  readonly block: PemBlock;
  /** Where the line behind the block starts. */
  readonly after: number;
}

/**
 * An END line is looked for first and the last BEGIN before it second, so a BEGIN without its END hides nothing but
 * itself. Either way the search goes on behind the END, which keeps it linear in the text.
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

/** Where the type starts. Only the last BEGIN counts, even when it is not at the start of a line. */
function lastBegin(text: string, start: number, end: number): number | undefined {
  // Cut first: a search backwards in the whole text would read everything before `start` again.
  const at = text.slice(start, end).lastIndexOf(BEGIN);
  if (at < 0 || (at > 0 && text.charAt(start + at - 1) !== '\n')) return undefined;
  return start + at + BEGIN.length;
}

/** Undefined when the block is not well-formed; `'ended'` when its headers ran to the end of the text. */
function readBlock(text: string, begin: number, end: number): Found | 'ended' | undefined {
  const first = lineAt(text, begin);
  if (!first.line.endsWith(DASHES)) return undefined;
  const type = first.line.slice(0, -DASHES.length);
  const { headers, bodyStart } = readHeaders(text, first.next);
  if (bodyStart >= text.length) return 'ended';
  // An empty block has its END right under BEGIN, whose line break is then shared; headers must have one of their own.
  if (headers.size > 0 && end < bodyStart) return undefined;

  const trailer = end + END.length;
  if (!text.startsWith(type + DASHES, trailer)) return undefined;
  const last = lineAt(text, trailer + type.length + DASHES.length);
  if (last.line !== '') return undefined;
  const bytes = decodeBody(text.slice(bodyStart, Math.max(bodyStart, end)));
  return bytes === undefined ? undefined : { block: { type, headers, bytes }, after: last.next };
}

/** Every line with a colon, up to the first without. */
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

/** A line without its break and the blanks before that. A carriage return belongs to a break only before a line feed. */
function lineAt(text: string, start: number): { readonly line: string; readonly next: number } {
  const feed = text.indexOf('\n', start);
  if (feed < 0) return { line: withoutBlanks(text.slice(start)), next: text.length };
  const stop = feed > start && text.charAt(feed - 1) === '\r' ? feed - 1 : feed;
  return { line: withoutBlanks(text.slice(start, stop)), next: feed + 1 };
}

/** By hand: a pattern for blanks at the end takes quadratic time on a long run of them. */
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
