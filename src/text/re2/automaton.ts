/**
 * Knows whether a regular expression matches with one look into a table per character. A state is the set of instructions
 * a run of re2-match.ts would be waiting in, and what it leads to is worked out when it is first needed. Example: `a|b+c`
 *
 *     {a, b} ── b ──▶ {a, b, fork→b, c} ── a or c ──▶ match
 *
 * The table is bounded. When it is full all is forgotten, and when that happens too soon — there are expressions for which
 * almost every character leads to a new state — the rest of the text is left to re2-match.ts.
 */
import { Alphabet, END_OF_TEXT, TOO_MANY } from './alphabet.js';
import {
  codeAt,
  holds,
  LINE_END,
  NONE,
  type OnSteps,
  runProgram,
  type Side,
  STEPS_AT_ONCE,
  sideBefore,
  takes,
} from './match.js';
import { ASSERT, CHARACTER, END, FORK, LINE_START, type Program, TEXT_START } from './program.js';

/** In the table: not known yet. */
const UNKNOWN = 0;
/** Whatever follows, there is no match. */
const DEAD: number = 1;
/** Whatever follows, there is one. */
const MATCH = 2;
/** Not in the table: there is no room for what follows. */
const NO_ROOM = -1;
/** The first that is none of these. */
const FIRST_STATE = 3;

/** Numbers the states may hold, about a megabyte. */
const MAX_WEIGHT = 1 << 18;
/** What a state weighs beside its instructions and its row of the table. */
const STATE_WEIGHT = 24;
/** A table is worth its making when it lasts for so many characters per state. */
const WORTH = 10;
/** Steps to make a state, beside a few for each of its instructions. */
const STATE_STEPS = 60;
const FIRST_ROW = 8;
const FIRST_ROWS = 8;
const MAX_PREFIX = 100;

interface State {
  readonly instructions: Int32Array;
  /** The character before, where it matters. */
  readonly before: Side;
  readonly hasAssertions: boolean;
  readonly hash: number;
}

export class Automaton {
  readonly #program: Program;
  readonly #alphabet: Alphabet;
  /** Whether a match may begin behind the start of the text. */
  readonly #beginsLater: boolean;
  /** What every match begins with, where that is known; else nothing. */
  readonly #prefix: string;
  /** By number, less FIRST_STATE. */
  #states: State[] = [];
  /** The numbers of states by their hash. */
  #numbers = new Map<number, number[]>();
  /** A row for each state, a column for each letter. */
  #table = new Int32Array(FIRST_ROW * FIRST_ROWS);
  #row = FIRST_ROW;
  #stateWeight = 0;
  /** Characters looked at since the table was empty. */
  #served = 0;
  /** The states to begin in, by what stands before. */
  #starts: (number | undefined)[] = [];
  /** Nothing has begun yet in it, so that the prefix may be looked for. */
  #resting: State | undefined;
  #restingNumber = NO_ROOM;
  /** Where the run at hand is. */
  #state = DEAD;
  #steps = 0;
  #onSteps: OnSteps | undefined;

  /** The set that is being put together, and the round in which each instruction was last arrived at. */
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
    this.#beginsLater = this.#arrive(program.start, LINE_END) || this.#setSize > 0;
  }

  /** How many numbers it holds. */
  get weight(): number {
    return 2 * this.#program.size + this.#alphabet.weight + this.#stateWeight + this.#table.length;
  }

  /** Whether there is a match at or behind a place. */
  matches(text: string, from = 0, onSteps?: OnSteps): boolean {
    this.#onSteps = onSteps;
    this.#steps = 0;
    return this.#run(text, from);
  }

  #run(text: string, from: number): boolean {
    this.#state = this.#startState(sideBefore(text, from));
    if (this.#state === NO_ROOM) return this.#runOn(text, from);
    for (let at = from; this.#state >= FIRST_STATE; ) {
      if (this.#state === this.#restingNumber) {
        const start = text.indexOf(this.#prefix, at);
        this.#steps += ((start < 0 ? text.length : start) - at) >>> 3;
        if (start < 0) break;
        at = start;
      }
      at = this.#skim(text, at);
      const code = at < text.length ? codeAt(text, at) : NONE;
      const letter = code === NONE ? END_OF_TEXT : this.#letterOf(code);
      if (letter === TOO_MANY) return this.#runOn(text, at, this.#stateOf(this.#state).instructions);
      at += code > 0xffff ? 2 : 1;
      const known = letter < this.#row ? this.#table[(this.#state - FIRST_STATE) * this.#row + letter] : UNKNOWN;
      this.#state = known || this.#follow(this.#state, letter);
      if (this.#state === NO_ROOM) return this.#runOn(text, at);
      this.#count(1, 1);
    }
    this.#tell();
    return this.#state === MATCH;
  }

  /**
   * Goes over the characters of the first page for which everything is known, up to the one that decides. Nearly all the
   * time is spent here.
   */
  #skim(text: string, from: number): number {
    const letters = this.#alphabet.first;
    const table = this.#table;
    const row = this.#row;
    const resting = this.#restingNumber;
    const end = Math.min(text.length, from + STEPS_AT_ONCE);
    let state = this.#state;
    let at = from;
    for (; at < end; at++) {
      const code = text.charCodeAt(at);
      if (code >= letters.length) break;
      const letter = letters[code] as number;
      if (letter === END_OF_TEXT || letter >= row) break;
      const next = table[(state - FIRST_STATE) * row + letter] as number;
      if (next < FIRST_STATE || next === resting) break;
      state = next;
    }
    this.#state = state;
    this.#count(at - from, (at - from) >>> 1);
    return at;
  }

  /** The rest of the text, from the set at hand. */
  #runOn(text: string, from: number, arrived: Iterable<number> = this.#set.slice(0, this.#setSize)): boolean {
    this.#tell();
    return runProgram(this.#program, text, { from, arrived, onSteps: this.#onSteps });
  }

  #count(characters: number, steps: number): void {
    this.#served += characters;
    this.#steps += steps;
    if (this.#steps >= STEPS_AT_ONCE) this.#tell();
  }

  #tell(): void {
    const steps = this.#steps;
    this.#steps = 0;
    if (steps > 0) this.#onSteps?.(steps);
  }

  #letterOf(code: number): number {
    const known = code < this.#alphabet.first.length ? (this.#alphabet.first[code] as number) : 0;
    if (known !== 0) return known;
    return this.#alphabet.letterOf(code, () => {
      this.#steps += this.#alphabet.stepsPerCharacter;
      if (this.#steps >= STEPS_AT_ONCE) this.#tell();
    });
  }

  #stateOf(number: number): State {
    return this.#states[number - FIRST_STATE] as State;
  }

  #startState(before: Side): number {
    const known = this.#starts[before];
    if (known !== undefined) return known;
    this.#newSet();
    const number = this.#arrive(this.#program.start, before) ? MATCH : this.#numberOf(before);
    if (number === NO_ROOM) return number;
    this.#starts[before] = number;
    if (this.#prefix !== '') {
      this.#resting = this.#stateOf(number);
      this.#restingNumber = number;
    }
    return number;
  }

  /** Works out what a state and a letter lead to. */
  #follow(from: number, letter: number): number {
    const state = this.#stateOf(from);
    const code = this.#alphabet.examples[letter] as number;
    const side = this.#alphabet.sides[letter] as Side;
    this.#steps += STATE_STEPS + 2 * state.instructions.length;
    const waiting = state.hasAssertions ? this.#settled(state, side) : state.instructions;
    if (waiting === MATCH) return this.#put(from, letter, MATCH);
    if (letter === END_OF_TEXT) return this.#put(from, letter, DEAD);
    this.#newSet();
    for (let index = 0; index < waiting.length; index++) {
      const instruction = waiting[index] as number;
      if (!takes(this.#program, instruction, code)) continue;
      if (this.#arrive(this.#program.next[instruction] as number, side)) return this.#put(from, letter, MATCH);
    }
    if (this.#beginsLater && this.#arrive(this.#program.start, side)) return this.#put(from, letter, MATCH);
    this.#steps += 4 * this.#setSize;
    const statesBefore = this.#states;
    const next = this.#numberOf(side);
    // After all has been forgotten the old number stands for something else.
    return next === NO_ROOM || this.#states !== statesBefore ? next : this.#put(from, letter, next);
  }

  #put(from: number, letter: number, next: number): number {
    while (letter >= this.#row) this.#widen();
    this.#table[(from - FIRST_STATE) * this.#row + letter] = next;
    return next;
  }

  /** Now that the next character is known, the assertions that look ahead can be decided. */
  #settled({ instructions, before }: State, after: Side): Int32Array | typeof MATCH {
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
          if (holds(detail[at] as number, before, after)) open.push(next[at] as number);
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
   * Puts everything into the set that an instruction leads to without a character, and assertions that look ahead
   * themselves. Tells whether that is the end.
   */
  #arrive(instruction: number, before: Side): boolean {
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
      else if (holds(detail[at] as number, before, before)) open.push(next[at] as number);
    }
    return false;
  }

  /** The number of the state that is the set at hand; without room for it, all others may have to go. */
  #numberOf(side: Side): number {
    if (this.#setSize === 0 && !this.#beginsLater) return DEAD;
    const set = this.#set.subarray(0, this.#setSize).sort();
    let hash = 0;
    let hasAssertions = false;
    for (let index = 0; index < set.length; index++) {
      const instruction = set[index] as number;
      hash = (Math.imul(hash, 31) + instruction) | 0;
      if (this.#program.ops[instruction] === ASSERT) hasAssertions = true;
    }
    const before = hasAssertions ? side : 0;
    for (const number of this.#numbers.get(hash) ?? []) {
      const known = this.#stateOf(number);
      if (known.before === before && isSame(known.instructions, set)) return number;
    }
    return this.#hasRoomFor(set) ? this.#add({ instructions: set.slice(), before, hasAssertions, hash }) : NO_ROOM;
  }

  #hasRoomFor(set: Int32Array): boolean {
    const own = STATE_WEIGHT + set.length + this.#row;
    if (this.#stateWeight + own + this.#states.length * this.#row <= MAX_WEIGHT) return true;
    const isWorthIt = own < MAX_WEIGHT / 8 && this.#served >= WORTH * this.#states.length;
    this.#forget();
    return isWorthIt;
  }

  #forget(): void {
    this.#states = [];
    this.#numbers = new Map();
    this.#table = new Int32Array(this.#row * FIRST_ROWS);
    this.#stateWeight = 0;
    this.#served = 0;
    this.#starts = [];
    this.#restingNumber = this.#resting === undefined ? NO_ROOM : this.#add(this.#resting);
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

  /** Twice as many columns. */
  #widen(): void {
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

/** The plain text at the beginning. Not for halves of pairs nor U+FFFD, which is what such halves are read as. */
function prefixOf({ start, ops, next, detail }: Program): string {
  let prefix = '';
  for (let at = start; ops[at] === CHARACTER && prefix.length < MAX_PREFIX; at = next[at] as number) {
    const code = detail[at] as number;
    if ((code >= 0xd800 && code <= 0xdfff) || code === 0xfffd) break;
    prefix += String.fromCodePoint(code);
  }
  return prefix;
}
