/**
 * The Accept header, read as the two readers of the reference server do: its router looks only for a type it can
 * produce; the handler behind it weighs clauses and their parameters.
 */

/**
 * The media type of a Content-Type header, without its parameters. The header must be well formed to count, as in the
 * reference server: `application/json;bogus` names no type at all.
 */

const TOKEN = "[!#$%&'*+\\-.^_`|~0-9A-Za-z]+";

const MEDIA_TYPE = new RegExp(`^\\s*(${TOKEN}/${TOKEN})\\s*(?:;|$)`);

const PARAMETER = new RegExp(`\\s*;\\s*(${TOKEN})\\s*=\\s*(?:${TOKEN}|"(?:[^"\\\\]|\\\\.)*")`, 'y');

// The second run of white space only behind a semicolon: two runs side by side are tried in every division.
const END = /\s*(?:;\s*)?$/y;

/** One clause of an Accept header: `application/json;as=Table;q=0.5`. */
export interface AcceptClause {
  readonly type: string;
  readonly subtype: string;
  readonly quality: number;
  readonly parameters: ReadonlyMap<string, string>;
}

/** The media types of a header in order, without parameters: what the router compares, letter for letter. */
export function bareTypes(header: string): string[] {
  return header.split(',').map((part) => (part.split(';', 1)[0] ?? '').trim());
}

/** Up to this many clauses the reference server sorts by insertion; real clients send fewer. */
const FEW = 12;

/** The clauses, best first. Clauses that are no media type are dropped; an unreadable quality counts as 0. */
export function parseAccept(header: string): AcceptClause[] {
  const clauses = header.split(',').flatMap((part) => parseClause(part.trim()) ?? []);
  return clauses.length > FEW ? clauses.sort(compare) : byInsertion(clauses);
}

/** For headers made to be long: insertion would take the square of their length. */
function compare(left: AcceptClause, right: AcceptClause): number {
  return Number(precedes(right, left)) - Number(precedes(left, right));
}

/**
 * Insertion keeps equals in their order. `precedes` is no true order (a wildcard of higher quality and a plain type precede
 * each other), so which pairs are compared matters: the same as in the reference server.
 */
function byInsertion(clauses: readonly AcceptClause[]): AcceptClause[] {
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
  return /^[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$/.test(text) ? Number(text) : 0;
}

function precedes(left: AcceptClause, right: AcceptClause): boolean {
  if (left.quality > right.quality) return true;
  if (left.type !== '*' && right.type === '*') return true;
  return left.subtype !== '*' && right.subtype === '*';
}

/** The type in lower case; undefined when the header is malformed or repeats a parameter. */
export function parseMediaType(header: string): string | undefined {
  const type = MEDIA_TYPE.exec(header)?.[1];
  if (type === undefined) return undefined;
  const names = new Set<string>();
  let at = header.indexOf(type) + type.length;
  for (;;) {
    END.lastIndex = at;
    if (END.test(header)) return type.toLowerCase();
    PARAMETER.lastIndex = at;
    const name = PARAMETER.exec(header)?.[1]?.toLowerCase();
    if (name === undefined || names.has(name)) return undefined;
    names.add(name);
    at = PARAMETER.lastIndex;
  }
}

/** A header carries bytes: each byte of the UTF-8 form as one character, which is how fetch hands bytes on. */
export function toBytes(text: string): string {
  if (/^[\x20-\x7e]*$/.test(text)) return text;
  return Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join('');
}
