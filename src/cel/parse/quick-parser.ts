/**
 * The parser for texts without mistakes: one pass, no tree besides the result. It gives up at anything unusual (a
 * mistake, too deep an expression), and the text is then read again by the parser that can say what is wrong.
 */
import type { Expr, ListExpr, MapEntry, StructField } from '../ast.js';
import { literalOf } from './literals.js';
import { balanced, type ChainLink, type NodeBuilder } from './node-builder.js';
import { Scanner } from './scanner.js';
import type { TextSource } from './source.js';
import { MOST_DEPTH } from './source.js';
import {
  CALCULATIONS,
  CONDITIONAL,
  INDEX,
  isHidden,
  LOGICAL_AND,
  LOGICAL_NOT,
  LOGICAL_OR,
  NEGATE,
  OPTIONAL_INDEX,
  OPTIONAL_SELECT,
  RELATIONS,
  RESERVED_NAMES,
  TokenType,
} from './tokens.js';

/** Thrown and caught here only. */
const GIVE_UP = new Error('the text is not for the quick parser');

/** Undefined when the text has mistakes. What `builder` made until then is of no use. */
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
  /** Levels of the part read last that count against the limit on depth. */
  #height = 0;
  /** How often these rules of the grammar are being read at the moment, one inside another. */
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
      if (scanner.type === TokenType.WRONG) throw GIVE_UP;
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

  /** The offset of the token, which must be of this type. */
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

  /** A level around the part read last and one of this height. */
  #grow(other: number): void {
    this.#height = Math.max(this.#height, other) + 1;
    if (this.#height > MOST_DEPTH) throw GIVE_UP;
  }

  #expression(): Expr {
    if (++this.#expressions > MOST_DEPTH) throw GIVE_UP;
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

  /** `a || b || c`, or `a && b && c` in there. */
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
    if (++this.#relations > MOST_DEPTH) throw GIVE_UP;
    let left = this.#calculation(1);
    for (let name = RELATIONS.get(this.#type); name !== undefined; name = RELATIONS.get(this.#type)) {
      const offset = this.#take(this.#type);
      const id = this.builder.id();
      const height = this.#height;
      if (++this.#relations > MOST_DEPTH) throw GIVE_UP;
      const right = this.#calculation(1);
      this.#relations--;
      this.#grow(height);
      left = this.builder.call(id, offset, name, [left, right]);
    }
    this.#relations--;
    return left;
  }

  /** Operators that bind at least as strongly: 1 for sums, 2 for products, 3 for none. */
  #calculation(strength: number): Expr {
    if (++this.#calculations > MOST_DEPTH) throw GIVE_UP;
    let left = this.#unary();
    for (;;) {
      const name = CALCULATIONS.get(this.#type);
      if (name === undefined) break;
      const own = this.#type === TokenType.PLUS || this.#type === TokenType.MINUS ? 1 : 2;
      if (own < strength) break;
      const offset = this.#take(this.#type);
      const id = this.builder.id();
      const height = this.#height;
      const right = this.#calculation(own + 1);
      this.#grow(height);
      left = this.builder.call(id, offset, name, [left, right]);
    }
    this.#calculations--;
    return left;
  }

  #unary(): Expr {
    const sign = this.#type;
    // A minus before a number belongs to it, if it is the only one.
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

  /** A variable, a call, or the name of a message with its fields. */
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

  /** `a.b.c{`. */
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

  /** Up to `close`, with commas between and perhaps one after them; a comma alone is allowed too. */
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
    if (literal === undefined || 'mistake' in literal) throw GIVE_UP;
    this.#at++;
    return this.builder.literal(offset, literal.value);
  }
}

/** Of those that have negative literals. */
function isNumber(type: number): boolean {
  return type === TokenType.INT || type === TokenType.FLOAT;
}
