/** Bytes as hexadecimal text, for readable comparisons. */
export function fromHex(hex: string): Uint8Array {
  return Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}

export function toHex(bytes: string | Uint8Array): string {
  if (typeof bytes === 'string') throw new TypeError('text where bytes were expected');
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
