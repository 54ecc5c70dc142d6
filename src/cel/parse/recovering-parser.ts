/**
 * The parser for erroneous texts: walks the state network, reports mismatches, recovers by deleting or inserting one
 * token if that explains the error, and otherwise skips to a token where parsing can continue. It follows ANTLR's
 * default error strategy, because the messages depend on it.
 *
 * The result is a tree of everything that could be parsed; parts are missing where the text is wrong.
 */
import { LEFT, type RuleName } from './grammar.js';
import { type CallState, Network, type State } from './network.js';
import { type Decision, Predictor } from './predict.js';
import { MAX_DEPTH, MAX_RECOVERIES, MAX_SKIPPED_TOKENS } from './source.js';
import type { Token, TokenStream } from './token-stream.js';
import { hasOneSpelling, TokenType, tokenName } from './tokens.js';

export interface Tree {
  readonly rule: RuleName;
  /** The name of the chosen alternative, or of the rule if it has none. */
  kind: string;
  readonly start: Token;
  /** Parts by label. */
  readonly parts: Map<string, Token | Tree | (Token | Tree)[]>;
  /** The parent node and the call state in it. */
  readonly parent: Tree | undefined;
  readonly call: CallState | undefined;
  /** The minimum precedence of suffixes that may be added. */
  readonly precedence: number;
}

/** Receives errors. `syntax` throws if there are too many. */
export interface ErrorLog {
  syntax(message: string, offset: number): void;
  /** Reports an error without a location and stops. */
  stop(message: string): never;
}

/** A token mismatch. Caught at the end of the current rule. */
class Mismatch extends Error {
  constructor(readonly describe: () => { readonly message: string; readonly token: Token }) {
    super();
  }
}

let network: Network | undefined;
let predictor: Predictor | undefined;

export class RecoveringParser {
  readonly #network: Network;
  readonly #predictor: Predictor;
  readonly #log: ErrorLog;
  readonly #tokens: TokenStream;
  readonly #depths = new Map<RuleName, number>();
  #tree: Tree | undefined;
  #state: State;
  /** Set from an error until the next matching token; suppresses further errors. */
  #recovering = false;
  /** The last recovery position: a second recovery at the same position skips a token. */
  #recoveredAt = -1;
  readonly #recoveredIn = new Set<State>();
  #recoveries = 0;
  /** The tokens that the current recovery may still skip; unlimited outside of a recovery. */
  #skips = Number.POSITIVE_INFINITY;

  constructor(tokens: TokenStream, log: ErrorLog) {
    network ??= new Network();
    predictor ??= new Predictor(network);
    this.#network = network;
    this.#predictor = predictor;
    this.#tokens = tokens;
    this.#log = log;
    this.#state = network.start('start');
  }

  parse(): Tree {
    const root = this.#enter('start', undefined);
    while (this.#tree !== undefined) {
      try {
        this.#advance(this.#tree, this.#state);
      } catch (error) {
        if (!(error instanceof Mismatch)) throw error;
        this.#recover(error);
        this.#state = this.#network.stop(this.#tree.rule);
      }
    }
    return root;
  }

  #advance(tree: Tree, state: State): void {
    switch (state.kind) {
      case 'token':
        this.#keep(tree, state.label, this.#match(state.tokens, state.next));
        this.#state = state.next;
        return;
      case 'call':
        this.#enter(state.callee, state);
        return;
      case 'stop':
        this.#leave(tree);
        return;
      case 'suffix':
        this.#wrap(tree, state.name);
        this.#state = state.next;
        return;
      case 'plus':
        this.#sync(tree);
        this.#state = state.next;
        return;
      case 'loopBack':
        this.#sync(tree);
        this.#takeBranch(tree, state.next);
        return;
      default:
        this.#sync(tree);
        this.#takeBranch(tree, state);
    }
  }

  #takeBranch(tree: Tree, decision: Decision): void {
    const branch = this.#decide(tree, decision);
    if ('names' in decision) tree.kind = decision.names[branch - 1] ?? tree.kind;
    // The left operand is complete when its suffix begins.
    if (decision.kind === 'loop' && decision.suffixes && branch === 1) this.#countDown(tree.rule);
    const next = decision.branches[branch - 1];
    if (next === undefined) throw new Error(`no branch ${branch}`);
    this.#state = next;
  }

  #decide(tree: Tree, decision: Decision): number {
    if (decision.lookahead === 'many') return this.#predict(tree, decision);
    const { type } = this.#tokens.token();
    const branch = decision.branches.findIndex((state) => this.#network.nextTokens(state).tokens.has(type));
    if (decision.kind !== 'choice') return branch === 0 ? 1 : 2;
    if (branch === -1) throw this.#noViableAlternative(this.#tokens.token());
    return branch + 1;
  }

  #predict(tree: Tree, decision: Decision): number {
    const callers: State[] = [];
    for (let part: Tree | undefined = tree; part?.call !== undefined; part = part.parent) callers.push(part.call.next);
    const prediction = this.#predictor.predict(decision, callers.reverse(), tree.precedence, this.#tokens);
    if ('branch' in prediction) return prediction.branch;
    throw this.#noViableAlternative(this.#tokens.token(prediction.failedAhead));
  }

  #noViableAlternative(token: Token): Mismatch {
    const first = this.#tokens.token();
    return new Mismatch(() => {
      const input = first.type === TokenType.END ? '<EOF>' : this.#tokens.textBetween(first, token);
      return { message: `no viable alternative at input ${quoted(input)}`, token };
    });
  }

  #enter(rule: RuleName, call: CallState | undefined): Tree {
    const parent = this.#tree;
    const inSuffixRule = rule === 'relation' || rule === 'calc' || rule === 'member';
    const precedence = inSuffixRule ? (call?.precedence ?? 0) : (parent?.precedence ?? 0);
    const tree: Tree = { rule, kind: rule, start: this.#tokens.token(), parts: new Map(), parent, call, precedence };
    this.#tree = tree;
    this.#state = this.#network.start(rule);
    this.#countUp(rule);
    return tree;
  }

  #leave(tree: Tree): void {
    this.#countDown(tree.rule);
    const { parent, call } = tree;
    this.#tree = parent;
    if (parent === undefined || call === undefined) return;
    this.#keep(parent, call.label, tree);
    this.#state = call.next;
  }

  /** The node read so far becomes the left operand of a suffix node. */
  #wrap(left: Tree, name: string | undefined): void {
    this.#tree = { ...left, kind: name ?? left.rule, parts: new Map([[LEFT, left]]) };
    this.#countUp(left.rule);
  }

  #countUp(rule: RuleName): void {
    const depth = (this.#depths.get(rule) ?? 0) + 1;
    this.#depths.set(rule, depth);
    if (depth > MAX_DEPTH) this.#log.stop(`expression recursion limit exceeded: ${MAX_DEPTH}`);
  }

  #countDown(rule: RuleName): void {
    this.#depths.set(rule, Math.max((this.#depths.get(rule) ?? 0) - 1, 0));
  }

  #keep(tree: Tree, label: string | undefined, part: Token | Tree): void {
    if (label === undefined) return;
    if (!label.endsWith('+')) {
      tree.parts.set(label, part);
      return;
    }
    const name = label.slice(0, -1);
    const list = tree.parts.get(name);
    if (Array.isArray(list)) list.push(part);
    else tree.parts.set(name, [part]);
  }

  #match(expected: ReadonlySet<number>, next: State): Token {
    const token = this.#tokens.token();
    if (!expected.has(token.type)) return this.#recoverInline(next);
    this.#matched();
    this.#tokens.consume();
    return token;
  }

  #matched(): void {
    this.#recovering = false;
    this.#recoveredAt = -1;
    this.#recoveredIn.clear();
  }

  /** Recovers from one surplus or one missing token. `next`: the state after the expected token. */
  #recoverInline(next: State): Token {
    this.#beginRecovery();
    const tree = this.#tree;
    const token = this.#deleteToken();
    if (token !== undefined) {
      this.#skip();
      return token;
    }
    const expected = this.#expected(this.#state, tree);
    if (!this.#expected(next, tree).has(this.#tokens.token().type)) throw this.#unexpected();
    this.#reportOnce(() => `missing ${listed(expected)} at ${displayed(this.#tokens.token())}`);
    return this.#missingToken(Math.min(...expected));
  }

  /** Before an optional or repeated part: skips tokens that cannot follow. */
  #sync(tree: Tree): void {
    if (this.#recovering) return;
    const state = this.#state;
    const { tokens, end } = this.#network.nextTokens(state);
    if (end || tokens.has(this.#tokens.token().type)) return;
    if (state.kind !== 'loopBack' && state.kind !== 'plusBack') {
      if (this.#deleteToken() === undefined) throw this.#unexpected();
      return;
    }
    const expected = this.#expected(state, tree);
    this.#reportUnwanted(expected);
    this.#skips = Number.POSITIVE_INFINITY;
    this.#skipUntil(new Set([...expected, ...this.#recoverySet(tree)]));
  }

  /** Deletes the next token if the one after it matches; returns that one. */
  #deleteToken(): Token | undefined {
    const expected = this.#expected(this.#state, this.#tree);
    if (!expected.has(this.#tokens.typeAhead(1))) return undefined;
    this.#reportUnwanted(expected);
    this.#skip();
    this.#matched();
    return this.#tokens.token();
  }

  #recover(mismatch: Mismatch): void {
    this.#reportMismatch(mismatch);
    this.#beginRecovery();
    if (this.#recoveredAt === this.#tokens.position && this.#recoveredIn.has(this.#state)) this.#skip();
    this.#recoveredAt = this.#tokens.position;
    this.#recoveredIn.add(this.#state);
    this.#skipUntil(this.#recoverySet(this.#tree));
    this.#skips = Number.POSITIVE_INFINITY;
  }

  #beginRecovery(): void {
    if (this.#recoveries === MAX_RECOVERIES) {
      this.#log.syntax(`error recovery attempt limit exceeded: ${MAX_RECOVERIES}`, this.#tokens.token().offset);
      throw STOPPED;
    }
    this.#recoveries++;
    this.#skips = MAX_SKIPPED_TOKENS;
  }

  #skip(): void {
    if (this.#skips-- <= 0) {
      this.#log.stop(`error recovery token lookahead limit exceeded: ${MAX_SKIPPED_TOKENS}`);
    }
    this.#tokens.consume();
  }

  #skipUntil(wanted: ReadonlySet<number>): void {
    for (let { type } = this.#tokens.token(); type !== TokenType.END && !wanted.has(type); ) {
      this.#skip();
      type = this.#tokens.token().type;
    }
  }

  #unexpected(): Mismatch {
    const token = this.#tokens.token();
    return new Mismatch(() => {
      const expected = listed(this.#expected(this.#state, this.#tree));
      return { message: `mismatched input ${displayed(token)} expecting ${expected}`, token };
    });
  }

  #reportMismatch(mismatch: Mismatch): void {
    if (this.#recovering) return;
    this.#recovering = true;
    const { message, token } = mismatch.describe();
    this.#log.syntax(message, token.offset);
  }

  #reportUnwanted(expected: ReadonlySet<number>): void {
    this.#reportOnce(() => `extraneous input ${displayed(this.#tokens.token())} expecting ${listed(expected)}`);
  }

  #reportOnce(describe: () => string): void {
    if (this.#recovering) return;
    this.#recovering = true;
    this.#log.syntax(describe(), this.#tokens.token().offset);
  }

  /** A token that stands for a missing one, at the location of the next token or before the end. */
  #missingToken(type: number): Token {
    const next = this.#tokens.token();
    const place = next.type === TokenType.END ? (this.#tokens.previous() ?? next) : next;
    const name = type === TokenType.END ? 'EOF' : hasOneSpelling(type) ? tokenName(type) : 'undefined';
    return { type, offset: place.offset, text: `<missing ${name}>`, index: -1 };
  }

  /** All tokens that may come next, in this rule and, if it may end, in its callers. */
  #expected(state: State, tree: Tree | undefined): ReadonlySet<number> {
    let next = this.#network.nextTokens(state);
    if (!next.end) return next.tokens;
    const expected = new Set(next.tokens);
    for (let part = tree; part?.call !== undefined && next.end; part = part.parent) {
      next = this.#network.nextTokens(part.call.next);
      for (const type of next.tokens) expected.add(type);
    }
    if (next.end) expected.add(TokenType.END);
    return expected;
  }

  /** The tokens that may follow any of the active rules. */
  #recoverySet(tree: Tree | undefined): ReadonlySet<number> {
    const set = new Set<number>();
    for (let part = tree; part?.call !== undefined; part = part.parent) {
      for (const type of this.#network.nextTokens(part.call.next).tokens) set.add(type);
    }
    return set;
  }
}

/** Thrown to stop parsing after all errors are reported. */
export const STOPPED = new Error('the text has too many errors');

function listed(types: ReadonlySet<number>): string {
  const names = [...types].sort((a, b) => a - b).map(tokenName);
  return names.length > 1 ? `{${names.join(', ')}}` : (names[0] ?? '');
}

function displayed(token: Token): string {
  return quoted(token.text);
}

function quoted(text: string): string {
  return `'${text.replaceAll('\t', '\\t').replaceAll('\n', '\\n').replaceAll('\r', '\\r')}'`;
}
