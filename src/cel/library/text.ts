/**
 * String functions by code point: CEL indexes and lengths count code points, JavaScript counts UTF-16 units. Strings
 * without characters beyond U+FFFF need no copy.
 */

export function characterCount(text: string): number {
  let count = text.length;
  for (let at = 0; at + 1 < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit >= 0xd800 && unit <= 0xdbff && isPairAt(text, at)) {
      count--;
      at++;
    }
  }
  return count;
}

/** The UTF-16 index of a character. `index` is at most the number of characters. */
export function unitIndex(text: string, index: number): number {
  let at = 0;
  for (let left = index; left > 0; left--) at += isPairAt(text, at) ? 2 : 1;
  return at;
}

/** The character index of a UTF-16 index. */
export function characterIndex(text: string, unit: number): number {
  return characterCount(text.slice(0, unit));
}

function isPairAt(text: string, at: number): boolean {
  return (text.codePointAt(at) ?? 0) > 0xffff;
}

const textEncoder = new TextEncoder();

export function utf8(text: string): Uint8Array {
  return textEncoder.encode(text);
}

const textDecoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Decodes UTF-8; undefined for invalid bytes. */
export function fromUtf8(bytes: Uint8Array): string | undefined {
  try {
    return textDecoder.decode(bytes);
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}
