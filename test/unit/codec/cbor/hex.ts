/**
 * Hexadecimal notation of bytes in tests.
 */

/** Ignores spaces; `(01*3)` stands for `010101`. */
export function fromHex(hex: string): Uint8Array {
  const digits = hex
    .replaceAll(' ', '')
    .replace(/\(([0-9a-f]+)\*([0-9]+)\)/g, (_match, part: string, times: string) => part.repeat(Number(times)));
  const bytes = new Uint8Array(digits.length / 2);
  for (let at = 0; at < bytes.length; at++) bytes[at] = Number.parseInt(digits.slice(at * 2, at * 2 + 2), 16);
  return bytes;
}

export function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
