/**
 * Parses Accept and Content-Type headers. The reference server reads Accept twice: its router only looks for a type it can
 * produce, the handler ranks clauses by quality and parameters.
 */

/**
 * The media type of a Content-Type header, without its parameters. The header must be well formed to count, as in the
 * reference server: `application/json;bogus` names no type at all.
 */

/** One clause of an Accept header: `application/json;as=Table;q=0.5`. */
export interface AcceptClause {
  readonly type: string;
  readonly subtype: string;
  readonly quality: number;
  readonly parameters: ReadonlyMap<string, string>;
}

/** The media types of a header in order, without parameters, as the router compares them (case-sensitively). */
export function bareMediaTypes(header: string): string[] {
  return clauseTexts(header).map((part) => (part.split(';', 1)[0] ?? '').trim());
}

/** A request may have headers of a megabyte, and this one is parsed several times. Clauses behind this length do not count. */
const MAX_ACCEPT_LENGTH = 64 * 1024;

function clauseTexts(header: string): string[] {
  const texts = header.slice(0, MAX_ACCEPT_LENGTH).split(',');
  // The last one may be incomplete.
  if (header.length > MAX_ACCEPT_LENGTH) texts.pop();
  return texts;
}

/** Go's sort uses insertion sort up to this length. */
const INSERTION_SORT_LIMIT = 12;

/**
 * The clauses in order of preference. Clauses that are not a media type are dropped; an invalid quality counts as 0.
 */
export function parseAccept(header: string): AcceptClause[] {
  const clauses = clauseTexts(header).flatMap((part) => parseClause(part.trim()) ?? []);
  return clauses.length > INSERTION_SORT_LIMIT ? clauses.sort(compareClauses) : insertionSort(clauses);
}

/** For very long headers, where insertion sort would take quadratic time. */
function compareClauses(left: AcceptClause, right: AcceptClause): number {
  return Number(precedes(right, left)) - Number(precedes(left, right));
}

/**
 * A stable insertion sort. `precedes` is not a strict order (a wildcard with higher quality and a plain type precede
 * each other), so the sequence of comparisons matters: it is that of the reference server.
 */
function insertionSort(clauses: readonly AcceptClause[]): AcceptClause[] {
  const sorted: AcceptClause[] = [];
  for (const clause of clauses) {
    let place = sorted.length;
    for (let left = sorted[place - 1]; left !== undefined && precedes(clause, left); left = sorted[place - 1]) place--;
    sorted.splice(place, 0, clause);
  }
  return sorted;
}

function parseClause(part: string): AcceptClause | undefined {
  const [media = '', ...rest] = part.split(';');
  const pieces = media.split('/').map((piece) => piece.trim());
  const [type = '', subtype = type === '*' ? '*' : ''] = pieces;
  if (pieces.length > 2 || subtype === '') return undefined;
  let quality = 1;
  const parameters = new Map<string, string>();
  for (const parameter of rest) {
    const [name = '', value = '', ...more] = parameter.split('=');
    if (value === '' || more.some((text) => text !== '')) continue;
    if (name.trim() === 'q') quality = parseQuality(value);
    else parameters.set(name.trim(), value.trim());
  }
  return { type, subtype, quality, parameters };
}

function parseQuality(text: string): number {
  return /^[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$/.test(text) ? Number(text) : 0;
}

function precedes(left: AcceptClause, right: AcceptClause): boolean {
  if (left.quality > right.quality) return true;
  if (left.type !== '*' && right.type === '*') return true;
  return left.subtype !== '*' && right.subtype === '*';
}

const TOKEN = "[!#$%&'*+\\-.^_`|~0-9A-Za-z]+";

const MEDIA_TYPE = new RegExp(`^\\s*(${TOKEN}/${TOKEN})\\s*(?:;|$)`);

const PARAMETER = new RegExp(`\\s*;\\s*(${TOKEN})\\s*=\\s*(?:${TOKEN}|"(?:[^"\\\\]|\\\\.)*")`, 'y');

// The second white-space run only follows a semicolon: two adjacent runs would backtrack quadratically.
const HEADER_END = /\s*(?:;\s*)?$/y;

/**
 * The media type of a Content-Type header in lower case, without parameters. Undefined when the header is malformed
 * (`application/json;bogus`) or repeats a parameter.
 */
export function parseMediaType(header: string): string | undefined {
  const type = MEDIA_TYPE.exec(header)?.[1];
  if (type === undefined) return undefined;
  const names = new Set<string>();
  let at = header.indexOf(type) + type.length;
  for (;;) {
    HEADER_END.lastIndex = at;
    if (HEADER_END.test(header)) return type.toLowerCase();
    PARAMETER.lastIndex = at;
    const name = PARAMETER.exec(header)?.[1]?.toLowerCase();
    if (name === undefined || names.has(name)) return undefined;
    names.add(name);
    at = PARAMETER.lastIndex;
  }
}
