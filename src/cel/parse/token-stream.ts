/** The tokens of an erroneous text, read on demand. Token recognition errors are reported when the token is read. */
import { Scanner } from './scanner.js';
import type { TextSource } from './source.js';
import { isHidden, TokenType } from './tokens.js';

export interface Token {
  readonly type: number;
  readonly offset: number;
  readonly text: string;
  /** The index among all tokens, including hidden ones; -1 for a token that is not in the text. */
  readonly index: number;
}

export class TokenStream {
  readonly #source: TextSource;
  readonly #scanner: Scanner;
  readonly #report: (message: string, offset: number) => void;
  readonly #all: Token[] = [];
  /** Tokens visible to the parser. */
  readonly #seen: Token[] = [];
  #position = 0;

  constructor(source: TextSource, report: (message: string, offset: number) => void) {
    this.#source = source;
    this.#scanner = new Scanner(source.codes);
    this.#report = report;
  }

  /** The index of the next token among the visible ones. */
  get position(): number {
    return this.#position;
  }

  /** The next token or one further ahead. At the end of input it keeps returning the end token. */
  token(ahead = 0): Token {
    while (this.#seen.length <= this.#position + ahead && this.#seen.at(-1)?.type !== TokenType.END) this.#read();
    const token = this.#seen[this.#position + ahead] ?? this.#seen.at(-1);
    if (token === undefined) throw new Error('the token stream has no end token');
    return token;
  }

  previous(): Token | undefined {
    return this.#seen[this.#position - 1];
  }

  typeAhead(count: number): number {
    return this.token(count).type;
  }

  /** Consumes a token other than the end and reads the next one immediately. */
  consume(): void {
    if (this.token().type !== TokenType.END) this.#position++;
    this.token();
  }

  /** The text from one token to another, without invalid characters. */
  textBetween(first: Token, last: Token): string {
    return this.#all
      .slice(first.index, last.index + 1)
      .filter(({ type }) => type !== TokenType.END)
      .map(({ text }) => text)
      .join('');
  }

  #read(): void {
    const scanner = this.#scanner;
    const offset = scanner.end;
    scanner.scan(offset);
    const text = this.#source.slice(offset, scanner.end);
    if (scanner.type === TokenType.INVALID) {
      this.#report(`token recognition error at: '${text}'`, offset);
      return;
    }
    const end = scanner.type === TokenType.END;
    const token = { type: scanner.type, offset, text: end ? '<EOF>' : text, index: this.#all.length };
    this.#all.push(token);
    if (!isHidden(token.type)) this.#seen.push(token);
  }
}
