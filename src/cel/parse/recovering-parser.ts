/**
 * The parser for texts with mistakes: it walks the network of the grammar, reports what does not fit, mends it where
 * one token too many or too few explains it, and otherwise skips to where the text may go on. It does all this as the
 * reference parser does, since the messages show it.
 *
 * What it makes is a tree of what it could read. Parts are missing where the text is wrong.
 */
import { LEFT, type RuleName } from './grammar.js';
import { type CallState, Network, type State } from './network.js';
import { type Decision, Predictor } from './predict.js';
import { MOST_DEPTH, MOST_RECOVERIES, MOST_SKIPPED_TOKENS } from './source.js';
import type { Token, TokenStream } from './token-stream.js';
import { hasOneSpelling, TokenType, tokenName } from './tokens.js';

export interface Tree {
  readonly rule: RuleName;
  /** The name of the alternative that was taken; that of the rule where there is none. */
  kind: string;
  readonly start: Token;
  /** By label. */
  readonly parts: Map<string, Token | Tree | (Token | Tree)[]>;
  /** The part this one was read for, and the place in it. */
  readonly parent: Tree | undefined;
  readonly call: CallState | undefined;
  /** Of suffixes that may be added. */
  readonly precedence: number;
}

/** Where mistakes go. `syntax` ends the reading, by an exception, when there are too many. */
export interface MistakeLog {
  syntax(message: string, offset: number): void;
  /** Reports something without a place and ends the reading. */
  stop(message: string): never;
}

/** Something does not fit. Caught where the rule that was being read ends. */
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
  readonly #log: MistakeLog;
  readonly #tokens: TokenStream;
  readonly #depths = new Map<RuleName, number>();
  #tree: Tree | undefined;
  #state: State;
  /** From a mistake until the next token that fits; nothing is reported meanwhile. */
  #recovering = false;
  /** Where recovery was tried since then: twice in the same place, and a token is skipped. */
  #recoveredAt = -1;
  readonly #recoveredIn = new Set<State>();
  #recoveries = 0;
  /** Tokens that the present recovery may still skip; not counted outside of one. */
  #skips = Number.POSITIVE_INFINITY;

  constructor(tokens: TokenStream, log: MistakeLog) {
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
        this.#goInto(tree, state.next);
        return;
      default:
        this.#sync(tree);
        this.#goInto(tree, state);
    }
  }

  #goInto(tree: Tree, decision: Decision): void {
    const way = this.#decide(tree, decision);
    if ('names' in decision) tree.kind = decision.names[way - 1] ?? tree.kind;
    // The left part is done once its suffix begins.
    if (decision.kind === 'loop' && decision.suffixes && way === 1) this.#countDown(tree.rule);
    const next = decision.ways[way - 1];
    if (next === undefined) throw new Error(`no way ${way}`);
    this.#state = next;
  }

  #decide(tree: Tree, decision: Decision): number {
    if (decision.lookahead === 'many') return this.#predict(tree, decision);
    const { type } = this.#tokens.token();
    const way = decision.ways.findIndex((state) => this.#network.nextTokens(state).tokens.has(type));
    if (decision.kind !== 'choice') return way === 0 ? 1 : 2;
    if (way === -1) throw this.#noWay(this.#tokens.token());
    return way + 1;
  }

  #predict(tree: Tree, decision: Decision): number {
    const callers: State[] = [];
    for (let part: Tree | undefined = tree; part?.call !== undefined; part = part.parent) callers.push(part.call.next);
    const prediction = this.#predictor.predict(decision, callers.reverse(), tree.precedence, this.#tokens);
    if ('way' in prediction) return prediction.way;
    throw this.#noWay(this.#tokens.token(prediction.failedAhead));
  }

  #noWay(token: Token): Mismatch {
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

  /** The part read so far becomes the left one of a part with a suffix. */
  #wrap(left: Tree, name: string | undefined): void {
    this.#tree = { ...left, kind: name ?? left.rule, parts: new Map([[LEFT, left]]) };
    this.#countUp(left.rule);
  }

  #countUp(rule: RuleName): void {
    const depth = (this.#depths.get(rule) ?? 0) + 1;
    this.#depths.set(rule, depth);
    if (depth > MOST_DEPTH) this.#log.stop(`expression recursion limit exceeded: ${MOST_DEPTH}`);
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
    if (!expected.has(token.type)) return this.#mend(next);
    this.#matched();
    this.#tokens.consume();
    return token;
  }

  #matched(): void {
    this.#recovering = false;
    this.#recoveredAt = -1;
    this.#recoveredIn.clear();
  }

  /** One token too many, or one too few. `next`: after the token that is expected. */
  #mend(next: State): Token {
    this.#beginRecovery();
    const tree = this.#tree;
    const token = this.#dropToken();
    if (token !== undefined) {
      this.#skip();
      return token;
    }
    const expected = this.#expected(this.#state, tree);
    if (!this.#expected(next, tree).has(this.#tokens.token().type)) throw this.#unexpected();
    this.#reportOnce(() => `missing ${listed(expected)} at ${displayed(this.#tokens.token())}`);
    return this.#missing(Math.min(...expected));
  }

  /** Before a part that may be left out or repeated: brings the next token in line with what may follow. */
  #sync(tree: Tree): void {
    if (this.#recovering) return;
    const state = this.#state;
    const { tokens, end } = this.#network.nextTokens(state);
    if (end || tokens.has(this.#tokens.token().type)) return;
    if (state.kind !== 'loopBack' && state.kind !== 'plusBack') {
      if (this.#dropToken() === undefined) throw this.#unexpected();
      return;
    }
    const expected = this.#expected(state, tree);
    this.#reportUnwanted(expected);
    this.#skips = Number.POSITIVE_INFINITY;
    this.#skipUntil(new Set([...expected, ...this.#recoverySet(tree)]));
  }

  /** Leaves out the next token if the one after it fits; gives that one. */
  #dropToken(): Token | undefined {
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
    if (this.#recoveries === MOST_RECOVERIES) {
      this.#log.syntax(`error recovery attempt limit exceeded: ${MOST_RECOVERIES}`, this.#tokens.token().offset);
      throw STOPPED;
    }
    this.#recoveries++;
    this.#skips = MOST_SKIPPED_TOKENS;
  }

  #skip(): void {
    if (this.#skips-- <= 0) {
      this.#log.stop(`error recovery token lookahead limit exceeded: ${MOST_SKIPPED_TOKENS}`);
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

  /** A token for what is not in the text, in the place of the next one or before the end. */
  #missing(type: number): Token {
    const next = this.#tokens.token();
    const place = next.type === TokenType.END ? (this.#tokens.previous() ?? next) : next;
    const name = type === TokenType.END ? 'EOF' : hasOneSpelling(type) ? tokenName(type) : 'undefined';
    return { type, offset: place.offset, text: `<missing ${name}>`, index: -1 };
  }

  /** All that may come next: in the rule, and after it as far as it may end. */
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

  /** What may follow any of the rules that are being read. */
  #recoverySet(tree: Tree | undefined): ReadonlySet<number> {
    const set = new Set<number>();
    for (let part = tree; part?.call !== undefined; part = part.parent) {
      for (const type of this.#network.nextTokens(part.call.next).tokens) set.add(type);
    }
    return set;
  }
}

/** Thrown when reading ends early and all has been said. */
export const STOPPED = new Error('the text has too many mistakes');

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
