/**
 * Runs the instructions of a regular expression over a text to know whether it matches, in all states it can be in at once: each character is
 * looked at once by each state, so the time is at most their product, whatever the expression.
 */
import { unreachable } from '../util/invariant.js';
import type { Assertion } from './re2-node.js';
import type { Instruction, Program } from './re2-program.js';

/** Whether a program comes to its end anywhere in a text. */
export function runProgram({ start, size }: Program, text: string): boolean {
  const states = new States(size);
  const anchored = start.op === 'assert' && start.assertion === 'textStart';
  let before = NONE;
  for (let at = 0; ; ) {
    const code = at < text.length ? codeAt(text, at) : NONE;
    // A match may begin at any place; an anchored one has begun by now or never will.
    if (at === 0 || !anchored) states.arrive(start);
    if (states.settle(before, code)) return true;
    if (code === NONE || (anchored && states.isEmpty)) return false;
    states.advance(code);
    at += code > 0xffff ? 2 : 1;
    before = code;
  }
}

/** No character: before the first and after the last. */
export const NONE = -1;
const NEWLINE = 0x0a;

/** Halves of pairs stand for no character; the reference server reads U+FFFD in their place. */
export function codeAt(text: string, at: number): number {
  const code = text.codePointAt(at) ?? NONE;
  return code >= 0xd800 && code <= 0xdfff ? 0xfffd : code;
}

class States {
  /** Instructions arrived at, not yet looked into. */
  readonly #arrived: Instruction[] = [];
  /** Of these, the ones that wait for a character. */
  readonly #waiting: (Instruction & { op: 'one' })[] = [];
  /** The place at which an instruction was last arrived at, by its id. */
  readonly #seen: Uint32Array;
  /** Counted from one: the zero of a new array means never. */
  #place = 1;

  constructor(size: number) {
    this.#seen = new Uint32Array(size);
  }

  get isEmpty(): boolean {
    return this.#waiting.length === 0;
  }

  /** Once per place, however many ways lead to it: this is what bounds the time. */
  arrive(state: Instruction): void {
    if (this.#seen[state.id] === this.#place) return;
    this.#seen[state.id] = this.#place;
    this.#arrived.push(state);
  }

  /** Follows everything that needs no character at this place; tells whether that leads to the end. */
  settle(before: number, after: number): boolean {
    for (let state = this.#arrived.pop(); state !== undefined; state = this.#arrived.pop()) {
      switch (state.op) {
        case 'end':
          return true;
        case 'one':
          this.#waiting.push(state);
          break;
        case 'assert':
          if (holds(state.assertion, before, after)) this.arrive(state.next);
          break;
        case 'fork':
          this.arrive(state.left);
          this.arrive(state.right);
          break;
        default:
          unreachable(state);
      }
    }
    return false;
  }

  /** On to the next place, over a character. */
  advance(code: number): void {
    this.#place++;
    for (const state of this.#waiting) {
      if (takes(state, code)) this.arrive(state.next);
    }
    this.#waiting.length = 0;
  }
}

export function takes({ matches }: Instruction & { op: 'one' }, code: number): boolean {
  return typeof matches === 'number' ? matches === code : matches.has(code);
}

export function holds(assertion: Assertion, before: number, after: number): boolean {
  switch (assertion) {
    case 'textStart':
      return before === NONE;
    case 'textEnd':
      return after === NONE;
    case 'lineStart':
      return before === NONE || before === NEWLINE;
    case 'lineEnd':
      return after === NONE || after === NEWLINE;
    case 'wordBoundary':
      return isWord(before) !== isWord(after);
    case 'noWordBoundary':
      return isWord(before) === isWord(after);
    default:
      return unreachable(assertion);
  }
}

/** Letters, digits and the underscore of ASCII. */
function isWord(code: number): boolean {
  return (
    (code >= 0x30 && code <= 0x39) || (code >= 0x41 && code <= 0x5a) || code === 0x5f || (code >= 0x61 && code <= 0x7a)
  );
}
