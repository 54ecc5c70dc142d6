/**
 * Names of fields as expressions spell them. An identifier has letters, digits and underscores only, so what else a
 * name may hold is written out (`my-name` is `my__dash__name`), and a name that is a word of the language stands
 * between underscores (`__namespace__`).
 */

const RESERVED: ReadonlySet<string> = new Set(
  (
    'true false null in as break const continue else for function if import let loop package namespace return ' +
    'var void while'
  ).split(' '),
);

const WRITTEN_OUT: ReadonlyMap<string, string> = new Map([
  ['__', '__underscores__'],
  ['.', '__dot__'],
  ['-', '__dash__'],
  ['/', '__slash__'],
]);

const PLAIN_AGAIN: ReadonlyMap<string, string> = new Map([...WRITTEN_OUT].map(([plain, written]) => [written, plain]));

/** Undefined for a name that no expression can spell. */
export function escapeName(name: string): string | undefined {
  if (!/^[a-zA-Z_./-][a-zA-Z0-9_./-]*$/.test(name)) return undefined;
  if (RESERVED.has(name)) return `__${name}__`;
  return name.replace(/__|[-./]/g, (part) => WRITTEN_OUT.get(part) ?? part);
}

/** The name that an expression means; undefined for underscores that stand around nothing known. */
export function unescapeName(escaped: string): string | undefined {
  if (!escaped.includes('__')) return escaped;
  let known = true;
  const name = escaped.replace(/__[^_]+__/g, (part) => {
    const plain = PLAIN_AGAIN.get(part);
    if (plain !== undefined) return plain;
    const word = part.slice(2, -2);
    // A reserved word is the whole name or it is none.
    if (!RESERVED.has(word) || part.length !== escaped.length) known = false;
    return word;
  });
  return known ? name : undefined;
}
