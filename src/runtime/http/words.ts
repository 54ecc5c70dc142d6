/**
 * Numbers of four bytes, most significant byte first.
 */

/** Throws RangeError if there are fewer bytes. */
export function wordAt(bytes: Uint8Array, at: number): number {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength).getUint32(at);
}

export function wordBytes(word: number): number[] {
  return [word >>> 24, (word >>> 16) & 0xff, (word >>> 8) & 0xff, word & 0xff];
}
