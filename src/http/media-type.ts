/**
 * The media type of a Content-Type header, without its parameters. The header must be well formed to count, as in the
 * reference server: `application/json;bogus` names no type at all.
 */

const TOKEN = "[!#$%&'*+\\-.^_`|~0-9A-Za-z]+";
const MEDIA_TYPE = new RegExp(`^\\s*(${TOKEN}/${TOKEN})\\s*(?:;|$)`);
const PARAMETER = new RegExp(`\\s*;\\s*(${TOKEN})\\s*=\\s*(?:${TOKEN}|"(?:[^"\\\\]|\\\\.)*")`, 'y');
// The second run of white space only behind a semicolon: two runs side by side are tried in every division.
const END = /\s*(?:;\s*)?$/y;

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
