/**
 * Escaping of field names in CEL expressions. Characters that an identifier cannot contain are replaced (`my-name` is
 * `my__dash__name`), and a reserved word is enclosed in underscores (`__namespace__`).
 */

const RESERVED: ReadonlySet<string> = new Set(
  (
    'true false null in as break const continue else for function if import let loop package namespace return ' +
    'var void while'
  ).split(' '),
);

const ESCAPES: ReadonlyMap<string, string> = new Map([
  ['__', '__underscores__'],
  ['.', '__dot__'],
  ['-', '__dash__'],
  ['/', '__slash__'],
]);

const UNESCAPES: ReadonlyMap<string, string> = new Map([...ESCAPES].map(([plain, written]) => [written, plain]));

export function isReservedWord(name: string): boolean {
  return RESERVED.has(name);
}

/** Returns undefined for a name that no expression can contain. */
export function escapeName(name: string): string | undefined {
  if (!/^[a-zA-Z_./-][a-zA-Z0-9_./-]*$/.test(name)) return undefined;
  if (RESERVED.has(name)) return `__${name}__`;
  return name.replace(/__|[-./]/g, (part) => ESCAPES.get(part) ?? part);
}

/** Returns the field name for an identifier; undefined for an invalid escape sequence. */
export function unescapeName(escaped: string): string | undefined {
  if (!escaped.includes('__')) return escaped;
  let isValid = true;
  const name = escaped.replace(/__[^_]+__/g, (part) => {
    const plain = UNESCAPES.get(part);
    if (plain !== undefined) return plain;
    const keyword = part.slice(2, -2);
    // A reserved word must be the whole name.
    if (!RESERVED.has(keyword) || part.length !== escaped.length) isValid = false;
    return keyword;
  });
  return isValid ? name : undefined;
}
