/**
 * The only module that uses randomness: object uids, suffixes of generated names, audit ids. A test passes its own Ids to
 * get the same values on every run.
 */

/** A source of identifiers and random numbers. */
export interface Ids {
  /** A fresh RFC 4122 version 4 identifier. */
  uid(): string;
  /** A suffix of `length` characters for a generated name. */
  suffix(length: number): string;
  /** A number in [0, 1). */
  random(): number;
}

/** No vowels and no ambiguous characters, so that a generated name never spells a word. spec: Conventions */
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

/** Insecure contexts have getRandomValues but not randomUUID. */
function uuidFromBytes(bytes: Uint8Array): string {
  return withDashes(hexOf(bytes));
}

/** 32 hexadecimal digits with the version and variant bits of a version 4 UUID. */
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
 * The platform's SubtleCrypto; undefined in insecure contexts. Read on each call, so that a test can replace it.
 */
export function subtleCrypto(): SubtleCrypto | undefined {
  return (globalThis.crypto as Crypto | undefined)?.subtle;
}

/** A UUID derived from a text: the same on every run, and practically unique. */
export function uidFromText(text: string): string {
  return withDashes(hexDigitsFromText(text));
}

/** Like {@link uidFromText}, as 32 digits without dashes. */
export function hexDigitsFromText(text: string): string {
  const words = new Uint32Array(SEEDS.length);
  for (let index = 0; index < SEEDS.length; index++) words[index] = hash(text, SEEDS[index] as number);
  return hexOf(new Uint8Array(words.buffer));
}

const SEEDS = [0x811c9dc5, 0x9e3779b9, 0x85ebca6b, 0xc2b2ae35];

/** FNV-1a with a different seed for each word, and a final mix so that similar texts differ in all digits. */
function hash(text: string, seed: number): number {
  let state = seed;
  for (let i = 0; i < text.length; i++) state = Math.imul(state ^ text.charCodeAt(i), 0x01000193);
  state = Math.imul(state ^ (state >>> 16), 0x85ebca6b);
  return (state ^ (state >>> 13)) >>> 0;
}
