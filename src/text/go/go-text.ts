/**
 * Formats values as Go does in error messages: quoted strings, numbers, string slices, sorted string maps. Clients
 * match on these messages, so the output is byte for byte the same.
 */

/** A value that is printed without quotes: a time, a quantity, preformatted text. */
export interface Verbatim {
  readonly verbatim: string;
}

export function verbatim(text: string): Verbatim {
  return { verbatim: text };
}

const SHORT_ESCAPES: Readonly<Record<string, string>> = {
  '\u0007': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
  '"': '\\"',
  '\\': '\\\\',
};

// Characters that need no escape: letters, marks, numbers, punctuation, symbols and the space.
const PRINTABLE = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u;

/** Whether a character is printed unescaped in a quoted string. */
export function isPrintable(character: string): boolean {
  // The tables of Unicode categories take a millisecond to load.
  const code = character.charCodeAt(0);
  return code < 0x7f ? code >= 0x20 : PRINTABLE.test(character);
}

/** Quotes a string like Go's strconv.Quote (`\x01`, `\u200b`, `\U000e0001`). */
export function quote(text: string): string {
  if (/^[ !#-[\]-~]*$/.test(text)) return `"${text}"`;
  let out = '"';
  for (const character of text) {
    const short = SHORT_ESCAPES[character];
    if (short !== undefined) out += short;
    else if (isPrintable(character)) out += character;
    else out += escapeCodePoint(character.codePointAt(0) ?? 0);
  }
  return `${out}"`;
}

function escapeCodePoint(code: number): string {
  if (code < 0x80) return `\\x${code.toString(16).padStart(2, '0')}`;
  // UTF-8 cannot encode a lone surrogate; it prints as the replacement character.
  if (code >= 0xd800 && code <= 0xdfff) return '\ufffd';
  if (code < 0x10000) return `\\u${code.toString(16).padStart(4, '0')}`;
  return `\\U${code.toString(16).padStart(8, '0')}`;
}

/** Formats a string slice: `[]string{"a", "b"}`; undefined prints as `[]string(nil)`. */
export function stringSlice(items: readonly string[] | undefined): Verbatim {
  return verbatim(items === undefined ? '[]string(nil)' : `[]string{${items.map(quote).join(', ')}}`);
}

/** Formats the value in `Invalid value: <value>: …`. */
export function renderValue(value: unknown): string {
  if (value === null || value === undefined) return '"null"';
  if (typeof value === 'string') return quote(value);
  if (typeof value === 'object' && 'verbatim' in value) return String((value as Verbatim).verbatim);
  if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return stringSlice(value).verbatim;
  if (typeof value === 'object') return goMapSyntax(value as Record<string, unknown>);
  return String(value);
}

function goMapSyntax(record: Record<string, unknown>): string {
  const keys = Object.keys(record).sort();
  const strings = keys.every((key) => typeof record[key] === 'string');
  const body = keys.map((key) => `${quote(key)}:${renderValue(record[key])}`).join(', ');
  return `map[string]${strings ? 'string' : 'interface {}'}{${body}}`;
}
