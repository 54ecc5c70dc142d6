/**
 * Runs the instructions of a regular expression over a text to know whether it matches, in all states it can be in at
 * once: each character is looked at once by each state, so the time is at most their product, whatever the expression.
 * Most texts never come here: re2-automaton.ts remembers what such sets of states lead to, and leaves to this file what
 * is not worth remembering.
 */
import { ASSERT, CHARACTER, END, FORK, type Program, SET, TEXT_START } from './program.js';

/** Told how many steps were taken since it was last told, about a hundredth of a microsecond each. It may throw. */
export type OnSteps = (steps: number) => void;

/** So many steps at the most are taken before somebody is told. */
export const STEPS_AT_ONCE = 20_000;

export interface RunOptions {
  /** The place to begin at; what stands before it is seen by assertions only. */
  readonly from?: number;
  /** Instructions arrived at when the run begins, beside the first. */
  readonly arrived?: Iterable<number>;
  readonly onSteps?: OnSteps | undefined;
}

/** Whether a program comes to its end anywhere in a text. */
export function runProgram(program: Program, text: string, options: RunOptions = {}): boolean {
  const { from = 0, arrived = [], onSteps } = options;
  const states = new States(program);
  const anchored = isAnchored(program);
  for (const state of arrived) states.arrive(state);
  let before = sideBefore(text, from);
  for (let at = from; ; ) {
    const code = at < text.length ? codeAt(text, at) : NONE;
    const after = sideOf(code);
    // A match may begin at any place; an anchored one has begun by now or never will.
    if (at === 0 || !anchored) states.arrive(program.start);
    if (states.settle(before, after)) return true;
    if (states.steps >= STEPS_AT_ONCE || code === NONE) onSteps?.(states.takeSteps());
    if (code === NONE || (anchored && states.isEmpty)) return false;
    states.advance(code);
    at += code > 0xffff ? 2 : 1;
    before = after;
  }
}

/** Whether all matches begin at the start of the text. */
function isAnchored({ start, ops, detail }: Program): boolean {
  return ops[start] === ASSERT && detail[start] === TEXT_START;
}

/** No character: before the first and after the last. */
export const NONE = -1;
const NEWLINE = 0x0a;

/** Halves of pairs stand for no character; the reference server reads U+FFFD in their place. */
export function codeAt(text: string, at: number): number {
  const code = text.codePointAt(at) ?? NONE;
  return code >= 0xd800 && code <= 0xdfff ? 0xfffd : code;
}

/** What assertions want to know about a character. */
export type Side = 0 | 1 | 2 | 3;
const NO_CHARACTER = 0;
/** Of all characters the one behind which most may begin. */
export const LINE_END = 1;
const WORD = 2;
const OTHER = 3;

export function sideOf(code: number): Side {
  if (code === NONE) return NO_CHARACTER;
  if (code === NEWLINE) return LINE_END;
  return isWord(code) ? WORD : OTHER;
}

/** Of the character that ends at a place. All that matters of a pair is that neither half is a letter. */
export function sideBefore(text: string, at: number): Side {
  return at === 0 ? NO_CHARACTER : sideOf(text.charCodeAt(at - 1));
}

/** Letters, digits and the underscore of ASCII. */
function isWord(code: number): boolean {
  return (
    (code >= 0x30 && code <= 0x39) || (code >= 0x41 && code <= 0x5a) || code === 0x5f || (code >= 0x61 && code <= 0x7a)
  );
}

/** An assertion is named by its number in ASSERTIONS. */
export function holds(assertion: number, before: Side, after: Side): boolean {
  switch (assertion) {
    case 0:
      return before === NO_CHARACTER;
    case 1:
      return after === NO_CHARACTER;
    case 2:
      return before <= LINE_END;
    case 3:
      return after <= LINE_END;
    case 4:
      return (before === WORD) !== (after === WORD);
    default:
      return (before === WORD) === (after === WORD);
  }
}

/** Whether an instruction that waits for a character takes this one. */
export function takes({ ops, detail, sets }: Program, state: number, code: number): boolean {
  const wanted = detail[state] as number;
  return ops[state] === CHARACTER ? wanted === code : sets[wanted]?.has(code) === true;
}

/** The same for many instructions at one place: sets are slow to answer, and many instructions have the same. */
export class Taker {
  readonly #program: Program;
  /** The place at which a set was last asked for the character, and its answer. */
  readonly #asked: Uint32Array;
  readonly #answers: Uint8Array;
  /** Counted from one: the zero of a new array means never. */
  #place = 0;
  #code = NONE;

  constructor(program: Program) {
    this.#program = program;
    this.#asked = new Uint32Array(program.sets.length);
    this.#answers = new Uint8Array(program.sets.length);
  }

  advance(code: number): void {
    this.#place++;
    this.#code = code;
  }

  takes(state: number): boolean {
    const wanted = this.#program.detail[state] as number;
    return this.#program.ops[state] === CHARACTER ? wanted === this.#code : this.#isIn(wanted);
  }

  #isIn(set: number): boolean {
    if (this.#asked[set] !== this.#place) {
      this.#asked[set] = this.#place;
      this.#answers[set] = this.#program.sets[set]?.has(this.#code) === true ? 1 : 0;
    }
    return this.#answers[set] === 1;
  }
}

class States {
  readonly #program: Program;
  /** Instructions arrived at that need no character, not yet looked into. */
  readonly #open: number[] = [];
  /** The ones that wait for a character. */
  #waiting: Int32Array;
  #waitingSize = 0;
  #spare: Int32Array;
  /** The place at which an instruction was last arrived at. */
  readonly #seen: Uint32Array;
  readonly #taker: Taker;
  /** Counted from one: the zero of a new array means never. */
  #place = 1;
  /** How many instructions were looked at. */
  steps: number;

  constructor(program: Program) {
    this.#program = program;
    this.#waiting = new Int32Array(program.size);
    this.#spare = new Int32Array(program.size);
    this.#seen = new Uint32Array(program.size);
    this.#taker = new Taker(program);
    this.steps = program.size >>> 2;
  }

  get isEmpty(): boolean {
    return this.#waitingSize === 0;
  }

  takeSteps(): number {
    const { steps } = this;
    this.steps = 0;
    return steps;
  }

  /** Once per place, however many ways lead to it: this is what bounds the time. */
  arrive(state: number): void {
    if (this.#seen[state] === this.#place) return;
    this.#seen[state] = this.#place;
    this.steps++;
    const op = this.#program.ops[state];
    if (op === CHARACTER || op === SET) this.#waiting[this.#waitingSize++] = state;
    else this.#open.push(state);
  }

  /** Follows everything that needs no character at this place; tells whether that leads to the end. */
  settle(before: Side, after: Side): boolean {
    const { ops, next, detail } = this.#program;
    this.steps++;
    for (let state = this.#open.pop(); state !== undefined; state = this.#open.pop()) {
      const op = ops[state];
      if (op === END) return true;
      if (op === FORK) {
        this.arrive(next[state] as number);
        this.arrive(detail[state] as number);
      } else if (holds(detail[state] as number, before, after)) this.arrive(next[state] as number);
    }
    return false;
  }

  /** On to the next place, over a character. */
  advance(code: number): void {
    const waiting = this.#waiting;
    const size = this.#waitingSize;
    this.#waiting = this.#spare;
    this.#waitingSize = 0;
    this.#spare = waiting;
    this.#place++;
    this.#taker.advance(code);
    for (let index = 0; index < size; index++) {
      const state = waiting[index] as number;
      if (this.#taker.takes(state)) this.arrive(this.#program.next[state] as number);
    }
  }
}
