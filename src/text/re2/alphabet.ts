/**
 * The alphabet of one pattern: characters that the pattern does not distinguish share a letter. `a[0-9]+` has three
 * letters: `a`, the digits, and the rest. The letter of a character is determined when it first occurs, because Unicode
 * sets can only be tested character by character.
 */
import { type CharacterKind, characterKind } from './nfa.js';
import { ASSERT, CHARACTER, type Program } from './program.js';

/** Letters start at one: zero is the end of the text and, in pages, an unknown character. */
export const END_OF_TEXT = 0;
/** The alphabet is full. */
export const TOO_MANY = -1;

const PAGE_BITS = 8;
const PAGE = 1 << PAGE_BITS;
/** With more letters the rows of the transition table would be too long. */
const MAX_LETTERS = 4000;

export class Alphabet {
  readonly #program: Program;
  readonly #literals = new Set<number>();
  readonly #hasAssertions: boolean;
  readonly #letters = new Map<string, number>();
  readonly #pages: (Uint16Array | undefined)[] = [];
  /** The letters of the first page, which covers most texts. */
  readonly first = new Uint16Array(PAGE);
  /** An example character of each letter. */
  readonly examples: number[] = [-1];
  /** The kind of each letter, for assertions. */
  readonly kinds: CharacterKind[] = [0];
  /** Steps to classify a new character. */
  readonly stepsPerCharacter: number;
  /** The size in numbers. */
  weight = PAGE;

  constructor(program: Program) {
    const { ops, detail, size, sets } = program;
    this.#program = program;
    let hasAssertions = false;
    for (let at = 0; at < size; at++) {
      if (ops[at] === CHARACTER) this.#literals.add(detail[at] as number);
      else if (ops[at] === ASSERT) hasAssertions = true;
    }
    this.#hasAssertions = hasAssertions;
    this.#pages[0] = this.first;
    this.stepsPerCharacter = 20 + 10 * sets.length;
    this.weight += 4 * this.#literals.size;
  }

  /** The letter of a character. `onNew` is called before a new character is classified. */
  letterOf(code: number, onNew: () => void): number {
    const number = code >>> PAGE_BITS;
    const page = this.#pages[number] ?? this.#newPage(number);
    const known = page[code & (PAGE - 1)] as number;
    if (known !== 0) return known;
    onNew();
    const letter = this.#classify(code);
    if (letter !== TOO_MANY) page[code & (PAGE - 1)] = letter;
    return letter;
  }

  #newPage(number: number): Uint16Array {
    const page = new Uint16Array(PAGE);
    this.#pages[number] = page;
    this.weight += PAGE / 2;
    return page;
  }

  #classify(code: number): number {
    const kind = characterKind(code);
    const key = `${this.#literals.has(code) ? code : ''} ${this.#hasAssertions ? kind : ''} ${this.#membership(code)}`;
    const known = this.#letters.get(key);
    if (known !== undefined) return known;
    const letter = this.examples.length;
    if (letter > MAX_LETTERS) return TOO_MANY;
    this.#letters.set(key, letter);
    this.examples.push(code);
    this.kinds.push(kind);
    this.weight += 20 + key.length;
    return letter;
  }

  /** The sets that contain a character, as a bit string. */
  #membership(code: number): string {
    let bits = 0;
    let all = '';
    this.#program.sets.forEach((set, index) => {
      if (set.has(code)) bits |= 1 << (index % 16);
      if (index % 16 < 15) return;
      all += String.fromCharCode(bits);
      bits = 0;
    });
    return all + String.fromCharCode(bits);
  }
}
