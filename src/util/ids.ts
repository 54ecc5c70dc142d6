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
  return withDashes(hexOf(bytes));
}

/** 32 digits with the marks of a version 4 identifier. */
function hexOf(bytes: Uint8Array): string {
  let hex = '';
  for (let index = 0; index < bytes.length; index++) {
    const byte = bytes[index] as number;
    const marked = index === 6 ? (byte & 0x0f) | 0x40 : index === 8 ? (byte & 0x3f) | 0x80 : byte;
    hex += marked < 16 ? `0${marked.toString(16)}` : marked.toString(16);
  }
  return hex;
}

function withDashes(hex: string): string {
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
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
  return withDashes(digitsFromText(text));
}

/** The same as 32 digits in a row. */
export function digitsFromText(text: string): string {
  const words = new Uint32Array(SEEDS.length);
  for (let index = 0; index < SEEDS.length; index++) words[index] = hash(text, SEEDS[index] as number);
  return hexOf(new Uint8Array(words.buffer));
}

const SEEDS = [0x811c9dc5, 0x9e3779b9, 0x85ebca6b, 0xc2b2ae35];

/** FNV-1a with another start for each word, and a last stir so that similar texts differ everywhere. */
function hash(text: string, seed: number): number {
  let state = seed;
  for (let i = 0; i < text.length; i++) state = Math.imul(state ^ text.charCodeAt(i), 0x01000193);
  state = Math.imul(state ^ (state >>> 16), 0x85ebca6b);
  return (state ^ (state >>> 13)) >>> 0;
}
