/**
 * Regular expressions as instructions that point to one another. Example: `a+b` makes
 *
 *     a ──▶ fork ──▶ b ──▶ end
 *     ▲       │
 *     └───────┘
 *
 * A fork goes both ways at once, so there is no order of trying and nothing greedy about it.
 */
import { unreachable } from '../util/invariant.js';
import type { Assertion, Node } from './re2-node.js';
import type { CharacterSet } from './re2-set.js';

export type Instruction = { readonly id: number } & (
  | { readonly op: 'end' }
  | { readonly op: 'one'; readonly matches: number | CharacterSet; readonly next: Instruction }
  | { readonly op: 'assert'; readonly assertion: Assertion; readonly next: Instruction }
  | Fork
);

interface Fork {
  readonly op: 'fork';
  readonly left: Instruction;
  readonly right: Instruction;
}

export interface Program {
  readonly start: Instruction;
  /** How many instructions there are; their ids are the numbers below. */
  readonly size: number;
}

export function compileNode(node: Node): Program {
  return new Compiler().compile(node);
}

/**
 * Works from the end to the start, so that what follows an instruction is there before it. Groups without a name may
 * be nested without limit; hence a list of work still to be done instead of recursion. The last entry is done first.
 */
class Compiler {
  #size = 0;
  /** What comes after the part at hand; once that is compiled, the part itself. */
  #next: Instruction = { op: 'end', id: this.#id() };
  readonly #work: (() => void)[] = [];

  compile(node: Node): Program {
    this.#later(node);
    for (let step = this.#work.pop(); step !== undefined; step = this.#work.pop()) step();
    return { start: this.#next, size: this.#size };
  }

  #id(): number {
    return this.#size++;
  }

  #later(node: Node): void {
    this.#work.push(() => this.#visit(node));
  }

  #visit(node: Node): void {
    switch (node.kind) {
      case 'empty':
        return;
      case 'one':
        this.#next = { op: 'one', id: this.#id(), matches: node.matches, next: this.#next };
        return;
      case 'assertion':
        this.#next = { op: 'assert', id: this.#id(), assertion: node.assertion, next: this.#next };
        return;
      case 'capture':
        this.#later(node.part);
        return;
      case 'sequence':
        for (const part of node.parts) this.#later(part);
        return;
      case 'choice':
        this.#choice(node.parts);
        return;
      case 'repeat':
        this.#repeat(node.part, node.min, node.max);
        return;
      default:
        unreachable(node);
    }
  }

  #fork(left: Instruction, right: Instruction): Instruction {
    return { op: 'fork', id: this.#id(), left, right };
  }

  #choice(parts: readonly Node[]): void {
    const after = this.#next;
    let others: Instruction | undefined;
    for (const part of parts) {
      this.#work.push(() => {
        others = others === undefined ? this.#next : this.#fork(this.#next, others);
        this.#next = others;
      });
      this.#later(part);
      this.#work.push(() => {
        this.#next = after;
      });
    }
  }

  #repeat(part: Node, min: number, max: number): void {
    const endless = max === Number.POSITIVE_INFINITY;
    // The last of the copies that must be there is the loop.
    for (let time = endless ? 1 : 0; time < min; time++) this.#later(part);
    if (endless) this.#loop(part, min);
    else this.#optional(part, max - min);
  }

  /** As often as it likes, at least once when `min` says so: then the way in is the part, otherwise the fork. */
  #loop(part: Node, min: number): void {
    const fork: { -readonly [key in keyof Fork]: Fork[key] } & { readonly id: number } = {
      op: 'fork',
      id: this.#id(),
      left: this.#next,
      right: this.#next,
    };
    this.#next = fork;
    this.#work.push(() => {
      fork.left = this.#next;
      if (min === 0) this.#next = fork;
    });
    this.#later(part);
  }

  /** Up to so many times, where every one may be the last. */
  #optional(part: Node, times: number): void {
    const after = this.#next;
    for (let time = 0; time < times; time++) {
      this.#work.push(() => {
        this.#next = this.#fork(this.#next, after);
      });
      this.#later(part);
    }
  }
}
