/**
 * The characters as one regular expression tells them apart: all that it treats alike are one letter. For `a[0-9]+` there
 * are three: `a`, the digits, and the rest. Which letter a character is gets found out when it first occurs, because the
 * sets of Unicode can only be asked.
 */
import { type Side, sideOf } from './match.js';
import { ASSERT, CHARACTER, type Program } from './program.js';

/** Letters count from one: zero is the end of the text, and in pages a character nobody has asked for. */
export const END_OF_TEXT = 0;
/** There is no room for another letter. */
export const TOO_MANY = -1;

const PAGE_BITS = 8;
const PAGE = 1 << PAGE_BITS;
/** An expression of so many different characters needs rows too long to be kept. */
const MAX_LETTERS = 4000;

export class Alphabet {
  readonly #program: Program;
  readonly #literals = new Set<number>();
  readonly #hasAssertions: boolean;
  readonly #letters = new Map<string, number>();
  readonly #pages: (Uint16Array | undefined)[] = [];
  /** Letters of the first page, which most texts are made of. */
  readonly first = new Uint16Array(PAGE);
  /** One character of each letter. */
  readonly examples: number[] = [-1];
  /** What assertions see of each letter. */
  readonly sides: Side[] = [0];
  /** How much it takes to look up a character that was not seen before. */
  readonly stepsPerCharacter: number;
  /** Numbers held. */
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

  /** `onNew` is told before a character is looked up that was not seen before. */
  letterOf(code: number, onNew: () => void): number {
    const number = code >>> PAGE_BITS;
    const page = this.#pages[number] ?? this.#newPage(number);
    const known = page[code & (PAGE - 1)] as number;
    if (known !== 0) return known;
    onNew();
    const letter = this.#lookUp(code);
    if (letter !== TOO_MANY) page[code & (PAGE - 1)] = letter;
    return letter;
  }

  #newPage(number: number): Uint16Array {
    const page = new Uint16Array(PAGE);
    this.#pages[number] = page;
    this.weight += PAGE / 2;
    return page;
  }

  #lookUp(code: number): number {
    const side = sideOf(code);
    const key = `${this.#literals.has(code) ? code : ''} ${this.#hasAssertions ? side : ''} ${this.#membership(code)}`;
    const known = this.#letters.get(key);
    if (known !== undefined) return known;
    const letter = this.examples.length;
    if (letter > MAX_LETTERS) return TOO_MANY;
    this.#letters.set(key, letter);
    this.examples.push(code);
    this.sides.push(side);
    this.weight += 20 + key.length;
    return letter;
  }

  /** Which of the sets a character is in, a bit for each. */
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
