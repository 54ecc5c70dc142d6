/**
 * Compiles nodes to instructions that refer to one another. Example: `a+b` becomes
 *
 *     a ──▶ fork ──▶ b ──▶ end
 *     ▲       │
 *     └───────┘
 *
 * A fork continues in both directions at once, which is enough to decide whether there is a match; finding the match
 * follows the preferred direction first.
 *
 * A few characters can expand to millions of instructions (`(?:…){1000}`), hence typed arrays instead of objects.
 */
import { unreachable } from '../../util/invariant.js';
import type { Assertion, Node } from './node.js';
import type { CharacterSet } from './set.js';

/** The end of the program: a match. */
export const END = 0;
/** Consumes the character with the code in `detail`. */
export const CHARACTER = 1;
/** Consumes a character of the set with the index in `detail`. */
export const SET = 2;
/** Continues if the assertion with the index in `detail` holds. */
export const ASSERT = 3;
/** Continues at `next` (preferred) and at `detail`. */
export const FORK = 4;

/** Assertions by their index in instructions. */
export const ASSERTIONS = [
  'textStart',
  'textEnd',
  'lineStart',
  'lineEnd',
  'wordBoundary',
  'noWordBoundary',
] as const satisfies readonly Assertion[];
export const TEXT_START = 0;

export interface Program {
  readonly start: number;
  /** The number of instructions; the arrays may be longer. */
  readonly size: number;
  readonly ops: Uint8Array;
  readonly next: Int32Array;
  readonly detail: Int32Array;
  /** Distinct sets. */
  readonly sets: readonly CharacterSet[];
}

export function compileNode(node: Node): Program {
  return new Compiler().compile(node);
}

const FIRST_CAPACITY = 32;

/**
 * Compiles from the end to the start, so that the successor of an instruction exists before it. Uses a work list (last
 * entry first) instead of recursion, because groups may be nested without limit.
 */
class Compiler {
  #size = 0;
  #ops = new Uint8Array(FIRST_CAPACITY);
  #nexts = new Int32Array(FIRST_CAPACITY);
  #details = new Int32Array(FIRST_CAPACITY);
  readonly #sets: CharacterSet[] = [];
  readonly #setNumbers = new Map<string, number>();
  /** The instruction after the current node; after compiling it, the node's first instruction. */
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
    // The last required copy is the loop.
    for (let time = endless ? 1 : 0; time < min; time++) this.#work.push(part);
    if (endless) this.#loop(part, { lazy, isOptional: min === 0 });
    else this.#optional(part, { lazy, times: max - min });
  }

  /**
   * An unbounded repetition. If it is optional, the entry is the fork that also loops back; a nullable node must be
   * optionalFork before that fork, so it gets its own.
   */
  #loop(part: Node, { lazy, isOptional }: { readonly lazy: boolean; readonly isOptional: boolean }): void {
    const after = this.#next;
    const fork = this.#add(FORK, after, after);
    this.#next = fork;
    this.#work.push(() => {
      const direction = lazy ? this.#details : this.#nexts;
      direction[fork] = this.#next;
      if (isOptional) this.#next = part.nullable ? this.#optionalFork(this.#next, after, lazy) : fork;
    });
    this.#work.push(part);
  }

  /** Up to `times` optional copies. */
  #optional(part: Node, { lazy, times }: { readonly lazy: boolean; readonly times: number }): void {
    const after = this.#next;
    for (let time = 0; time < times; time++) {
      this.#work.push(() => {
        this.#next = this.#optionalFork(this.#next, after, lazy);
      });
      this.#work.push(part);
    }
  }

  #optionalFork(part: number, after: number, lazy: boolean): number {
    return lazy ? this.#add(FORK, after, part) : this.#add(FORK, part, after);
  }
}
