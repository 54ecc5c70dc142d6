/**
 * The Warning header → texts: the reverse of `warnings.ts`. spec: Warnings
 */

/** `299 agent "text" "date"`; the date is optional, and the text may hold escaped quotes and commas. */
const WARNING = /(\d{3}) +([^\s"]+) +"((?:[^"\\]|\\.)*)"(?: +"[^"]*")?/y;
const SEPARATOR = /[\s,]*/y;

/** The code of a warning that concerns the request itself and not, say, a cache on the way. */
const PERSISTENT = '299';

/**
 * The texts of all warnings, in order, without repeats. A header that is malformed at some point has told what it had
 * to tell before it.
 */
export function warningTexts(header: string | null): string[] {
  if (header === null) return [];
  const texts = new Set<string>();
  for (let at = 0; at < header.length; ) {
    const [, code, , quoted] = matchAt(WARNING, header, after(SEPARATOR, header, at)) ?? [];
    if (quoted === undefined) break;
    at = WARNING.lastIndex;
    const text = fromBytes(quoted.replace(/\\(.)/g, '$1'));
    if (code === PERSISTENT && text !== '') texts.add(text);
  }
  return [...texts];
}

function after(pattern: RegExp, text: string, at: number): number {
  matchAt(pattern, text, at);
  return pattern.lastIndex;
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

/** fetch gives each byte of a header as one character; text that was never UTF-8 stays as it is. */
function fromBytes(text: string): string {
  if (!/[\x80-\xff]/.test(text)) return text;
  const bytes = Uint8Array.from(text, (character) => character.charCodeAt(0));
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    if (error instanceof TypeError) return text;
    throw error;
  }
}
