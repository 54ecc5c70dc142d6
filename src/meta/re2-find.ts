/**
 * Finds what a regular expression matches: of all matches the leftmost, and of those the one that trying the ways in
 * their order would come to first. All ways are followed at once, in that order, each remembering where it began; the
 * time is that of re2-match.ts for each match.
 */
import { unreachable } from '../util/invariant.js';
import { codeAt, holds, NONE, takes } from './re2-match.js';
import type { Instruction, Program } from './re2-program.js';

export interface FindOptions {
  /** The most matches to find. */
  readonly limit?: number;
  /**
   * Told how many steps were taken after each match, so that the caller may throw: who looks far ahead for each of many
   * matches needs time that grows with the square of the text.
   */
  readonly onSteps?: (steps: number) => void;
}

/** The texts of the matches. Right behind a match there is no empty one. */
export function findMatches(program: Program, text: string, options: FindOptions): string[] {
  const { limit = Number.POSITIVE_INFINITY, onSteps } = options;
  const found: string[] = [];
  const search = new Search(program, text);
  let lastEnd = -1;
  for (let from = 0; found.length < limit && from <= text.length; ) {
    const match = search.first(from);
    onSteps?.(search.takeSteps());
    if (match === undefined) break;
    const isAtPlace = match.end === from;
    if (!isAtPlace || match.start !== lastEnd) found.push(text.slice(match.start, match.end));
    from = isAtPlace ? from + widthAt(text, from) : match.end;
    lastEnd = match.end;
  }
  return found;
}

interface Match {
  readonly start: number;
  readonly end: number;
}

/** An instruction that was arrived at, and where the match it belongs to began. */
interface Way {
  readonly to: Instruction;
  readonly start: number;
}

/** A way whose instruction waits for a character. */
interface WaitingWay extends Way {
  readonly to: Instruction & { op: 'one' };
}

interface Place {
  readonly at: number;
  /** The characters on both sides. */
  readonly before: number;
  readonly after: number;
}

/** How far the next character reaches; behind the end there is one more place. */
function widthAt(text: string, at: number): number {
  return (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
}

class Search {
  readonly #start: Instruction;
  readonly #text: string;
  /** The number of the step in which an instruction was last arrived at, by its id. Steps count from one. */
  readonly #seen: Uint32Array;
  #step = 0;
  #steps = 0;

  constructor({ start, size }: Program, text: string) {
    this.#start = start;
    this.#text = text;
    this.#seen = new Uint32Array(size);
  }

  /** How many instructions were looked at since the last call. */
  takeSteps(): number {
    const steps = this.#steps;
    this.#steps = 0;
    return steps;
  }

  /** The first match at or behind a place. */
  first(from: number): Match | undefined {
    let best: Match | undefined;
    // In the order of preference: a way that comes to its end puts an end to all behind it.
    let ways: Way[] = [];
    let before = codeBefore(this.#text, from);
    for (let at = from; ; ) {
      const after = at < this.#text.length ? codeAt(this.#text, at) : NONE;
      if (best === undefined) ways.push({ to: this.#start, start: at });
      const { waiting, match } = this.#settle(ways, { at, before, after });
      best = match ?? best;
      if (after === NONE || (waiting.length === 0 && best !== undefined)) return best;
      ways = [];
      for (const { to, start } of waiting) if (takes(to, after)) ways.push({ to: to.next, start });
      at += after > 0xffff ? 2 : 1;
      before = after;
    }
  }

  /** Follows everything that needs no character, up to the first way that ends here. */
  #settle(ways: readonly Way[], { at, before, after }: Place): { waiting: WaitingWay[]; match?: Match } {
    this.#step++;
    const waiting: WaitingWay[] = [];
    for (const { to, start } of ways) {
      const open = [to];
      for (let state = open.pop(); state !== undefined; state = open.pop()) {
        // Who was here before is preferred, whatever comes later.
        if (this.#seen[state.id] === this.#step) continue;
        this.#seen[state.id] = this.#step;
        this.#steps++;
        switch (state.op) {
          case 'end':
            return { waiting, match: { start, end: at } };
          case 'one':
            waiting.push({ to: state, start });
            break;
          case 'assert':
            if (holds(state.assertion, before, after)) open.push(state.next);
            break;
          case 'fork':
            open.push(state.right, state.left);
            break;
          default:
            unreachable(state);
        }
      }
    }
    return { waiting };
  }
}

function codeBefore(text: string, at: number): number {
  if (at === 0) return NONE;
  return codeAt(text, at > 1 && (text.codePointAt(at - 2) ?? 0) > 0xffff ? at - 2 : at - 1);
}
