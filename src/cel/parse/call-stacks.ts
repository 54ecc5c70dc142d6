/**
 * Stacks of places to return to, many at once: a node is a set of tops, each with the stacks below it. Nodes are made
 * once per content, so equal stacks are the same object.
 *
 *     [expr-in-list [start]] + [expr-in-call [start]]  =  { expr-in-list → [start], expr-in-call → [start] }
 *     [a [b]] + [a [c]]                                =  { a → { b, c } }
 */
import type { State } from './network.js';

export interface CallStacks {
  readonly id: number;
  /** In the order of the states' ids. None: nothing is known about callers, or there are none. */
  readonly tops: readonly Top[];
}

export interface Top {
  readonly state: State;
  readonly below: CallStacks;
}

export class CallStackPool {
  readonly empty: CallStacks = { id: 0, tops: [] };
  readonly #known = new Map<string, CallStacks>();
  /**
   * An empty stack stands for any stack, so it swallows what it is merged with. Otherwise it is the bottom, which never
   * meets anything else: only the first rule has it.
   */
  readonly #emptyIsAny: boolean;

  constructor(options: { readonly emptyIsAny: boolean }) {
    this.#emptyIsAny = options.emptyIsAny;
  }

  push(below: CallStacks, state: State): CallStacks {
    return this.#node([{ state, below }]);
  }

  merge(a: CallStacks, b: CallStacks): CallStacks {
    if (a === b) return a;
    if (this.#emptyIsAny && (a === this.empty || b === this.empty)) return this.empty;
    const tops: Top[] = [];
    let i = 0;
    let j = 0;
    for (;;) {
      const left = a.tops[i];
      const right = b.tops[j];
      if (left === undefined || right === undefined) break;
      if (left.state === right.state) {
        tops.push({ state: left.state, below: this.merge(left.below, right.below) });
        i++;
        j++;
      } else if (left.state.id < right.state.id) {
        tops.push(left);
        i++;
      } else {
        tops.push(right);
        j++;
      }
    }
    tops.push(...a.tops.slice(i), ...b.tops.slice(j));
    return this.#node(tops);
  }

  #node(tops: readonly Top[]): CallStacks {
    const key = tops.map(({ state, below }) => `${state.id}/${below.id}`).join(' ');
    let node = this.#known.get(key);
    if (node === undefined) {
      node = { id: this.#known.size + 1, tops };
      this.#known.set(key, node);
    }
    return node;
  }
}
