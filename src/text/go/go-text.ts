/**
 * Values as the reference server prints them inside messages. Clients match on these texts, so they are reproduced
 * to the letter: quoted strings, bare numbers, string slices, sorted string maps.
 */

/** A value in a message that prints as given, without quotes: a time, a quantity, a prepared dump. */
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

// What needs no escape: letters, marks, numbers, punctuation, symbols and the plain space.
const PRINTABLE = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u;

/** True when a character would be printed as itself inside a quoted string. */
export function isPrintable(character: string): boolean {
  return PRINTABLE.test(character);
}

/** Double-quoted, with the escapes of the reference server (`\x01`, `\u200b`, `\U000e0001`). */
export function quote(text: string): string {
  if (/^[ !#-[\]-~]*$/.test(text)) return `"${text}"`;
  let out = '"';
  for (const character of text) {
    const short = SHORT_ESCAPES[character];
    if (short !== undefined) out += short;
    else if (PRINTABLE.test(character)) out += character;
    else out += escapeCodePoint(character.codePointAt(0) ?? 0);
  }
  return `${out}"`;
}

function escapeCodePoint(code: number): string {
  if (code < 0x80) return `\\x${code.toString(16).padStart(2, '0')}`;
  // A lone surrogate cannot be written in UTF-8; it prints as the replacement character.
  if (code >= 0xd800 && code <= 0xdfff) return '\ufffd';
  if (code < 0x10000) return `\\u${code.toString(16).padStart(4, '0')}`;
  return `\\U${code.toString(16).padStart(8, '0')}`;
}

/** `[]string{"a", "b"}`; a missing slice prints as `[]string(nil)`. */
export function stringSlice(items: readonly string[] | undefined): Verbatim {
  return verbatim(items === undefined ? '[]string(nil)' : `[]string{${items.map(quote).join(', ')}}`);
}

/** A bad value as it stands in `Invalid value: <here>: …`. */
export function renderValue(value: unknown): string {
  if (value === null || value === undefined) return '"null"';
  if (typeof value === 'string') return quote(value);
  if (typeof value === 'object' && 'verbatim' in value) return String((value as Verbatim).verbatim);
  if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return stringSlice(value).verbatim;
  if (typeof value === 'object') return dumpMap(value as Record<string, unknown>);
  return String(value);
}

function dumpMap(record: Record<string, unknown>): string {
  const keys = Object.keys(record).sort();
  const strings = keys.every((key) => typeof record[key] === 'string');
  const body = keys.map((key) => `${quote(key)}:${renderValue(record[key])}`).join(', ');
  return `map[string]${strings ? 'string' : 'interface {}'}{${body}}`;
}
