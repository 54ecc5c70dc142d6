/**
 * Texts as values of headers.
 */

/** A header carries bytes: each byte of the UTF-8 form as one character, which is how fetch hands bytes on. */
export function toBytes(text: string): string {
  if (/^[\x20-\x7e]*$/.test(text)) return text;
  return Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join('');
}
