/**
 * Regular expressions as instructions that point to one another. Example: `a+b` makes
 *
 *     a ──▶ fork ──▶ b ──▶ end
 *     ▲       │
 *     └───────┘
 *
 * A fork goes both ways at once, which is enough to know whether there is a match. Who wants to know which one takes
 * the left way first.
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
        this.#repeat(node);
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

  #repeat({ part, min, max, lazy }: Node & { kind: 'repeat' }): void {
    const endless = max === Number.POSITIVE_INFINITY;
    // The last of the copies that must be there is the loop.
    for (let time = endless ? 1 : 0; time < min; time++) this.#later(part);
    if (endless) this.#loop(part, { lazy, isOptional: min === 0 });
    else this.#optional(part, { lazy, times: max - min });
  }

  /**
   * As often as it likes. When it need not be there the way in is the fork that also leads back; a part that may match
   * nothing has to be tried before that one is, so it gets a fork of its own.
   */
  #loop(part: Node, { lazy, isOptional }: { readonly lazy: boolean; readonly isOptional: boolean }): void {
    const after = this.#next;
    const fork: { -readonly [key in keyof Fork]: Fork[key] } & { readonly id: number } = {
      op: 'fork',
      id: this.#id(),
      left: after,
      right: after,
    };
    this.#next = fork;
    this.#work.push(() => {
      fork[lazy ? 'right' : 'left'] = this.#next;
      if (isOptional) this.#next = part.nullable ? this.#tried(this.#next, after, lazy) : fork;
    });
    this.#later(part);
  }

  /** Up to so many times, where every one may be the last. */
  #optional(part: Node, { lazy, times }: { readonly lazy: boolean; readonly times: number }): void {
    const after = this.#next;
    for (let time = 0; time < times; time++) {
      this.#work.push(() => {
        this.#next = this.#tried(this.#next, after, lazy);
      });
      this.#later(part);
    }
  }

  #tried(part: Instruction, after: Instruction, lazy: boolean): Instruction {
    return lazy ? this.#fork(after, part) : this.#fork(part, after);
  }
}
