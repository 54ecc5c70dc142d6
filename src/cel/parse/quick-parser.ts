/**
 * The parser for valid texts: one pass without an intermediate tree. It gives up at any error or excessive depth, and
 * the recovering parser then reads the text again to find the errors.
 */
import type { Expr, ListExpr, MapEntry, StructField } from '../ast.js';
import { literalOf } from './literals.js';
import { balanced, type ChainLink, type NodeBuilder } from './node-builder.js';
import { Scanner } from './scanner.js';
import type { TextSource } from './source.js';
import { MAX_DEPTH } from './source.js';
import {
  ARITHMETIC_FUNCTIONS,
  CONDITIONAL,
  INDEX,
  isHidden,
  LOGICAL_AND,
  LOGICAL_NOT,
  LOGICAL_OR,
  NEGATE,
  OPTIONAL_INDEX,
  OPTIONAL_SELECT,
  RELATION_FUNCTIONS,
  RESERVED_NAMES,
  TokenType,
} from './tokens.js';

/** Thrown and caught only in this file. */
const GIVE_UP = new Error('the quick parser cannot parse the text');

/** Parses a text; undefined if it has errors. The builder must then be discarded. */
export function quickParse(source: TextSource, builder: NodeBuilder): Expr | undefined {
  try {
    return new QuickParser(source, builder).parse();
  } catch (error) {
    if (error === GIVE_UP) return undefined;
    throw error;
  }
}

class QuickParser {
  readonly #types: number[] = [];
  readonly #starts: number[] = [];
  readonly #ends: number[] = [];
  /** Index of the next token. */
  #at = 0;
  /** The height of the last parsed node, as the depth limit counts it. */
  #height = 0;
  /** Current recursion depths of these grammar rules. */
  #expressions = 0;
  #relations = 0;
  #calculations = 0;

  constructor(
    readonly source: TextSource,
    readonly builder: NodeBuilder,
  ) {
    const scanner = new Scanner(source.codes);
    for (let start = 0; ; start = scanner.end) {
      scanner.scan(start);
      if (scanner.type === TokenType.INVALID) throw GIVE_UP;
      if (isHidden(scanner.type)) continue;
      this.#types.push(scanner.type);
      this.#starts.push(start);
      this.#ends.push(scanner.end);
      if (scanner.type === TokenType.END) break;
    }
  }

  parse(): Expr {
    const expr = this.#expression();
    this.#take(TokenType.END);
    return expr;
  }

  get #type(): number {
    return this.#types[this.#at] ?? TokenType.END;
  }

  get #start(): number {
    return this.#starts[this.#at] ?? 0;
  }

  #typeAhead(count: number): number {
    return this.#types[this.#at + count] ?? TokenType.END;
  }

  #text(): string {
    return this.source.slice(this.#start, this.#ends[this.#at] ?? 0);
  }

  /** Consumes a token of this type and returns its offset. */
  #take(type: number): number {
    if (this.#type !== type) throw GIVE_UP;
    const start = this.#start;
    this.#at++;
    return start;
  }

  #skip(type: number): boolean {
    if (this.#type !== type) return false;
    this.#at++;
    return true;
  }

  /** Adds a level above the last parsed node and another one of the given height. */
  #grow(other: number): void {
    this.#height = Math.max(this.#height, other) + 1;
    if (this.#height > MAX_DEPTH) throw GIVE_UP;
  }

  #expression(): Expr {
    if (++this.#expressions > MAX_DEPTH) throw GIVE_UP;
    let expr = this.#chain(LOGICAL_OR, TokenType.OR);
    if (this.#type === TokenType.QUESTION) {
      const offset = this.#take(TokenType.QUESTION);
      const id = this.builder.id();
      let height = this.#height;
      const whenTrue = this.#chain(LOGICAL_OR, TokenType.OR);
      this.#take(TokenType.COLON);
      height = Math.max(height, this.#height);
      const whenFalse = this.#expression();
      this.#grow(height);
      expr = this.builder.call(id, offset, CONDITIONAL, [expr, whenTrue, whenFalse]);
    }
    this.#expressions--;
    return expr;
  }

  /** Parses a chain `a || b || c`, or the nested `a && b && c`. */
  #chain(name: string, operator: number): Expr {
    const first = operator === TokenType.OR ? this.#chain(LOGICAL_AND, TokenType.AND) : this.#relation();
    if (this.#type !== operator) return first;
    const terms = [first];
    const links: ChainLink[] = [];
    let height = this.#height;
    while (this.#type === operator) {
      const offset = this.#take(operator);
      terms.push(operator === TokenType.OR ? this.#chain(LOGICAL_AND, TokenType.AND) : this.#relation());
      height = Math.max(height, this.#height);
      links.push({ id: this.builder.id(), offset });
    }
    this.#height = height;
    return balanced(name, terms, links);
  }

  #relation(): Expr {
    if (++this.#relations > MAX_DEPTH) throw GIVE_UP;
    let left = this.#calculation(1);
    for (let name = RELATION_FUNCTIONS.get(this.#type); name !== undefined; name = RELATION_FUNCTIONS.get(this.#type)) {
      const offset = this.#take(this.#type);
      const id = this.builder.id();
      const height = this.#height;
      if (++this.#relations > MAX_DEPTH) throw GIVE_UP;
      const right = this.#calculation(1);
      this.#relations--;
      this.#grow(height);
      left = this.builder.call(id, offset, name, [left, right]);
    }
    this.#relations--;
    return left;
  }

  /** Parses operators of at least this precedence: 1 for sums, 2 for products, 3 for none. */
  #calculation(minPrecedence: number): Expr {
    if (++this.#calculations > MAX_DEPTH) throw GIVE_UP;
    let left = this.#unary();
    for (;;) {
      const name = ARITHMETIC_FUNCTIONS.get(this.#type);
      if (name === undefined) break;
      const precedence = this.#type === TokenType.PLUS || this.#type === TokenType.MINUS ? 1 : 2;
      if (precedence < minPrecedence) break;
      const offset = this.#take(this.#type);
      const id = this.builder.id();
      const height = this.#height;
      const right = this.#calculation(precedence + 1);
      this.#grow(height);
      left = this.builder.call(id, offset, name, [left, right]);
    }
    this.#calculations--;
    return left;
  }

  #unary(): Expr {
    const sign = this.#type;
    // A single minus before a number is part of the literal.
    if (sign !== TokenType.NOT && (sign !== TokenType.MINUS || isNumber(this.#typeAhead(1)))) return this.#member();
    const offset = this.#start;
    let count = 0;
    while (this.#skip(sign)) count++;
    if (count % 2 === 0) return this.#member();
    const id = this.builder.id();
    return this.builder.call(id, offset, sign === TokenType.NOT ? LOGICAL_NOT : NEGATE, [this.#member()]);
  }

  #member(): Expr {
    let expr = this.#primary();
    for (;;) {
      if (this.#type === TokenType.DOT) expr = this.#selectOrCall(expr);
      else if (this.#type === TokenType.OPEN_BRACKET) expr = this.#index(expr);
      else return expr;
    }
  }

  #selectOrCall(operand: Expr): Expr {
    const offset = this.#take(TokenType.DOT);
    const optional = this.#skip(TokenType.QUESTION);
    const name = this.#text();
    const nameOffset = this.#take(TokenType.IDENTIFIER);
    if (optional) {
      const field = this.builder.literal(nameOffset, name);
      this.#grow(0);
      return this.builder.call(this.builder.id(), offset, OPTIONAL_SELECT, [operand, field]);
    }
    if (this.#type !== TokenType.OPEN_PAREN) {
      this.#grow(0);
      return { type: 'select', id: this.builder.id(), offset, operand, field: name, testOnly: false };
    }
    const height = this.#height;
    const open = this.#start;
    const id = this.builder.id();
    const args = this.#arguments();
    this.#grow(height);
    return this.builder.callOrMacro({ type: 'call', id, offset: open, function: name, target: operand, args });
  }

  #index(operand: Expr): Expr {
    const offset = this.#take(TokenType.OPEN_BRACKET);
    const name = this.#skip(TokenType.QUESTION) ? OPTIONAL_INDEX : INDEX;
    const id = this.builder.id();
    const height = this.#height;
    const index = this.#expression();
    this.#take(TokenType.CLOSE_BRACKET);
    this.#grow(height);
    return this.builder.call(id, offset, name, [operand, index]);
  }

  #arguments(): readonly Expr[] {
    this.#take(TokenType.OPEN_PAREN);
    const args: Expr[] = [];
    let height = 0;
    if (this.#type !== TokenType.CLOSE_PAREN) {
      do {
        args.push(this.#expression());
        height = Math.max(height, this.#height);
      } while (this.#skip(TokenType.COMMA));
    }
    this.#take(TokenType.CLOSE_PAREN);
    this.#height = height;
    return args;
  }

  #primary(): Expr {
    this.#height = 0;
    switch (this.#type) {
      case TokenType.DOT:
      case TokenType.IDENTIFIER:
        return this.#name();
      case TokenType.OPEN_PAREN: {
        this.#at++;
        const expr = this.#expression();
        this.#take(TokenType.CLOSE_PAREN);
        return expr;
      }
      case TokenType.OPEN_BRACKET:
        return this.#list();
      case TokenType.OPEN_BRACE:
        return this.#map();
      default:
        return this.#literal();
    }
  }

  /** Parses a variable, a call, or a message literal. */
  #name(): Expr {
    const dot = this.#skip(TokenType.DOT) ? '.' : '';
    if (this.#isMessage()) return this.#message(dot);
    const name = this.#text();
    const offset = this.#take(TokenType.IDENTIFIER);
    if (RESERVED_NAMES.has(name)) throw GIVE_UP;
    if (this.#type !== TokenType.OPEN_PAREN) {
      return { type: 'ident', id: this.builder.id(), offset, name: dot + name };
    }
    const open = this.#start;
    const id = this.builder.id();
    const args = this.#arguments();
    return this.builder.callOrMacro(this.builder.call(id, open, dot + name, args));
  }

  /** Whether the next tokens are `a.b.c{`. */
  #isMessage(): boolean {
    let ahead = 1;
    while (this.#typeAhead(ahead) === TokenType.DOT && this.#typeAhead(ahead + 1) === TokenType.IDENTIFIER) ahead += 2;
    return this.#typeAhead(ahead) === TokenType.OPEN_BRACE;
  }

  #message(dot: string): Expr {
    let name = dot + this.#text();
    this.#take(TokenType.IDENTIFIER);
    while (this.#skip(TokenType.DOT)) {
      name += `.${this.#text()}`;
      this.#take(TokenType.IDENTIFIER);
    }
    const offset = this.#take(TokenType.OPEN_BRACE);
    const id = this.builder.id();
    const fields: StructField[] = [];
    this.#items(TokenType.CLOSE_BRACE, () => {
      const fieldId = this.builder.id();
      const optional = this.#skip(TokenType.QUESTION);
      const field = this.#text();
      this.#take(TokenType.IDENTIFIER);
      const colon = this.#take(TokenType.COLON);
      fields.push({ id: fieldId, offset: colon, name: field, value: this.#expression(), optional });
    });
    return { type: 'struct', id, offset, name, fields };
  }

  #list(): ListExpr {
    const offset = this.#take(TokenType.OPEN_BRACKET);
    const id = this.builder.id();
    const elements: Expr[] = [];
    const optional: number[] = [];
    this.#items(TokenType.CLOSE_BRACKET, () => {
      if (this.#skip(TokenType.QUESTION)) optional.push(elements.length);
      elements.push(this.#expression());
    });
    return { type: 'list', id, offset, elements, optional };
  }

  #map(): Expr {
    const offset = this.#take(TokenType.OPEN_BRACE);
    const id = this.builder.id();
    const entries: MapEntry[] = [];
    this.#items(TokenType.CLOSE_BRACE, () => {
      const entryId = this.builder.id();
      const optional = this.#skip(TokenType.QUESTION);
      const key = this.#expression();
      const height = this.#height;
      const colon = this.#take(TokenType.COLON);
      const value = this.#expression();
      this.#height = Math.max(height, this.#height);
      entries.push({ id: entryId, offset: colon, key, value, optional });
    });
    return { type: 'map', id, offset, entries };
  }

  /** Parses comma-separated items up to `close`. A trailing comma and a single comma are allowed. */
  #items(close: number, readItem: () => void): void {
    let height = 0;
    if (this.#type !== close && this.#type !== TokenType.COMMA) {
      for (;;) {
        readItem();
        height = Math.max(height, this.#height);
        if (this.#type !== TokenType.COMMA || this.#typeAhead(1) === close) break;
        this.#at++;
      }
    }
    this.#skip(TokenType.COMMA);
    this.#take(close);
    this.#height = height;
  }

  #literal(): Expr {
    const offset = this.#start;
    const negative = this.#type === TokenType.MINUS && isNumber(this.#typeAhead(1));
    if (negative) this.#at++;
    const literal = literalOf(this.#type, this.#text(), negative);
    if (literal === undefined || 'error' in literal) throw GIVE_UP;
    this.#at++;
    return this.builder.literal(offset, literal.value);
  }
}

/** Whether the token type has negative literals. */
function isNumber(type: number): boolean {
  return type === TokenType.INT || type === TokenType.FLOAT;
}
