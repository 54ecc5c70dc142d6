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
  uid: () => globalThis.crypto.randomUUID(),
  suffix(length) {
    let text = '';
    for (let i = 0; i < length; i++) text += NAME_ALPHABET[Math.floor(Math.random() * NAME_ALPHABET.length)];
    return text;
  },
  random: () => Math.random(),
};
