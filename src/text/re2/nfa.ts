/**
 * Simulates a program as an NFA in all states at once: each state processes each character at most once, so the time is
 * bounded by their product. `lazy-dfa.ts` handles most texts and falls back to this file when caching does not pay off.
 */
import { ASSERT, CHARACTER, END, FORK, type Program, SET, TEXT_START } from './program.js';

/** Called with the number of steps (about 10 ns each) since the last call. It may throw to abort. */
export type OnSteps = (steps: number) => void;

/** Maximum steps between two calls of `onSteps`. */
export const STEPS_AT_ONCE = 20_000;

export interface RunOptions {
  /** The start index; assertions see the character before it. */
  readonly from?: number;
  /** Initial states in addition to the start of the program. */
  readonly initialStates?: Iterable<number>;
  readonly onSteps?: OnSteps | undefined;
}

/** Whether a program matches anywhere in a text. */
export function runProgram(program: Program, text: string, options: RunOptions = {}): boolean {
  const { from = 0, initialStates = [], onSteps } = options;
  const states = new States(program);
  const anchored = isAnchored(program);
  for (const state of initialStates) states.add(state);
  let before = characterKindBefore(text, from);
  for (let at = from; ; ) {
    const code = at < text.length ? codeAt(text, at) : NONE;
    const after = characterKind(code);
    // A match may start at any index; an anchored one only at the start.
    if (at === 0 || !anchored) states.add(program.start);
    if (states.followEmptyTransitions(before, after)) return true;
    if (states.steps >= STEPS_AT_ONCE || code === NONE) onSteps?.(states.takeSteps());
    if (code === NONE || (anchored && states.isEmpty)) return false;
    states.advance(code);
    at += code > 0xffff ? 2 : 1;
    before = after;
  }
}

/** Whether all matches start at the start of the text: every path from the start meets that assertion first. */
export function isAnchored({ start, ops, next, detail }: Program): boolean {
  const open = [start];
  const seen = new Set<number>();
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    const op = ops[at];
    if (seen.has(at) || (op === ASSERT && detail[at] === TEXT_START)) continue;
    if (op !== ASSERT && op !== FORK) return false;
    seen.add(at);
    open.push(next[at] as number);
    if (op === FORK) open.push(detail[at] as number);
  }
  return true;
}

/** No character: before the first or after the last one. */
export const NONE = -1;
const NEWLINE = 0x0a;

/** The reference server reads lone surrogates as U+FFFD. */
export function codeAt(text: string, at: number): number {
  const code = text.codePointAt(at) ?? NONE;
  return code >= 0xd800 && code <= 0xdfff ? 0xfffd : code;
}

/** The kind of a character, for assertions. */
export type CharacterKind = 0 | 1 | 2 | 3;
const NO_CHARACTER = 0;
const LINE_END = 1;
const WORD = 2;
const OTHER = 3;

export function characterKind(code: number): CharacterKind {
  if (code === NONE) return NO_CHARACTER;
  if (code === NEWLINE) return LINE_END;
  return isWord(code) ? WORD : OTHER;
}

/** The kind of the character that ends at an index. Neither half of a surrogate pair is a word character. */
export function characterKindBefore(text: string, at: number): CharacterKind {
  return at === 0 ? NO_CHARACTER : characterKind(text.charCodeAt(at - 1));
}

/** Whether a character is an ASCII letter, digit or underscore. */
function isWord(code: number): boolean {
  return (
    (code >= 0x30 && code <= 0x39) || (code >= 0x41 && code <= 0x5a) || code === 0x5f || (code >= 0x61 && code <= 0x7a)
  );
}

/** Whether an assertion (an index of ASSERTIONS) holds between two characters. */
export function assertionHolds(assertion: number, before: CharacterKind, after: CharacterKind): boolean {
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

/** Tests one character against many instructions and caches set membership, which is slow to compute. */
export class CharacterMatcher {
  readonly #program: Program;
  /** The position at which a set was last tested, and the result. */
  readonly #testedAt: Uint32Array;
  readonly #results: Uint8Array;
  /** Counted from one; zero means never. */
  #position = 0;
  #code = NONE;

  constructor(program: Program) {
    this.#program = program;
    this.#testedAt = new Uint32Array(program.sets.length);
    this.#results = new Uint8Array(program.sets.length);
  }

  advance(code: number): void {
    this.#position++;
    this.#code = code;
  }

  takes(state: number): boolean {
    const wanted = this.#program.detail[state] as number;
    return this.#program.ops[state] === CHARACTER ? wanted === this.#code : this.#isIn(wanted);
  }

  #isIn(set: number): boolean {
    if (this.#testedAt[set] !== this.#position) {
      this.#testedAt[set] = this.#position;
      this.#results[set] = this.#program.sets[set]?.has(this.#code) === true ? 1 : 0;
    }
    return this.#results[set] === 1;
  }
}

export class States {
  readonly #program: Program;
  /** Added instructions that consume no character and are not processed yet. */
  readonly #open: number[] = [];
  /** Instructions that consume a character. */
  #waiting: Int32Array;
  #waitingSize = 0;
  #spare: Int32Array;
  /** The position at which an instruction was last added. */
  readonly #seen: Uint32Array;
  readonly #matcher: CharacterMatcher;
  /** Counted from one; zero means never. */
  #position = 1;
  /** The number of processed instructions. */
  steps: number;

  constructor(program: Program) {
    this.#program = program;
    this.#waiting = new Int32Array(program.size);
    this.#spare = new Int32Array(program.size);
    this.#seen = new Uint32Array(program.size);
    this.#matcher = new CharacterMatcher(program);
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

  /** Begins a position with the given instructions only. */
  restart(instructions: Int32Array): void {
    this.#open.length = 0;
    this.#waitingSize = 0;
    this.#position++;
    for (let index = 0; index < instructions.length; index++) this.add(instructions[index] as number);
  }

  /** The instructions that were added at this position, sorted. */
  instructions(): Int32Array {
    const all = new Int32Array(this.#waitingSize + this.#open.length);
    all.set(this.#waiting.subarray(0, this.#waitingSize));
    all.set(this.#open, this.#waitingSize);
    return all.sort();
  }

  /** Adds a state once per position, which bounds the time. */
  add(state: number): void {
    if (this.#seen[state] === this.#position) return;
    this.#seen[state] = this.#position;
    this.steps++;
    const op = this.#program.ops[state];
    if (op === CHARACTER || op === SET) this.#waiting[this.#waitingSize++] = state;
    else this.#open.push(state);
  }

  /** Follows all transitions that consume no character; returns true if the end is reached. */
  followEmptyTransitions(before: CharacterKind, after: CharacterKind): boolean {
    const { ops, next, detail } = this.#program;
    this.steps++;
    for (let state = this.#open.pop(); state !== undefined; state = this.#open.pop()) {
      const op = ops[state];
      if (op === END) return true;
      if (op === FORK) {
        this.add(next[state] as number);
        this.add(detail[state] as number);
      } else if (assertionHolds(detail[state] as number, before, after)) this.add(next[state] as number);
    }
    return false;
  }

  /** Consumes a character. */
  advance(code: number): void {
    const waiting = this.#waiting;
    const size = this.#waitingSize;
    this.#waiting = this.#spare;
    this.#waitingSize = 0;
    this.#spare = waiting;
    this.#position++;
    this.#matcher.advance(code);
    for (let index = 0; index < size; index++) {
      const state = waiting[index] as number;
      if (this.#matcher.takes(state)) this.add(this.#program.next[state] as number);
    }
  }
}
