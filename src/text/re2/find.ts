/**
 * Finds what a regular expression matches: of all matches the leftmost, and of those the one that trying the ways in
 * their order would come to first. All ways are followed at once, in that order, each remembering where it began; the
 * time is that of re2-match.ts for each match. Whether there is another match at all is asked of re2-automaton.ts first.
 */
import type { Automaton } from './automaton.js';
import { codeAt, holds, NONE, type OnSteps, type Side, STEPS_AT_ONCE, sideBefore, sideOf, Taker } from './match.js';
import { CHARACTER, END, FORK, type Program, SET } from './program.js';

export interface FindOptions {
  /** The most matches to find. */
  readonly limit?: number;
  /**
   * So that the caller may throw: who looks far ahead for each of many matches needs time that grows with the square of
   * the text.
   */
  readonly onSteps?: OnSteps | undefined;
}

export interface Searched {
  readonly program: Program;
  readonly automaton: Automaton;
}

/** The texts of the matches. Right behind a match there is no empty one. */
export function findMatches({ program, automaton }: Searched, text: string, options: FindOptions): string[] {
  const { limit = Number.POSITIVE_INFINITY, onSteps } = options;
  const found: string[] = [];
  let search: Search | undefined;
  let lastEnd = -1;
  for (let from = 0; found.length < limit && from <= text.length; ) {
    if (!automaton.matches(text, from, onSteps)) break;
    search ??= new Search(program, text, onSteps);
    const match = search.first(from);
    if (match === undefined) break;
    const isAtPlace = match.end === from;
    if (!isAtPlace || match.start !== lastEnd) found.push(text.slice(match.start, match.end));
    from = isAtPlace ? from + widthAt(text, from) : match.end;
    lastEnd = match.end;
  }
  return found;
}

/** What each match takes beside its characters. */
const STEPS_PER_MATCH = 6;

interface Match {
  readonly start: number;
  readonly end: number;
}

interface Place {
  readonly at: number;
  /** The characters on both sides. */
  readonly before: Side;
  readonly after: Side;
}

/** How far the next character reaches; behind the end there is one more place. */
function widthAt(text: string, at: number): number {
  return (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
}

/** Instructions that were arrived at, in the order of preference, and where the matches they belong to began. */
class Ways {
  readonly to: Int32Array;
  readonly start: Int32Array;
  size = 0;

  constructor(most: number) {
    this.to = new Int32Array(most);
    this.start = new Int32Array(most);
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
  readonly #arrived: Ways;
  /** Of these, the ones that wait for a character. */
  readonly #waiting: Ways;
  /** The number of the step in which an instruction was last arrived at. Steps count from one. */
  readonly #seen: Uint32Array;
  readonly #open: number[] = [];
  readonly #taker: Taker;
  #step = 0;
  #steps: number;

  constructor(program: Program, text: string, onSteps: OnSteps | undefined) {
    this.#program = program;
    this.#text = text;
    this.#onSteps = onSteps;
    this.#seen = new Uint32Array(program.size);
    this.#arrived = new Ways(program.size + 1);
    this.#waiting = new Ways(program.size);
    this.#taker = new Taker(program);
    this.#steps = program.size >>> 2;
  }

  /** The first match at or behind a place. */
  first(from: number): Match | undefined {
    this.#steps += STEPS_PER_MATCH;
    const match = this.#first(from);
    this.#tell();
    return match;
  }

  #tell(): void {
    // To keep ways in order takes twice as long.
    const steps = this.#steps * 2;
    this.#steps = 0;
    this.#onSteps?.(steps);
  }

  #first(from: number): Match | undefined {
    const text = this.#text;
    const arrived = this.#arrived;
    const waiting = this.#waiting;
    let best: Match | undefined;
    let before = sideBefore(text, from);
    arrived.size = 0;
    for (let at = from; ; ) {
      const code = at < text.length ? codeAt(text, at) : NONE;
      const after = sideOf(code);
      if (best === undefined) arrived.add(this.#program.start, at);
      best = this.#settle({ at, before, after }) ?? best;
      if (code === NONE || (waiting.size === 0 && best !== undefined)) return best;
      if (this.#steps >= STEPS_AT_ONCE) this.#tell();
      arrived.size = 0;
      this.#taker.advance(code);
      for (let index = 0; index < waiting.size; index++) {
        const state = waiting.to[index] as number;
        if (!this.#taker.takes(state)) continue;
        arrived.add(this.#program.next[state] as number, waiting.start[index] as number);
      }
      at += code > 0xffff ? 2 : 1;
      before = after;
    }
  }

  /** Follows everything that needs no character, up to the first way that ends here: it puts an end to all behind it. */
  #settle({ at, before, after }: Place): Match | undefined {
    const { ops, next, detail } = this.#program;
    const arrived = this.#arrived;
    const waiting = this.#waiting;
    const open = this.#open;
    const seen = this.#seen;
    const step = ++this.#step;
    let steps = 0;
    waiting.size = 0;
    for (let index = 0; index < arrived.size; index++) {
      const start = arrived.start[index] as number;
      const first = arrived.to[index] as number;
      for (let state: number | undefined = first; state !== undefined; state = open.pop()) {
        // Who was here before is preferred, whatever comes later.
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
        } else if (holds(detail[state] as number, before, after)) open.push(next[state] as number);
      }
    }
    this.#steps += steps;
    return undefined;
  }
}
