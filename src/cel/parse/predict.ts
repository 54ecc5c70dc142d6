/**
 * Chooses a branch if the next token alone does not decide: follows all branches at once, token by token, until one is
 * left. This is ANTLR's adaptive LL(*) prediction, because the position of a failure determines the error message.
 *
 * A position is a state on one branch with its callers. Prediction first ignores the callers of the current rule (any
 * caller may apply); only if two branches then have the same continuation, it repeats with the actual callers.
 */

import {
  type BranchState,
  CallStackPool,
  type CallStacks,
  type LoopState,
  type Network,
  type PlusBackState,
  type State,
} from './network.js';
import { TokenType } from './tokens.js';

export type Decision = BranchState | LoopState | PlusBackState;

/** The lookahead of prediction. Tokens are read on demand. */
export interface TokenWindow {
  /** The type of the token `count` tokens ahead, or the end. */
  typeAhead(count: number): number;
}

/** `failedAhead`: the lookahead index of the token that matches no branch. */
export type Prediction = { readonly branch: number } | { readonly failedAhead: number };

interface Position {
  readonly state: State;
  /** The branch number, from 1. */
  readonly branch: number;
  stacks: CallStacks;
  /** Whether the position left the current rule for an assumed caller. */
  outside: boolean;
  /** Returned to a caller without a precedence: not removed as a duplicate of the first branch. */
  kept: boolean;
}

/** A set of positions, one per state and branch, with cached successors. */
interface Stage {
  readonly positions: readonly Position[];
  readonly next: Map<number, Stage | undefined>;
  /** The decided branch, or 0. */
  readonly branch: number;
  /** Two branches have the same continuation unless the callers are known. */
  readonly conflict: boolean;
}

export class Predictor {
  readonly #network: Network;
  readonly #pool = new CallStackPool({ emptyIsAny: true });
  readonly #starts = new Map<string, Stage>();
  /** Interned by positions; their number does not depend on the text length. */
  readonly #stages = new Map<string, Stage>();

  constructor(network: Network) {
    this.#network = network;
  }

  /** `callers`: return states, innermost last. `precedence`: that of the current rule. */
  predict(decision: Decision, callers: readonly State[], precedence: number, tokens: TokenWindow): Prediction {
    let stage = this.#start(decision, precedence);
    for (let ahead = 0; ; ahead++) {
      const type = tokens.typeAhead(ahead);
      const next = this.#follow(stage, type);
      if (next === undefined) {
        const branch = completedBranch(stage.positions);
        return branch === undefined ? { failedAhead: ahead } : { branch };
      }
      if (next.conflict) return this.#predictWithCallers(decision, callers, precedence, tokens);
      if (next.branch !== 0) return { branch: next.branch };
      stage = next;
    }
  }

  #start(decision: Decision, precedence: number): Stage {
    const suffixes = decision.kind === 'loop' && decision.suffixes;
    const key = suffixes ? `${decision.id}/${precedence}` : `${decision.id}`;
    let stage = this.#starts.get(key);
    if (stage === undefined) {
      const walk = new Walk(this.#network, this.#pool, { decision, precedence, withCallers: false });
      const positions = walk.start(this.#pool.empty);
      stage = {
        positions: suffixes ? withoutDuplicates(positions) : positions,
        next: new Map(),
        branch: 0,
        conflict: false,
      };
      this.#starts.set(key, stage);
    }
    return stage;
  }

  #follow(stage: Stage, type: number): Stage | undefined {
    if (stage.next.has(type)) return stage.next.get(type);
    const walk = new Walk(this.#network, this.#pool, { decision: undefined, precedence: 0, withCallers: false });
    const positions = walk.step(stage.positions, type);
    const next = positions.length === 0 ? undefined : this.#stage(positions);
    stage.next.set(type, next);
    return next;
  }

  #stage(positions: readonly Position[]): Stage {
    const key = positions
      .map((position) => `${positionKey(position)}/${position.outside}`)
      .sort()
      .join(' ');
    let stage = this.#stages.get(key);
    if (stage === undefined) {
      const branch = onlyBranch(positions);
      stage = { positions, next: new Map(), branch, conflict: branch === 0 && isConflict(positions) };
      this.#stages.set(key, stage);
    }
    return stage;
  }

  #predictWithCallers(
    decision: Decision,
    callers: readonly State[],
    precedence: number,
    tokens: TokenWindow,
  ): Prediction {
    const pool = new CallStackPool({ emptyIsAny: false });
    const stacks = callers.reduce((below, state) => pool.push(below, state), pool.empty);
    const walk = new Walk(this.#network, pool, { decision, precedence, withCallers: true });
    let positions = walk.start(stacks);
    for (let ahead = 0; ; ahead++) {
      const reached = walk.step(positions, tokens.typeAhead(ahead));
      if (reached.length === 0) {
        const branch = completedBranch(positions);
        // ANTLR has rewound the input when it picks the offending token.
        return branch === undefined ? { failedAhead: 0 } : { branch };
      }
      const branch = onlyBranch(reached) || onlyViableBranch(reached);
      if (branch !== 0) return { branch };
      positions = reached;
    }
  }
}

interface WalkOptions {
  /** The decision whose initial positions are computed; undefined if they are known. */
  readonly decision: Decision | undefined;
  readonly precedence: number;
  readonly withCallers: boolean;
}

/** Computes the positions reachable with the next token or without one. */
class Walk {
  readonly #network: Network;
  readonly #pool: CallStackPool;
  readonly #options: WalkOptions;

  constructor(network: Network, pool: CallStackPool, options: WalkOptions) {
    this.#network = network;
    this.#pool = pool;
    this.#options = options;
  }

  /** The positions before the first token. */
  start(stacks: CallStacks): readonly Position[] {
    const found = new Map<number, Position>();
    this.#options.decision?.branches.forEach((state, index) => {
      const position = { state, branch: index + 1, stacks, outside: false, kept: false };
      this.#close(position, found, { seen: new Set(), first: true, endIsFree: false });
    });
    return [...found.values()];
  }

  step(positions: readonly Position[], type: number): readonly Position[] {
    const moved = new Map<number, Position>();
    const finished: Position[] = [];
    for (const position of positions) {
      const { state } = position;
      if (state.kind === 'stop') {
        if (this.#options.withCallers || type === TokenType.END) finished.push(position);
      } else if (state.kind === 'token' && state.tokens.has(type)) {
        this.#add(moved, { ...position, state: state.next });
      }
    }
    if (finished.length === 0 && type !== TokenType.END && onlyBranch([...moved.values()]) !== 0)
      return [...moved.values()];
    const reached = new Map<number, Position>();
    const seen = new Set<string>();
    for (const position of moved.values()) {
      this.#close(position, reached, { seen, first: false, endIsFree: type === TokenType.END });
    }
    if (type === TokenType.END) {
      // Nothing follows the end, so only finished positions count.
      for (const [key, position] of reached) if (position.state.kind !== 'stop') reached.delete(key);
    }
    if (!this.#options.withCallers || !hasFinished(reached.values())) {
      for (const position of finished) this.#add(reached, position);
    }
    return [...reached.values()];
  }

  /** Adds all positions reachable without consuming a token. */
  #close(
    from: Position,
    into: Map<number, Position>,
    options: { readonly seen: Set<string>; readonly first: boolean; readonly endIsFree: boolean },
  ): void {
    // `depth`: rules entered since the start; negative after leaving the current rule.
    const work = [{ position: from, depth: 0 }];
    const enqueue = (position: Position, depth: number, once: boolean) => {
      if (once) {
        const key = positionKey(position);
        if (options.seen.has(key)) return;
        options.seen.add(key);
      }
      work.push({ position, depth });
    };
    for (let item = work.pop(); item !== undefined; item = work.pop()) {
      const { position, depth } = item;
      const { state, stacks } = position;
      switch (state.kind) {
        case 'token':
          this.#add(into, position);
          if (options.endIsFree && state.tokens.has(TokenType.END))
            enqueue({ ...position, state: state.next }, depth, true);
          break;
        case 'stop':
          if (stacks.tops.length > 0) {
            // The depth does not change: ANTLR does not count these returns.
            for (const top of stacks.tops) {
              enqueue({ ...position, state: top.state, stacks: top.below, kept: false }, depth, false);
            }
          } else if (this.#options.withCallers || state.follows.length === 0) this.#add(into, position);
          else {
            for (const call of state.follows) {
              const kept = position.kept || this.#keeps(call.callee, call.precedence);
              enqueue({ ...position, state: call.next, outside: true, kept }, depth - 1, true);
            }
          }
          break;
        case 'call': {
          const inner = this.#pool.push(stacks, state.next);
          enqueue(
            { ...position, state: this.#network.start(state.callee), stacks: inner },
            depth < 0 ? depth : depth + 1,
            false,
          );
          break;
        }
        case 'suffix':
          if (!options.first || depth !== 0 || this.#binds(state.precedence)) {
            enqueue({ ...position, state: state.next }, depth, false);
          }
          break;
        case 'plus':
        case 'loopBack':
          enqueue({ ...position, state: state.next }, depth, false);
          break;
        default:
          state.branches.forEach((branch, index) => {
            if (index === 0 && returnsIntoLoop(state, stacks)) return;
            enqueue({ ...position, state: branch }, depth, false);
          });
      }
    }
  }

  #add(into: Map<number, Position>, position: Position): void {
    const key = position.state.id * 16 + position.branch;
    const known = into.get(key);
    if (known === undefined) {
      into.set(key, { ...position });
      return;
    }
    known.stacks = this.#pool.merge(known.stacks, position.stacks);
    known.outside ||= position.outside;
    known.kept ||= position.kept;
  }

  #isSuffixLoop(): boolean {
    const { decision } = this.#options;
    return decision?.kind === 'loop' && decision.suffixes;
  }

  #keeps(callee: string, precedence: number): boolean {
    return this.#isSuffixLoop() && callee === this.#options.decision?.rule && precedence === 0;
  }

  /** Within suffixes the enclosing loop has already checked the precedence. */
  #binds(precedence: number): boolean {
    if (!this.#options.withCallers && !this.#isSuffixLoop()) return true;
    return precedence >= this.#options.precedence;
  }
}

/** Re-entering the suffix loop is redundant if all callers return to it anyway. */
function returnsIntoLoop(state: State, stacks: CallStacks): boolean {
  if (state.kind !== 'loop' || !state.suffixes || stacks.tops.length === 0) return false;
  return stacks.tops.every((top) => top.state === state.back);
}

/** Removes positions beyond a suffix loop that duplicate a suffix inside the loop; the loop takes priority. */
function withoutDuplicates(positions: readonly Position[]): readonly Position[] {
  const first = new Map<State, CallStacks>();
  for (const { state, branch, stacks } of positions) if (branch === 1) first.set(state, stacks);
  return positions.filter(({ state, branch, stacks, kept }) => branch === 1 || kept || first.get(state) !== stacks);
}

function isConflict(positions: readonly Position[]): boolean {
  if (positions.every(({ state }) => state.kind === 'stop')) return true;
  const continuations = new Set(positions.map(continuationOf));
  if (continuations.size === positions.length) return false;
  const branches = new Map<State, number>();
  for (const { state } of positions) branches.set(state, (branches.get(state) ?? 0) + 1);
  return [...branches.values()].every((count) => count > 1);
}

/** The only branch left, or 0. */
function onlyBranch(positions: readonly Position[]): number {
  const branch = positions[0]?.branch ?? 0;
  return positions.every((position) => position.branch === branch) ? branch : 0;
}

/** The only branch left if equal continuations count for their first branch, or 0. */
function onlyViableBranch(positions: readonly Position[]): number {
  const first = new Map<string, Position>();
  for (const position of positions) {
    const key = continuationOf(position);
    const known = first.get(key);
    if (known === undefined || position.branch < known.branch) first.set(key, position);
  }
  return onlyBranch([...first.values()]);
}

function positionKey({ state, branch, stacks, kept }: Position): string {
  return `${state.id}/${branch}/${stacks.id}/${kept}`;
}

function continuationOf({ state, stacks }: Position): string {
  return `${state.id}/${stacks.id}`;
}

/** The first branch that completed the current rule. */
function completedBranch(positions: readonly Position[]): number | undefined {
  const branches = positions
    .filter(({ state, stacks, outside }) => outside || (state.kind === 'stop' && stacks.tops.length === 0))
    .map(({ branch }) => branch);
  return branches.length === 0 ? undefined : Math.min(...branches);
}

function hasFinished(positions: Iterable<Position>): boolean {
  for (const { state } of positions) if (state.kind === 'stop') return true;
  return false;
}
