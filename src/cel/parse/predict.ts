/**
 * Which way to go where the next token alone does not tell: all ways are followed at once, token by token, until one is
 * left. This is adaptive LL(*) as the reference parser has it, since where it fails decides about the message.
 *
 * A position is a state on one of the ways, with the callers to return to. First the callers of the rule at hand are
 * left open (any of them may be meant); only if that leaves two ways with the same future, the real callers are taken.
 */

import type { BranchState, LoopState, Network, PlusBackState, State } from './network.js';
import { CallStackPool, type CallStacks } from './network.js';
import { TokenType } from './tokens.js';

export type Decision = BranchState | LoopState | PlusBackState;

/** What prediction looks at. The text is read on demand; positions are those of tokens. */
export interface TokenWindow {
  /** The type of the token `count` tokens ahead; beyond the end, the end. */
  typeAhead(count: number): number;
}

/** `failedAhead`: the token that no way fits to. */
export type Prediction = { readonly way: number } | { readonly failedAhead: number };

interface Position {
  readonly state: State;
  /** From 1. */
  readonly way: number;
  stacks: CallStacks;
  /** The rule at hand was left, for a caller that was guessed. */
  outside: boolean;
  /** Left to a caller that did not ask for a precedence: not dropped for being on the first way too. */
  kept: boolean;
}

/** A set of positions, one per state and way, and what follows from it. */
interface Stage {
  readonly positions: readonly Position[];
  readonly next: Map<number, Stage | undefined>;
  /** Decided, when it is not 0. */
  readonly way: number;
  /** Two ways have the same future as far as one can see without knowing the callers. */
  readonly conflict: boolean;
}

export class Predictor {
  readonly #network: Network;
  readonly #pool = new CallStackPool({ emptyIsAny: true });
  readonly #starts = new Map<string, Stage>();
  /** By their positions: however long the text, there are only so many. */
  readonly #stages = new Map<string, Stage>();

  constructor(network: Network) {
    this.#network = network;
  }

  /** `callers`: the places to return to, the innermost last. `precedence`: of the rule at hand. */
  predict(decision: Decision, callers: readonly State[], precedence: number, tokens: TokenWindow): Prediction {
    let stage = this.#start(decision, precedence);
    for (let ahead = 0; ; ahead++) {
      const type = tokens.typeAhead(ahead);
      const next = this.#follow(stage, type);
      if (next === undefined) {
        const way = wayThatLeft(stage.positions);
        return way === undefined ? { failedAhead: ahead } : { way };
      }
      if (next.conflict) return this.#predictWithCallers(decision, callers, precedence, tokens);
      if (next.way !== 0) return { way: next.way };
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
      stage = { positions: suffixes ? withoutDoubles(positions) : positions, next: new Map(), way: 0, conflict: false };
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
      const way = onlyWay(positions);
      stage = { positions, next: new Map(), way, conflict: way === 0 && isConflict(positions) };
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
        const way = wayThatLeft(positions);
        // The reference has gone back to where it started when it takes the token to complain about.
        return way === undefined ? { failedAhead: 0 } : { way };
      }
      const way = onlyWay(reached) || onlyViableWay(reached);
      if (way !== 0) return { way };
      positions = reached;
    }
  }
}

interface WalkOptions {
  /** Whose first positions are asked for; undefined when they are known. */
  readonly decision: Decision | undefined;
  readonly precedence: number;
  readonly withCallers: boolean;
}

/** Goes from positions to those that the next token, or nothing at all, leads to. */
class Walk {
  readonly #network: Network;
  readonly #pool: CallStackPool;
  readonly #options: WalkOptions;

  constructor(network: Network, pool: CallStackPool, options: WalkOptions) {
    this.#network = network;
    this.#pool = pool;
    this.#options = options;
  }

  /** Before the first token. */
  start(stacks: CallStacks): readonly Position[] {
    const found = new Map<number, Position>();
    this.#options.decision?.ways.forEach((state, index) => {
      const position = { state, way: index + 1, stacks, outside: false, kept: false };
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
    if (finished.length === 0 && type !== TokenType.END && onlyWay([...moved.values()]) !== 0)
      return [...moved.values()];
    const reached = new Map<number, Position>();
    const seen = new Set<string>();
    for (const position of moved.values()) {
      this.#close(position, reached, { seen, first: false, endIsFree: type === TokenType.END });
    }
    if (type === TokenType.END) {
      // Nothing comes after the end, so only what is finished counts.
      for (const [key, position] of reached) if (position.state.kind !== 'stop') reached.delete(key);
    }
    if (!this.#options.withCallers || !hasFinished(reached.values())) {
      for (const position of finished) this.#add(reached, position);
    }
    return [...reached.values()];
  }

  /** Adds all positions before a token that lead on from here. */
  #close(
    from: Position,
    into: Map<number, Position>,
    options: { readonly seen: Set<string>; readonly first: boolean; readonly endIsFree: boolean },
  ): void {
    // `depth`: rules entered since the start; below 0 when the rule at hand was left.
    const work = [{ position: from, depth: 0 }];
    const goOn = (position: Position, depth: number, once: boolean) => {
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
            goOn({ ...position, state: state.next }, depth, true);
          break;
        case 'stop':
          if (stacks.tops.length > 0) {
            // The depth stays: the reference does not count returns here.
            for (const top of stacks.tops) {
              goOn({ ...position, state: top.state, stacks: top.below, kept: false }, depth, false);
            }
          } else if (this.#options.withCallers || state.follows.length === 0) this.#add(into, position);
          else {
            for (const call of state.follows) {
              const kept = position.kept || this.#keeps(call.callee, call.precedence);
              goOn({ ...position, state: call.next, outside: true, kept }, depth - 1, true);
            }
          }
          break;
        case 'call': {
          const inner = this.#pool.push(stacks, state.next);
          goOn(
            { ...position, state: this.#network.start(state.callee), stacks: inner },
            depth < 0 ? depth : depth + 1,
            false,
          );
          break;
        }
        case 'suffix':
          if (!options.first || depth !== 0 || this.#binds(state.precedence)) {
            goOn({ ...position, state: state.next }, depth, false);
          }
          break;
        case 'plus':
        case 'loopBack':
          goOn({ ...position, state: state.next }, depth, false);
          break;
        default:
          state.ways.forEach((way, index) => {
            if (index === 0 && returnsIntoLoop(state, stacks)) return;
            goOn({ ...position, state: way }, depth, false);
          });
      }
    }
  }

  #add(into: Map<number, Position>, position: Position): void {
    const key = position.state.id * 16 + position.way;
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

  /** Among the suffixes themselves, the loop around them has decided already. */
  #binds(precedence: number): boolean {
    if (!this.#options.withCallers && !this.#isSuffixLoop()) return true;
    return precedence >= this.#options.precedence;
  }
}

/** Going into the loop of suffixes again is what all callers do anyway. */
function returnsIntoLoop(state: State, stacks: CallStacks): boolean {
  if (state.kind !== 'loop' || !state.suffixes || stacks.tops.length === 0) return false;
  return stacks.tops.every((top) => top.state === state.back);
}

/** Past a loop of suffixes lies the same suffix of a caller: the loop comes first. */
function withoutDoubles(positions: readonly Position[]): readonly Position[] {
  const first = new Map<State, CallStacks>();
  for (const { state, way, stacks } of positions) if (way === 1) first.set(state, stacks);
  return positions.filter(({ state, way, stacks, kept }) => way === 1 || kept || first.get(state) !== stacks);
}

function isConflict(positions: readonly Position[]): boolean {
  if (positions.every(({ state }) => state.kind === 'stop')) return true;
  const futures = new Set(positions.map(futureOf));
  if (futures.size === positions.length) return false;
  const ways = new Map<State, number>();
  for (const { state } of positions) ways.set(state, (ways.get(state) ?? 0) + 1);
  return [...ways.values()].every((count) => count > 1);
}

/** 0 when there are several. */
function onlyWay(positions: readonly Position[]): number {
  const way = positions[0]?.way ?? 0;
  return positions.every((position) => position.way === way) ? way : 0;
}

/** Of several ways with the same future the first counts. 0 when several are left even so. */
function onlyViableWay(positions: readonly Position[]): number {
  const first = new Map<string, Position>();
  for (const position of positions) {
    const key = futureOf(position);
    const known = first.get(key);
    if (known === undefined || position.way < known.way) first.set(key, position);
  }
  return onlyWay([...first.values()]);
}

function positionKey({ state, way, stacks, kept }: Position): string {
  return `${state.id}/${way}/${stacks.id}/${kept}`;
}

function futureOf({ state, stacks }: Position): string {
  return `${state.id}/${stacks.id}`;
}

/** The first way that went through the rule at hand to its end. */
function wayThatLeft(positions: readonly Position[]): number | undefined {
  const ways = positions
    .filter(({ state, stacks, outside }) => outside || (state.kind === 'stop' && stacks.tops.length === 0))
    .map(({ way }) => way);
  return ways.length === 0 ? undefined : Math.min(...ways);
}

function hasFinished(positions: Iterable<Position>): boolean {
  for (const { state } of positions) if (state.kind === 'stop') return true;
  return false;
}
