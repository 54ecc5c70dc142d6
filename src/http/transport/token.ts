/**
 * What a bearer token may be. It is looked at here, because the platform's own error would show the token.
 */

/** The same token. Throws TypeError for one that no header can carry, without showing it. */
export function checkedToken(token: unknown): string | undefined {
  if (token === undefined) return undefined;
  const problem = typeof token === 'string' ? problemOf(token) : 'is no text';
  if (problem !== undefined) throw new TypeError(`orchplane: the token ${problem}`);
  return token as string;
}

function problemOf(token: string): string | undefined {
  if (token === '') return 'is empty';
  // Files end with a line break, and variables that were pasted with a space.
  if (/^\s|\s$/.test(token)) return 'begins or ends with a space or a line break; trim() takes them away';
  if (/[\r\n]/.test(token)) return 'holds a line break, which no header can carry';
  if (/\s/.test(token)) return 'holds a space, which no bearer token has; the word Bearer is put before it anyway';
  return /^[\x21-\x7e]+$/.test(token) ? undefined : 'holds characters other than those of ASCII that can be seen';
}
