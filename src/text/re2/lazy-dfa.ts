/**
 * A lazily built DFA: caches the steps of the NFA (`nfa.ts`), so that most characters take one lookup. A state is a set
 * of instructions; its successors are computed on first use. Example: `a|b+c`
 *
 *     {} ── b ──▶ {fork→b, c} ── a or c ──▶ match
 *
 * The cache is bounded. When it is full it is cleared; if that happens too soon (some patterns reach a new state with
 * almost every character), the NFA processes the rest of the text.
 */
import {
  type CharacterKind,
  characterKind,
  characterKindBefore,
  codeAt,
  isAnchored,
  NONE,
  type OnSteps,
  runProgram,
  STEPS_AT_ONCE,
  States,
} from './nfa.js';
import { ASSERT, type Program } from './program.js';

/** Maximum size of the cache, in units of about four bytes. */
const MAX_WEIGHT = 1 << 18;
/** The size of a state without its instructions, and of a successor beyond ASCII. */
const STATE_WEIGHT = 300;
const SUCCESSOR_WEIGHT = 60;
/** The cache pays off if it serves about ten characters per state. */
const MIN_CHARACTERS_PER_WEIGHT = 1 / 32;
/** Steps to build a state, in addition to those of the NFA. */
const STATE_STEPS = 60;
const ASCII = 128;

interface State {
  readonly instructions: Int32Array;
  /** The kind of the preceding character, if the program has assertions. */
  readonly before: CharacterKind;
  /** Successors by ASCII character. */
  readonly ascii: (State | undefined)[];
  /** Successors by other characters and by the end of the text. */
  readonly others: Map<number, State>;
}

function newState(instructions: Int32Array, before: CharacterKind): State {
  return { instructions, before, ascii: new Array<undefined>(ASCII), others: new Map() };
}

const NO_INSTRUCTIONS = new Int32Array(0);
/** A match is found. */
const MATCH = newState(NO_INSTRUCTIONS, 0);
/** No match is possible any more. */
const DEAD = newState(NO_INSTRUCTIONS, 0);

export class LazyDfa {
  readonly #program: Program;
  readonly #anchored: boolean;
  readonly #hasAssertions: boolean;
  readonly #nfa: States;
  readonly #states = new Map<string, State>();
  /** Start states by the kind of the preceding character. */
  readonly #starts: (State | undefined)[] = [];
  #weight = 0;
  /** Characters processed since the cache was cleared. */
  #served = 0;

  constructor(program: Program) {
    this.#program = program;
    this.#anchored = isAnchored(program);
    this.#hasAssertions = program.ops.subarray(0, program.size).includes(ASSERT);
    this.#nfa = new States(program);
  }

  /** The size in numbers. */
  get weight(): number {
    return 4 * this.#program.size + this.#weight;
  }

  /** Whether there is a match at or after an index. */
  matches(text: string, from = 0, onSteps?: OnSteps): boolean {
    this.#nfa.takeSteps();
    let state = this.#start(characterKindBefore(text, from));
    for (let at = from; ; ) {
      const first = at;
      // Most of the time is spent in this loop.
      for (const end = Math.min(text.length, first + STEPS_AT_ONCE); at < end; at++) {
        const next = state.ascii[text.charCodeAt(at)];
        if (next === undefined) break;
        state = next;
      }
      this.#served += at - first;
      this.#nfa.steps += (at - first) >>> 1;
      if (state !== MATCH && state !== DEAD) {
        const code = at < text.length ? codeAt(text, at) : NONE;
        const next = this.#successor(state, code);
        if (next === undefined) {
          onSteps?.(this.#nfa.takeSteps());
          return runProgram(this.#program, text, { from: at, initialStates: state.instructions, onSteps });
        }
        state = next;
        at += code > 0xffff ? 2 : 1;
      }
      const isDone = state === MATCH || state === DEAD;
      if (isDone || this.#nfa.steps >= STEPS_AT_ONCE) onSteps?.(this.#nfa.takeSteps());
      if (isDone) return state === MATCH;
    }
  }

  #start(before: CharacterKind): State {
    const known = this.#starts[before];
    if (known !== undefined) return known;
    const instructions = this.#anchored ? Int32Array.of(this.#program.start) : NO_INSTRUCTIONS;
    const state = this.#stateOf(instructions, before);
    this.#starts[before] = state;
    return state;
  }

  /** The state after a character or, for NONE, at the end of the text; undefined if the cache does not pay off. */
  #successor(state: State, code: number): State | undefined {
    const known = code >= 0 && code < ASCII ? state.ascii[code] : state.others.get(code);
    if (known !== undefined) return known;
    if (this.#weight + state.instructions.length > MAX_WEIGHT) {
      const paysOff = this.#served >= this.#weight * MIN_CHARACTERS_PER_WEIGHT;
      this.#states.clear();
      this.#starts.length = 0;
      this.#weight = 0;
      this.#served = 0;
      if (!paysOff) return undefined;
    }
    const next = this.#computed(state, code);
    if (code >= 0 && code < ASCII) state.ascii[code] = next;
    else {
      state.others.set(code, next);
      this.#weight += SUCCESSOR_WEIGHT;
    }
    return next;
  }

  #computed({ instructions, before }: State, code: number): State {
    const nfa = this.#nfa;
    const kind = characterKind(code);
    nfa.restart(instructions);
    if (!this.#anchored) nfa.add(this.#program.start);
    if (nfa.followEmptyTransitions(before, kind)) return MATCH;
    if (code === NONE) return DEAD;
    nfa.advance(code);
    const reached = nfa.instructions();
    nfa.steps += STATE_STEPS + 4 * reached.length;
    return reached.length === 0 && this.#anchored ? DEAD : this.#stateOf(reached, kind);
  }

  #stateOf(instructions: Int32Array, kind: CharacterKind): State {
    const before = this.#hasAssertions ? kind : 0;
    const key = `${before} ${instructions.join()}`;
    let state = this.#states.get(key);
    if (state === undefined) {
      state = newState(instructions, before);
      this.#states.set(key, state);
      this.#weight += STATE_WEIGHT + 3 * instructions.length;
    }
    return state;
  }
}
