/**
 * A lazily built DFA: matches with one table lookup per character. A state is a set of NFA instructions (`nfa.ts`);
 * transitions are computed on first use. Example: `a|b+c`
 *
 *     {a, b} ── b ──▶ {a, b, fork→b, c} ── a or c ──▶ match
 *
 * The table is bounded. When it is full it is cleared; if that happens too soon (some patterns reach a new state with
 * almost every character), `nfa.ts` processes the rest of the text.
 */
import { Alphabet, END_OF_TEXT, TOO_MANY } from './alphabet.js';
import {
  acceptsCharacter,
  assertionHolds,
  type CharacterKind,
  characterKindBefore,
  codeAt,
  LINE_END,
  NONE,
  type OnSteps,
  runProgram,
  STEPS_AT_ONCE,
} from './nfa.js';
import { ASSERT, CHARACTER, END, FORK, LINE_START, type Program, TEXT_START } from './program.js';

/** Table entry: not computed yet. */
const UNKNOWN = 0;
/** No match is possible any more. */
const DEAD: number = 1;
/** A match is found. */
const MATCH = 2;
/** Not a table entry: the table is full. */
const NO_ROOM = -1;
/** The number of the first regular state. */
const FIRST_STATE = 3;

/** Maximum size of states and table in numbers; about a megabyte. */
const MAX_WEIGHT = 1 << 18;
/** The size of a state without its instructions and table row. */
const STATE_WEIGHT = 24;
/** The table pays off if it serves this many characters per state. */
const MIN_CHARACTERS_PER_STATE = 10;
/** Steps to build a state, in addition to a few per instruction. */
const STATE_STEPS = 60;
const FIRST_ROW = 8;
const FIRST_ROWS = 8;
const MAX_PREFIX = 100;

interface State {
  readonly instructions: Int32Array;
  /** The kind of the preceding character, if assertions need it. */
  readonly before: CharacterKind;
  readonly hasAssertions: boolean;
  readonly hash: number;
}

export class LazyDfa {
  readonly #program: Program;
  readonly #alphabet: Alphabet;
  /** Whether a match may start after the start of the text. */
  readonly #startsLater: boolean;
  /** The literal prefix of all matches; empty if there is none. */
  readonly #prefix: string;
  /** States by number minus FIRST_STATE. */
  #states: State[] = [];
  /** State numbers by hash. */
  #numbers = new Map<number, number[]>();
  /** One row per state, one column per letter. */
  #table = new Int32Array(FIRST_ROW * FIRST_ROWS);
  #row = FIRST_ROW;
  #stateWeight = 0;
  /** Characters processed since the table was cleared. */
  #served = 0;
  /** Start states by the kind of the preceding character. */
  #starts: (number | undefined)[] = [];
  /** The start state without a partial match, in which the prefix can be searched. */
  #prefixState: State | undefined;
  #prefixStateNumber = NO_ROOM;
  /** The current state of the run. */
  #state = DEAD;
  #steps = 0;
  #onSteps: OnSteps | undefined;

  /** The state set under construction, and the round in which each instruction was last added. */
  readonly #set: Int32Array;
  #setSize = 0;
  readonly #seen: Uint32Array;
  #round = 0;
  readonly #open: number[] = [];

  constructor(program: Program) {
    this.#program = program;
    this.#alphabet = new Alphabet(program);
    this.#prefix = prefixOf(program);
    this.#set = new Int32Array(program.size);
    this.#seen = new Uint32Array(program.size);
    this.#newSet();
    this.#startsLater = this.#addReachable(program.start, LINE_END) || this.#setSize > 0;
  }

  /** The size in numbers. */
  get weight(): number {
    return 2 * this.#program.size + this.#alphabet.weight + this.#stateWeight + this.#table.length;
  }

  /** Whether there is a match at or after an index. */
  matches(text: string, from = 0, onSteps?: OnSteps): boolean {
    this.#onSteps = onSteps;
    this.#steps = 0;
    return this.#run(text, from);
  }

  #run(text: string, from: number): boolean {
    this.#state = this.#startState(characterKindBefore(text, from));
    if (this.#state === NO_ROOM) return this.#runNfa(text, from);
    for (let at = from; this.#state >= FIRST_STATE; ) {
      if (this.#state === this.#prefixStateNumber) {
        const start = text.indexOf(this.#prefix, at);
        this.#steps += ((start < 0 ? text.length : start) - at) >>> 3;
        if (start < 0) break;
        at = start;
      }
      at = this.#runCached(text, at);
      const code = at < text.length ? codeAt(text, at) : NONE;
      const letter = code === NONE ? END_OF_TEXT : this.#letterOf(code);
      if (letter === TOO_MANY) return this.#runNfa(text, at, this.#stateOf(this.#state).instructions);
      at += code > 0xffff ? 2 : 1;
      const known = letter < this.#row ? this.#table[(this.#state - FIRST_STATE) * this.#row + letter] : UNKNOWN;
      this.#state = known || this.#computeTransition(this.#state, letter);
      if (this.#state === NO_ROOM) return this.#runNfa(text, at);
      this.#count(1, 1);
    }
    this.#reportSteps();
    return this.#state === MATCH;
  }

  /** Processes characters with cached letters and transitions. Most of the time is spent here. */
  #runCached(text: string, from: number): number {
    const letters = this.#alphabet.first;
    const table = this.#table;
    const row = this.#row;
    const prefixState = this.#prefixStateNumber;
    const end = Math.min(text.length, from + STEPS_AT_ONCE);
    let state = this.#state;
    let at = from;
    for (; at < end; at++) {
      const code = text.charCodeAt(at);
      if (code >= letters.length) break;
      const letter = letters[code] as number;
      if (letter === END_OF_TEXT || letter >= row) break;
      const next = table[(state - FIRST_STATE) * row + letter] as number;
      if (next < FIRST_STATE || next === prefixState) break;
      state = next;
    }
    this.#state = state;
    this.#count(at - from, (at - from) >>> 1);
    return at;
  }

  /** Processes the rest of the text with the NFA, from the current set. */
  #runNfa(text: string, from: number, initialStates: Iterable<number> = this.#set.slice(0, this.#setSize)): boolean {
    this.#reportSteps();
    return runProgram(this.#program, text, { from, initialStates, onSteps: this.#onSteps });
  }

  #count(characters: number, steps: number): void {
    this.#served += characters;
    this.#steps += steps;
    if (this.#steps >= STEPS_AT_ONCE) this.#reportSteps();
  }

  #reportSteps(): void {
    const steps = this.#steps;
    this.#steps = 0;
    if (steps > 0) this.#onSteps?.(steps);
  }

  #letterOf(code: number): number {
    const known = code < this.#alphabet.first.length ? (this.#alphabet.first[code] as number) : 0;
    if (known !== 0) return known;
    return this.#alphabet.letterOf(code, () => {
      this.#steps += this.#alphabet.stepsPerCharacter;
      if (this.#steps >= STEPS_AT_ONCE) this.#reportSteps();
    });
  }

  #stateOf(number: number): State {
    return this.#states[number - FIRST_STATE] as State;
  }

  #startState(before: CharacterKind): number {
    const known = this.#starts[before];
    if (known !== undefined) return known;
    this.#newSet();
    const number = this.#addReachable(this.#program.start, before) ? MATCH : this.#numberOf(before);
    if (number === NO_ROOM) return number;
    this.#starts[before] = number;
    if (this.#prefix !== '') {
      this.#prefixState = this.#stateOf(number);
      this.#prefixStateNumber = number;
    }
    return number;
  }

  /** Computes a transition. */
  #computeTransition(from: number, letter: number): number {
    const state = this.#stateOf(from);
    const code = this.#alphabet.examples[letter] as number;
    const kind = this.#alphabet.kinds[letter] as CharacterKind;
    this.#steps += STATE_STEPS + 2 * state.instructions.length;
    const waiting = state.hasAssertions ? this.#resolveAssertions(state, kind) : state.instructions;
    if (waiting === MATCH) return this.#put(from, letter, MATCH);
    if (letter === END_OF_TEXT) return this.#put(from, letter, DEAD);
    this.#newSet();
    for (let index = 0; index < waiting.length; index++) {
      const instruction = waiting[index] as number;
      if (!acceptsCharacter(this.#program, instruction, code)) continue;
      if (this.#addReachable(this.#program.next[instruction] as number, kind)) return this.#put(from, letter, MATCH);
    }
    if (this.#startsLater && this.#addReachable(this.#program.start, kind)) return this.#put(from, letter, MATCH);
    this.#steps += 4 * this.#setSize;
    const statesBefore = this.#states;
    const next = this.#numberOf(kind);
    // After clearing, the old state number is invalid.
    return next === NO_ROOM || this.#states !== statesBefore ? next : this.#put(from, letter, next);
  }

  #put(from: number, letter: number, next: number): number {
    while (letter >= this.#row) this.#doubleColumns();
    this.#table[(from - FIRST_STATE) * this.#row + letter] = next;
    return next;
  }

  /** Resolves lookahead assertions, now that the next character is known. */
  #resolveAssertions({ instructions, before }: State, after: CharacterKind): Int32Array | typeof MATCH {
    const { ops, next, detail } = this.#program;
    this.#newSet();
    const open = this.#open;
    for (let index = instructions.length - 1; index >= 0; index--) open.push(instructions[index] as number);
    for (let at = open.pop(); at !== undefined; at = open.pop()) {
      if (this.#seen[at] === this.#round) continue;
      this.#seen[at] = this.#round;
      this.#steps++;
      switch (ops[at]) {
        case END:
          open.length = 0;
          return MATCH;
        case ASSERT:
          if (assertionHolds(detail[at] as number, before, after)) open.push(next[at] as number);
          break;
        case FORK:
          open.push(detail[at] as number, next[at] as number);
          break;
        default:
          this.#set[this.#setSize++] = at;
      }
    }
    return this.#set.slice(0, this.#setSize);
  }

  #newSet(): void {
    this.#round++;
    this.#setSize = 0;
  }

  /**
   * Adds everything reachable from an instruction without consuming a character, and unresolved lookahead assertions.
   * Returns true if the end is reachable.
   */
  #addReachable(instruction: number, before: CharacterKind): boolean {
    const { ops, next, detail } = this.#program;
    const open = this.#open;
    open.push(instruction);
    for (let at = open.pop(); at !== undefined; at = open.pop()) {
      if (this.#seen[at] === this.#round) continue;
      this.#seen[at] = this.#round;
      this.#steps++;
      const op = ops[at];
      if (op === END) {
        open.length = 0;
        return true;
      }
      if (op === FORK) open.push(detail[at] as number, next[at] as number);
      else if (op !== ASSERT || (detail[at] !== TEXT_START && detail[at] !== LINE_START))
        this.#set[this.#setSize++] = at;
      else if (assertionHolds(detail[at] as number, before, before)) open.push(next[at] as number);
    }
    return false;
  }

  /** The state number of the current set; clears the table if there is no room. */
  #numberOf(kind: CharacterKind): number {
    if (this.#setSize === 0 && !this.#startsLater) return DEAD;
    const set = this.#set.subarray(0, this.#setSize).sort();
    let hash = 0;
    let hasAssertions = false;
    for (let index = 0; index < set.length; index++) {
      const instruction = set[index] as number;
      hash = (Math.imul(hash, 31) + instruction) | 0;
      if (this.#program.ops[instruction] === ASSERT) hasAssertions = true;
    }
    const before = hasAssertions ? kind : 0;
    for (const number of this.#numbers.get(hash) ?? []) {
      const known = this.#stateOf(number);
      if (known.before === before && isSame(known.instructions, set)) return number;
    }
    return this.#hasRoomFor(set) ? this.#add({ instructions: set.slice(), before, hasAssertions, hash }) : NO_ROOM;
  }

  #hasRoomFor(set: Int32Array): boolean {
    const own = STATE_WEIGHT + set.length + this.#row;
    if (this.#stateWeight + own + this.#states.length * this.#row <= MAX_WEIGHT) return true;
    const paysOff = own < MAX_WEIGHT / 8 && this.#served >= MIN_CHARACTERS_PER_STATE * this.#states.length;
    this.#clear();
    return paysOff;
  }

  #clear(): void {
    this.#states = [];
    this.#numbers = new Map();
    this.#table = new Int32Array(this.#row * FIRST_ROWS);
    this.#stateWeight = 0;
    this.#served = 0;
    this.#starts = [];
    this.#prefixStateNumber = this.#prefixState === undefined ? NO_ROOM : this.#add(this.#prefixState);
  }

  #add(state: State): number {
    const number = FIRST_STATE + this.#states.length;
    this.#states.push(state);
    const others = this.#numbers.get(state.hash);
    if (others === undefined) this.#numbers.set(state.hash, [number]);
    else others.push(number);
    this.#stateWeight += STATE_WEIGHT + state.instructions.length;
    if (this.#states.length * this.#row > this.#table.length) {
      const table = this.#table;
      this.#table = new Int32Array(2 * table.length);
      this.#table.set(table);
    }
    return number;
  }

  /** Doubles the number of columns. */
  #doubleColumns(): void {
    const [table, row] = [this.#table, this.#row];
    this.#row = 2 * row;
    this.#table = new Int32Array(2 * table.length);
    for (let at = 0; at < this.#states.length; at++) {
      this.#table.set(table.subarray(at * row, (at + 1) * row), at * this.#row);
    }
  }
}

function isSame(left: Int32Array, right: Int32Array): boolean {
  if (left.length !== right.length) return false;
  for (let index = 0; index < left.length; index++) if (left[index] !== right[index]) return false;
  return true;
}

/** The literal prefix of a program. Excludes surrogates and U+FFFD, which surrogates are read as. */
function prefixOf({ start, ops, next, detail }: Program): string {
  let prefix = '';
  for (let at = start; ops[at] === CHARACTER && prefix.length < MAX_PREFIX; at = next[at] as number) {
    const code = detail[at] as number;
    if ((code >= 0xd800 && code <= 0xdfff) || code === 0xfffd) break;
    prefix += String.fromCodePoint(code);
  }
  return prefix;
}
