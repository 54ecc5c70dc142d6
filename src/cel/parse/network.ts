/**
 * The grammar as a network of states, one per place in a rule: what a parser that recovers from mistakes needs to know
 * is a question about such a place, namely which tokens may come next.
 *
 * `exprList : expr (',' expr)*` becomes
 *
 *     call expr ──▶ loop ──▶ token ',' ──▶ call expr ──▶ loopBack ──▶ (loop)
 *                     └────▶ stop
 */
import { type Element, GRAMMAR, type Lookahead, type RuleName, type Sequence } from './grammar.js';

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

export type State =
  | TokenState
  | CallState
  | SuffixState
  | BranchState
  | LoopState
  | LoopBackState
  | PlusState
  | PlusBackState
  | StopState;

interface Place {
  readonly id: number;
  readonly rule: RuleName;
}

export interface TokenState extends Place {
  readonly kind: 'token';
  readonly tokens: ReadonlySet<number>;
  readonly label: string | undefined;
  readonly next: State;
}

/** Another rule is read here; `next` is where it returns to. */
export interface CallState extends Place {
  readonly kind: 'call';
  readonly callee: RuleName;
  readonly label: string | undefined;
  /** Suffixes in the callee must bind at least as strongly. */
  readonly precedence: number;
  readonly next: State;
}

/** The start of a suffix: what was read up to here becomes the left part of something bigger. */
export interface SuffixState extends Place {
  readonly kind: 'suffix';
  readonly precedence: number;
  readonly name: string | undefined;
  readonly next: State;
}

/** Where the ways part, numbered from 1. The last way of an optional part goes past it. */
export interface BranchState extends Place {
  readonly kind: 'choice' | 'optional';
  readonly ways: readonly State[];
  readonly names: readonly (string | undefined)[];
  readonly lookahead: Lookahead;
}

/** Before every round of a loop. The first way goes into it, the second past it. */
export interface LoopState extends Place {
  readonly kind: 'loop';
  readonly ways: readonly State[];
  readonly lookahead: Lookahead;
  /** Of the suffixes of a rule. */
  readonly suffixes: boolean;
  readonly back: LoopBackState;
}

/** After a round. */
export interface LoopBackState extends Place {
  readonly kind: 'loopBack';
  readonly next: LoopState;
}

/** Before the first round of a loop that has at least one. */
export interface PlusState extends Place {
  readonly kind: 'plus';
  readonly next: State;
}

export interface PlusBackState extends Place {
  readonly kind: 'plusBack';
  readonly ways: readonly State[];
  readonly lookahead: Lookahead;
}

export interface StopState extends Place {
  readonly kind: 'stop';
  /** Everywhere the rule may return to. */
  readonly follows: readonly CallState[];
}

/** What may come next. `end`: nothing more in this rule. */
export interface NextTokens {
  readonly tokens: ReadonlySet<number>;
  readonly end: boolean;
}

export class Network {
  readonly #starts = new Map<RuleName, State>();
  readonly #stops = new Map<RuleName, StopState & { readonly follows: CallState[] }>();
  readonly #next = new Map<State, NextTokens>();
  #states = 0;

  constructor() {
    const rules = Object.entries(GRAMMAR) as [RuleName, Sequence][];
    for (const [rule] of rules) this.#stops.set(rule, { kind: 'stop', id: this.#states++, rule, follows: [] });
    for (const [rule, body] of rules) this.#starts.set(rule, this.#sequence(rule, body, this.stop(rule)));
  }

  start(rule: RuleName): State {
    const state = this.#starts.get(rule);
    if (state === undefined) throw new Error(`no rule ${rule}`);
    return state;
  }

  stop(rule: RuleName): StopState {
    const state = this.#stops.get(rule);
    if (state === undefined) throw new Error(`no rule ${rule}`);
    return state;
  }

  /** Within the rule of the state. */
  nextTokens(state: State): NextTokens {
    let known = this.#next.get(state);
    if (known === undefined) {
      const tokens = new Set<number>();
      known = { tokens, end: this.#collect(state, tokens, new Set()) };
      this.#next.set(state, known);
    }
    return known;
  }

  /** True when the end of the rule is reached. No rule is empty, so a called one never ends here. */
  #collect(state: State, tokens: Set<number>, seen: Set<State>): boolean {
    if (seen.has(state)) return false;
    seen.add(state);
    switch (state.kind) {
      case 'token':
        for (const type of state.tokens) tokens.add(type);
        return false;
      case 'call':
        this.#collect(this.start(state.callee), tokens, seen);
        return false;
      case 'stop':
        return true;
      case 'suffix':
      case 'loopBack':
      case 'plus':
        return this.#collect(state.next, tokens, seen);
      default: {
        let end = false;
        for (const way of state.ways) if (this.#collect(way, tokens, seen)) end = true;
        return end;
      }
    }
  }

  /** The first state of a sequence after which comes `end`. */
  #sequence(rule: RuleName, elements: Sequence, end: State): State {
    return elements.reduceRight((next, element) => this.#element(rule, element, next), end);
  }

  #element(rule: RuleName, element: Element, next: State): State {
    const id = this.#states++;
    switch (element.type) {
      case 'token':
        return { kind: 'token', id, rule, tokens: new Set(element.tokens), label: element.label, next };
      case 'rule': {
        const { rule: callee, label, precedence } = element;
        const call: CallState = { kind: 'call', id, rule, callee, label, precedence, next };
        this.#stops.get(callee)?.follows.push(call);
        return call;
      }
      case 'optional': {
        const ways = [this.#sequence(rule, element.body, next), next];
        return { kind: 'optional', id, rule, ways, names: [], lookahead: 'one' };
      }
      case 'choice': {
        const ways = element.alternatives.map(({ body }) => this.#sequence(rule, body, next));
        const names = element.alternatives.map(({ name }) => name);
        return { kind: 'choice', id, rule, ways, names, lookahead: element.lookahead };
      }
      case 'plus': {
        const back: PlusBackState = {
          kind: 'plusBack',
          id,
          rule,
          lookahead: element.lookahead,
          get ways() {
            return ways;
          },
        };
        const first = this.#sequence(rule, element.body, back);
        const plus: PlusState = { kind: 'plus', id: this.#states++, rule, next: first };
        const ways = [plus, next];
        return plus;
      }
      case 'star':
        return this.#loop(rule, element.lookahead, false, next, (back) => this.#sequence(rule, element.body, back));
      case 'suffixes':
        return this.#loop(rule, 'many', true, next, (back) => this.#suffixes(rule, element.alternatives, back));
    }
  }

  #loop(
    rule: RuleName,
    lookahead: Lookahead,
    suffixes: boolean,
    next: State,
    body: (back: LoopBackState) => State,
  ): LoopState {
    // The two know each other: the way back is asked for the loop only after both are there.
    const back: LoopBackState = {
      kind: 'loopBack',
      id: this.#states++,
      rule,
      get next() {
        return loop;
      },
    };
    const ways = [body(back), next];
    const loop: LoopState = { kind: 'loop', id: this.#states++, rule, ways, lookahead, suffixes, back };
    return loop;
  }

  #suffixes(
    rule: RuleName,
    alternatives: Extract<Element, { type: 'suffixes' }>['alternatives'],
    back: LoopBackState,
  ): State {
    const ways = alternatives.map(
      ({ precedence, name, body }): SuffixState => ({
        kind: 'suffix',
        id: this.#states++,
        rule,
        precedence,
        name,
        next: this.#sequence(rule, body, back),
      }),
    );
    const [only] = ways;
    if (ways.length === 1 && only !== undefined) return only;
    return { kind: 'choice', id: this.#states++, rule, ways, names: [], lookahead: 'many' };
  }
}

export interface CallStacks {
  readonly id: number;
  /** In the order of the states' ids. None: nothing is known about callers, or there are none. */
  readonly tops: readonly Top[];
}

interface Top {
  readonly state: State;
  readonly below: CallStacks;
}
