/**
 * The grammar as a state network (ATN), one state per position in a rule. It tells the recovering parser which tokens
 * may come next.
 *
 * `exprList : expr (',' expr)*` becomes
 *
 *     call expr ──▶ loop ──▶ token ',' ──▶ call expr ──▶ loopBack ──▶ (loop)
 *                     └────▶ stop
 */
import { type Element, GRAMMAR, type Lookahead, type RuleName, type Sequence } from './grammar.js';

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

interface StateBase {
  readonly id: number;
  readonly rule: RuleName;
}

export interface TokenState extends StateBase {
  readonly kind: 'token';
  readonly tokens: ReadonlySet<number>;
  readonly label: string | undefined;
  readonly next: State;
}

/** A call of another rule, which returns to `next`. */
export interface CallState extends StateBase {
  readonly kind: 'call';
  readonly callee: RuleName;
  readonly label: string | undefined;
  /** Suffixes in the callee need at least this precedence. */
  readonly precedence: number;
  readonly next: State;
}

/** The start of a suffix: the node read so far becomes its left operand. */
export interface SuffixState extends StateBase {
  readonly kind: 'suffix';
  readonly precedence: number;
  readonly name: string | undefined;
  readonly next: State;
}

/** A choice between branches, numbered from 1. The last branch of an optional part skips it. */
export interface BranchState extends StateBase {
  readonly kind: 'choice' | 'optional';
  readonly branches: readonly State[];
  readonly names: readonly (string | undefined)[];
  readonly lookahead: Lookahead;
}

/** Before every iteration of a loop. The first branch enters it, the second exits. */
export interface LoopState extends StateBase {
  readonly kind: 'loop';
  readonly branches: readonly State[];
  readonly lookahead: Lookahead;
  /** Whether this is the suffix loop of a left-recursive rule. */
  readonly suffixes: boolean;
  readonly back: LoopBackState;
}

/** After an iteration. */
export interface LoopBackState extends StateBase {
  readonly kind: 'loopBack';
  readonly next: LoopState;
}

/** Before the first iteration of a one-or-more loop. */
export interface PlusState extends StateBase {
  readonly kind: 'plus';
  readonly next: State;
}

export interface PlusBackState extends StateBase {
  readonly kind: 'plusBack';
  readonly branches: readonly State[];
  readonly lookahead: Lookahead;
}

export interface StopState extends StateBase {
  readonly kind: 'stop';
  /** All states the rule may return to. */
  readonly follows: readonly CallState[];
}

/** The tokens that may come next. `end`: the rule may end here. */
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

  /** The tokens that may follow a state within its rule. */
  nextTokens(state: State): NextTokens {
    let known = this.#next.get(state);
    if (known === undefined) {
      const tokens = new Set<number>();
      known = { tokens, end: this.#collect(state, tokens, new Set()) };
      this.#next.set(state, known);
    }
    return known;
  }

  /** Returns true if the end of the rule is reachable. No rule is empty, so a called rule never is. */
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
        for (const branch of state.branches) if (this.#collect(branch, tokens, seen)) end = true;
        return end;
      }
    }
  }

  /** Builds a sequence that leads to `end`; returns its first state. */
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
        const branches = [this.#sequence(rule, element.body, next), next];
        return { kind: 'optional', id, rule, branches, names: [], lookahead: 'one' };
      }
      case 'choice': {
        const branches = element.alternatives.map(({ body }) => this.#sequence(rule, body, next));
        const names = element.alternatives.map(({ name }) => name);
        return { kind: 'choice', id, rule, branches, names, lookahead: element.lookahead };
      }
      case 'plus': {
        const back: PlusBackState = {
          kind: 'plusBack',
          id,
          rule,
          lookahead: element.lookahead,
          get branches() {
            return branches;
          },
        };
        const first = this.#sequence(rule, element.body, back);
        const plus: PlusState = { kind: 'plus', id: this.#states++, rule, next: first };
        const branches = [plus, next];
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
    // The two states refer to each other, so `next` is a getter that is read after both exist.
    const back: LoopBackState = {
      kind: 'loopBack',
      id: this.#states++,
      rule,
      get next() {
        return loop;
      },
    };
    const branches = [body(back), next];
    const loop: LoopState = { kind: 'loop', id: this.#states++, rule, branches, lookahead, suffixes, back };
    return loop;
  }

  #suffixes(
    rule: RuleName,
    alternatives: Extract<Element, { type: 'suffixes' }>['alternatives'],
    back: LoopBackState,
  ): State {
    const branches = alternatives.map(
      ({ precedence, name, body }): SuffixState => ({
        kind: 'suffix',
        id: this.#states++,
        rule,
        precedence,
        name,
        next: this.#sequence(rule, body, back),
      }),
    );
    const [only] = branches;
    if (branches.length === 1 && only !== undefined) return only;
    return { kind: 'choice', id: this.#states++, rule, branches, names: [], lookahead: 'many' };
  }
}

/**
 * A set of call stacks as a graph: a node is a set of top states, each with the stacks below it. Nodes are interned by
 * content, so equal stacks are identical objects.
 *
 *     [expr-in-list [start]] + [expr-in-call [start]]  =  { expr-in-list → [start], expr-in-call → [start] }
 *     [a [b]] + [a [c]]                                =  { a → { b, c } }
 */
export interface CallStacks {
  readonly id: number;
  /** Ordered by state id. Empty: the callers are unknown, or there are none. */
  readonly tops: readonly Top[];
}

interface Top {
  readonly state: State;
  readonly below: CallStacks;
}

export class CallStackPool {
  readonly empty: CallStacks = { id: 0, tops: [] };
  readonly #known = new Map<string, CallStacks>();
  /**
   * If set, an empty stack stands for any stack and absorbs the stacks it is merged with. Otherwise it is the bottom of
   * the start rule's stack and is never merged with others.
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
