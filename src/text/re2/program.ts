/**
 * Regular expressions as instructions that point to one another. Example: `a+b` makes
 *
 *     a ──▶ fork ──▶ b ──▶ end
 *     ▲       │
 *     └───────┘
 *
 * A fork goes both ways at once, which is enough to know whether there is a match. Who wants to know which one takes
 * the preferred way first.
 *
 * A few characters can stand for millions of instructions (`(?:…){1000}`), hence numbers in arrays and no objects.
 */
import { unreachable } from '../../util/invariant.js';
import type { Assertion, Node } from './node.js';
import type { CharacterSet } from './set.js';

/** What an instruction does. */
export const END = 0;
/** Takes the character whose code is in `detail`. */
export const CHARACTER = 1;
/** Takes one of the characters of the set whose number is in `detail`. */
export const SET = 2;
/** Goes on where the assertion holds whose number is in `detail`. */
export const ASSERT = 3;
/** Goes on at `next`, which is preferred, and at `detail`. */
export const FORK = 4;

/** By their numbers in instructions. */
export const ASSERTIONS = [
  'textStart',
  'textEnd',
  'lineStart',
  'lineEnd',
  'wordBoundary',
  'noWordBoundary',
] as const satisfies readonly Assertion[];
export const TEXT_START = 0;
export const LINE_START = 2;

export interface Program {
  readonly start: number;
  /** How many instructions there are; the arrays may be longer. */
  readonly size: number;
  readonly ops: Uint8Array;
  readonly next: Int32Array;
  readonly detail: Int32Array;
  /** No two are alike. */
  readonly sets: readonly CharacterSet[];
}

export function compileNode(node: Node): Program {
  return new Compiler().compile(node);
}

const FIRST_CAPACITY = 32;

/**
 * Works from the end to the start, so that what follows an instruction is there before it. Groups without a name may
 * be nested without limit; hence a list of work still to be done instead of recursion. The last entry is done first.
 */
class Compiler {
  #size = 0;
  #ops = new Uint8Array(FIRST_CAPACITY);
  #nexts = new Int32Array(FIRST_CAPACITY);
  #details = new Int32Array(FIRST_CAPACITY);
  readonly #sets: CharacterSet[] = [];
  readonly #setNumbers = new Map<string, number>();
  /** What comes after the part at hand; once that is compiled, the part itself. */
  #next = this.#add(END, 0, 0);
  readonly #work: (Node | (() => void))[] = [];

  compile(node: Node): Program {
    this.#work.push(node);
    for (let step = this.#work.pop(); step !== undefined; step = this.#work.pop()) {
      if (typeof step === 'function') step();
      else this.#visit(step);
    }
    return {
      start: this.#next,
      size: this.#size,
      ops: this.#ops,
      next: this.#nexts,
      detail: this.#details,
      sets: this.#sets,
    };
  }

  #add(op: number, next: number, detail: number): number {
    const id = this.#size++;
    if (id === this.#ops.length) this.#grow();
    this.#ops[id] = op;
    this.#nexts[id] = next;
    this.#details[id] = detail;
    return id;
  }

  #grow(): void {
    const [ops, nexts, details] = [this.#ops, this.#nexts, this.#details];
    const capacity = 2 * ops.length;
    this.#ops = new Uint8Array(capacity);
    this.#nexts = new Int32Array(capacity);
    this.#details = new Int32Array(capacity);
    this.#ops.set(ops);
    this.#nexts.set(nexts);
    this.#details.set(details);
  }

  #visit(node: Node): void {
    switch (node.kind) {
      case 'empty':
        return;
      case 'one':
        this.#next =
          typeof node.matches === 'number'
            ? this.#add(CHARACTER, this.#next, node.matches)
            : this.#add(SET, this.#next, this.#setNumber(node.matches));
        return;
      case 'assertion':
        this.#next = this.#add(ASSERT, this.#next, ASSERTIONS.indexOf(node.assertion));
        return;
      case 'capture':
        this.#work.push(node.part);
        return;
      case 'sequence':
        for (const part of node.parts) this.#work.push(part);
        return;
      case 'choice':
        this.#choice(node.parts);
        return;
      case 'repeat':
        this.#repeat(node);
        return;
      default:
        unreachable(node);
    }
  }

  #setNumber(set: CharacterSet): number {
    const known = this.#setNumbers.get(set.key);
    if (known !== undefined) return known;
    this.#sets.push(set);
    this.#setNumbers.set(set.key, this.#sets.length - 1);
    return this.#sets.length - 1;
  }

  #choice(parts: readonly Node[]): void {
    const after = this.#next;
    let others: number | undefined;
    for (const part of parts) {
      this.#work.push(() => {
        others = others === undefined ? this.#next : this.#add(FORK, this.#next, others);
        this.#next = others;
      });
      this.#work.push(part);
      this.#work.push(() => {
        this.#next = after;
      });
    }
  }

  #repeat({ part, min, max, lazy }: Node & { kind: 'repeat' }): void {
    const endless = max === Number.POSITIVE_INFINITY;
    // The last of the copies that must be there is the loop.
    for (let time = endless ? 1 : 0; time < min; time++) this.#work.push(part);
    if (endless) this.#loop(part, { lazy, isOptional: min === 0 });
    else this.#optional(part, { lazy, times: max - min });
  }

  /**
   * As often as it likes. When it need not be there the way in is the fork that also leads back; a part that may match
   * nothing has to be tried before that one is, so it gets a fork of its own.
   */
  #loop(part: Node, { lazy, isOptional }: { readonly lazy: boolean; readonly isOptional: boolean }): void {
    const after = this.#next;
    const fork = this.#add(FORK, after, after);
    this.#next = fork;
    this.#work.push(() => {
      const way = lazy ? this.#details : this.#nexts;
      way[fork] = this.#next;
      if (isOptional) this.#next = part.nullable ? this.#tried(this.#next, after, lazy) : fork;
    });
    this.#work.push(part);
  }

  /** Up to so many times, where every one may be the last. */
  #optional(part: Node, { lazy, times }: { readonly lazy: boolean; readonly times: number }): void {
    const after = this.#next;
    for (let time = 0; time < times; time++) {
      this.#work.push(() => {
        this.#next = this.#tried(this.#next, after, lazy);
      });
      this.#work.push(part);
    }
  }

  #tried(part: number, after: number, lazy: boolean): number {
    return lazy ? this.#add(FORK, after, part) : this.#add(FORK, part, after);
  }
}
