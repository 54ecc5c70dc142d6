/**
 * The one door to randomness: object uids, the suffixes of generated names and audit ids. A test passes its own Ids to get the same
 * ones on every run.
 */

export interface Ids {
  /** A fresh RFC 4122 version 4 identifier. */
  uid(): string;
  /** `length` characters for the end of a generated name. */
  suffix(length: number): string;
  /** A number in [0, 1). */
  random(): number;
}

/** No vowels and no look-alikes, so that a generated name never spells a word. spec: metadata.generateName */
export const NAME_ALPHABET = 'bcdfghjklmnpqrstvwxz2456789';

/** Ids from the platform's random source. */
export const randomIds: Ids = {
  uid: () => globalThis.crypto.randomUUID?.() ?? uuidFromBytes(globalThis.crypto.getRandomValues(new Uint8Array(16))),
  suffix(length) {
    let text = '';
    for (let i = 0; i < length; i++) text += NAME_ALPHABET[Math.floor(Math.random() * NAME_ALPHABET.length)];
    return text;
  },
  random: () => Math.random(),
};

/** Pages that were not loaded securely have random bytes, but no ready-made identifiers. */
function uuidFromBytes(bytes: Uint8Array): string {
  const marked = bytes.map((byte, index) =>
    index === 6 ? (byte & 0x0f) | 0x40 : index === 8 ? (byte & 0x3f) | 0x80 : byte,
  );
  const hex = Array.from(marked, (byte) => byte.toString(16).padStart(2, '0')).join('');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

/**
 * The platform's own cryptography, which makes keys by chance. Undefined on pages that were not loaded securely. Asked
 * for when it is needed: what a test puts in its place counts.
 */
export function subtleCrypto(): SubtleCrypto | undefined {
  return (globalThis.crypto as Crypto | undefined)?.subtle;
}

/** An identifier that follows from a text: the same on every run, and as good as unique. */
export function uidFromText(text: string): string {
  const words = [0x811c9dc5, 0x9e3779b9, 0x85ebca6b, 0xc2b2ae35].map((seed) => hash(text, seed));
  const bytes = new Uint8Array(new Uint32Array(words).buffer);
  return uuidFromBytes(bytes);
}

/** FNV-1a with another start for each word, and a last stir so that similar texts differ everywhere. */
function hash(text: string, seed: number): number {
  let state = seed;
  for (let i = 0; i < text.length; i++) state = Math.imul(state ^ text.charCodeAt(i), 0x01000193);
  state = Math.imul(state ^ (state >>> 16), 0x85ebca6b);
  return (state ^ (state >>> 13)) >>> 0;
}
