/**
 * Finds the matches of a pattern: the leftmost one and, of those, the one that backtracking would find first. All
 * threads run in parallel in order of preference, each with its start index. `lazy-dfa.ts` first tells whether there is
 * another match at all.
 */
import type { LazyDfa } from './lazy-dfa.js';
import {
  assertionHolds,
  type CharacterKind,
  CharacterMatcher,
  characterKind,
  characterKindBefore,
  codeAt,
  NONE,
  type OnSteps,
  STEPS_AT_ONCE,
} from './nfa.js';
import { CHARACTER, END, FORK, type Program, SET } from './program.js';

export interface FindOptions {
  /** Maximum number of matches. */
  readonly limit?: number;
  /** May throw to abort: a pattern that reads far ahead for each of many matches takes quadratic time. */
  readonly onSteps?: OnSteps | undefined;
}

export interface CompiledRe2 {
  readonly program: Program;
  readonly dfa: LazyDfa;
}

/** Returns the matched texts. An empty match directly after a match is skipped. */
export function findMatches({ program, dfa }: CompiledRe2, text: string, options: FindOptions): string[] {
  const { limit = Number.POSITIVE_INFINITY, onSteps } = options;
  const found: string[] = [];
  let search: Search | undefined;
  let lastEnd = -1;
  for (let from = 0; found.length < limit && from <= text.length; ) {
    if (!dfa.matches(text, from, onSteps)) break;
    search ??= new Search(program, text, onSteps);
    const match = search.first(from);
    if (match === undefined) break;
    const isEmptyMatch = match.end === from;
    if (!isEmptyMatch || match.start !== lastEnd) found.push(text.slice(match.start, match.end));
    from = isEmptyMatch ? from + widthAt(text, from) : match.end;
    lastEnd = match.end;
  }
  return found;
}

/** Steps per match in addition to its characters. */
const STEPS_PER_MATCH = 6;

interface Match {
  readonly start: number;
  readonly end: number;
}

interface Position {
  readonly at: number;
  /** The kinds of the adjacent characters. */
  readonly before: CharacterKind;
  readonly after: CharacterKind;
}

/** The width of the next character; one at the end of the text. */
function widthAt(text: string, at: number): number {
  return (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
}

/** Threads in order of preference: their instruction and the start index of their match. */
class Threads {
  readonly to: Int32Array;
  readonly start: Int32Array;
  size = 0;

  constructor(capacity: number) {
    this.to = new Int32Array(capacity);
    this.start = new Int32Array(capacity);
  }

  add(to: number, start: number): void {
    this.to[this.size] = to;
    this.start[this.size] = start;
    this.size++;
  }
}

class Search {
  readonly #program: Program;
  readonly #text: string;
  readonly #onSteps: OnSteps | undefined;
  readonly #threads: Threads;
  /** The threads that consume a character. */
  readonly #waiting: Threads;
  /** The step in which an instruction was last added, counted from one. */
  readonly #seen: Uint32Array;
  readonly #open: number[] = [];
  readonly #matcher: CharacterMatcher;
  #step = 0;
  #steps: number;

  constructor(program: Program, text: string, onSteps: OnSteps | undefined) {
    this.#program = program;
    this.#text = text;
    this.#onSteps = onSteps;
    this.#seen = new Uint32Array(program.size);
    this.#threads = new Threads(program.size + 1);
    this.#waiting = new Threads(program.size);
    this.#matcher = new CharacterMatcher(program);
    this.#steps = program.size >>> 2;
  }

  /** The first match at or after an index. */
  first(from: number): Match | undefined {
    this.#steps += STEPS_PER_MATCH;
    const match = this.#first(from);
    this.#reportSteps();
    return match;
  }

  #reportSteps(): void {
    // Ordered threads take twice as long.
    const steps = this.#steps * 2;
    this.#steps = 0;
    this.#onSteps?.(steps);
  }

  #first(from: number): Match | undefined {
    const text = this.#text;
    const threads = this.#threads;
    const waiting = this.#waiting;
    let best: Match | undefined;
    let before = characterKindBefore(text, from);
    threads.size = 0;
    for (let at = from; ; ) {
      const code = at < text.length ? codeAt(text, at) : NONE;
      const after = characterKind(code);
      if (best === undefined) threads.add(this.#program.start, at);
      best = this.#followEmptyTransitions({ at, before, after }) ?? best;
      if (code === NONE || (waiting.size === 0 && best !== undefined)) return best;
      if (this.#steps >= STEPS_AT_ONCE) this.#reportSteps();
      threads.size = 0;
      this.#matcher.advance(code);
      for (let index = 0; index < waiting.size; index++) {
        const state = waiting.to[index] as number;
        if (!this.#matcher.takes(state)) continue;
        threads.add(this.#program.next[state] as number, waiting.start[index] as number);
      }
      at += code > 0xffff ? 2 : 1;
      before = after;
    }
  }

  /**
   * Follows all transitions that consume no character, up to the first thread that ends here: it discards all threads
   * of lower preference.
   */
  #followEmptyTransitions({ at, before, after }: Position): Match | undefined {
    const { ops, next, detail } = this.#program;
    const threads = this.#threads;
    const waiting = this.#waiting;
    const open = this.#open;
    const seen = this.#seen;
    const step = ++this.#step;
    let steps = 0;
    waiting.size = 0;
    for (let index = 0; index < threads.size; index++) {
      const start = threads.start[index] as number;
      const first = threads.to[index] as number;
      for (let state: number | undefined = first; state !== undefined; state = open.pop()) {
        // An earlier thread takes precedence.
        if (seen[state] === step) continue;
        seen[state] = step;
        steps++;
        const op = ops[state];
        if (op === CHARACTER || op === SET) waiting.add(state, start);
        else if (op === FORK) open.push(detail[state] as number, next[state] as number);
        else if (op === END) {
          open.length = 0;
          this.#steps += steps;
          return { start, end: at };
        } else if (assertionHolds(detail[state] as number, before, after)) open.push(next[state] as number);
      }
    }
    this.#steps += steps;
    return undefined;
  }
}
