/**
 * The syntax of the playground's shell: a small part of POSIX sh. Pipes, input redirection and background jobs are
 * rejected with an error.
 */

/** Text, a variable, or a script whose output is inserted. */
export type WordPart = string | { readonly variable: string } | { readonly script: string };

export interface Word {
  readonly parts: readonly WordPart[];
  /** Contains no quotes, so it can be a keyword. */
  readonly isPlain: boolean;
}

export interface Redirect {
  readonly path: Word;
  readonly isAppended: boolean;
}

export type Statement =
  | { readonly type: 'command'; readonly words: readonly Word[]; readonly redirect?: Redirect }
  | { readonly type: 'loop'; readonly condition: List; readonly body: List; readonly isUntil: boolean }
  | { readonly type: 'if'; readonly condition: List; readonly body: List; readonly otherwise: List };

/** Statements, each with the operator before it: `;`, `&&` or `||`. */
export type List = readonly { readonly operator: string; readonly statement: Statement }[];

export class SyntaxProblem extends Error {}

type Token = Word | string;

/** Longer operators come first. */
const OPERATORS = ['&&', '||', '>>', '>', ';', '|', '&', '<', '(', ')'];
const SEPARATORS = new Set([';', '&&', '||']);

/** Parses a script. Throws SyntaxProblem. */
export function parseScript(script: string): List {
  const parser = new Parser(tokensOf(script));
  const list = parser.list([]);
  parser.expectEnd();
  return list;
}

class Parser {
  readonly #tokens: readonly Token[];
  #at = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  /** Statements up to one of the keywords, or up to the end. */
  list(ends: readonly string[]): List {
    const list: { operator: string; statement: Statement }[] = [];
    let operator = ';';
    for (;;) {
      while (this.#token === ';') this.#at++;
      if (this.#token === undefined || ends.includes(this.#keyword)) return list;
      list.push({ operator, statement: this.#statement() });
      const next = this.#token;
      if (typeof next === 'string' && SEPARATORS.has(next)) {
        operator = next;
        this.#at++;
      } else operator = ';';
    }
  }

  expectEnd(): void {
    if (this.#token !== undefined) throw this.#unexpected();
  }

  get #token(): Token | undefined {
    return this.#tokens[this.#at];
  }

  /** The current token if it can be a keyword. */
  get #keyword(): string {
    const token = this.#token;
    if (token === undefined || typeof token === 'string' || !token.isPlain || token.parts.length !== 1) return '';
    const [part] = token.parts;
    return typeof part === 'string' ? part : '';
  }

  #statement(): Statement {
    const keyword = this.#keyword;
    if (keyword === 'while' || keyword === 'until') {
      this.#at++;
      const condition = this.list(['do']);
      this.#expect('do');
      const body = this.list(['done']);
      this.#expect('done');
      return { type: 'loop', condition, body, isUntil: keyword === 'until' };
    }
    if (keyword === 'if') {
      this.#at++;
      const condition = this.list(['then']);
      this.#expect('then');
      const body = this.list(['else', 'fi']);
      const otherwise = this.#accept('else') ? this.list(['fi']) : [];
      this.#expect('fi');
      return { type: 'if', condition, body, otherwise };
    }
    return this.#command();
  }

  #command(): Statement {
    const words: Word[] = [];
    let redirect: Redirect | undefined;
    for (let token = this.#token; token !== undefined; token = this.#token) {
      if (typeof token !== 'string') words.push(token);
      else if (token === '>' || token === '>>') {
        const path = this.#tokens[++this.#at];
        if (path === undefined || typeof path === 'string') throw this.#unexpected();
        redirect = { path, isAppended: token === '>>' };
      } else break;
      this.#at++;
    }
    if (words.length === 0) throw this.#unexpected();
    return redirect === undefined ? { type: 'command', words } : { type: 'command', words, redirect };
  }

  #accept(keyword: string): boolean {
    if (this.#keyword !== keyword) return false;
    this.#at++;
    return true;
  }

  #expect(keyword: string): void {
    if (!this.#accept(keyword)) throw this.#unexpected(`, "${keyword}" expected`);
  }

  #unexpected(hint = ''): SyntaxProblem {
    const token = this.#token;
    const text = token === undefined ? 'end of the line' : typeof token === 'string' ? `"${token}"` : 'word';
    return new SyntaxProblem(`syntax error: unexpected ${text}${hint}`);
  }
}

function tokensOf(script: string): readonly Token[] {
  const tokens: Token[] = [];
  let parts: WordPart[] | undefined;
  let isPlain = true;
  let quote = '';
  const add = (part: WordPart): void => {
    parts ??= [];
    const last = parts.at(-1);
    if (typeof part === 'string' && typeof last === 'string') parts[parts.length - 1] = last + part;
    else parts.push(part);
  };
  const endWord = (): void => {
    if (parts !== undefined) tokens.push({ parts, isPlain });
    parts = undefined;
    isPlain = true;
  };
  for (let at = 0; at < script.length; at++) {
    const character = script[at] as string;
    const operator = quote === '' ? OPERATORS.find((each) => script.startsWith(each, at)) : undefined;
    if (character === quote) quote = '';
    else if (quote === "'") add(character);
    else if (character === '$') {
      const { part, length } = expansionAt(script, at);
      add(part);
      at += length - 1;
    } else if (character === '\\' && (quote === '' || /["\\$`]/.test(script[at + 1] ?? ''))) add(script[++at] ?? '');
    else if (quote === '"') add(character);
    else if (character === '"' || character === "'") {
      quote = character;
      parts ??= [];
      isPlain = false;
    } else if (character === '#' && parts === undefined) {
      while (at + 1 < script.length && script[at + 1] !== '\n') at++;
    } else if (/\s/.test(character)) {
      endWord();
      if (character === '\n') tokens.push(';');
    } else if (operator !== undefined) {
      endWord();
      tokens.push(operator);
      at += operator.length - 1;
    } else add(character);
  }
  if (quote !== '') throw new SyntaxProblem('syntax error: unterminated quoted string');
  endWord();
  return tokens;
}

/** `$NAME`, `${NAME}`, `$?` or `$(script)`; any other `$` is text. */
function expansionAt(script: string, at: number): { readonly part: WordPart; readonly length: number } {
  const rest = script.slice(at);
  const [all, braced, bare] = /^\$(?:\{(\w+)\}|(\w+|\?))/.exec(rest) ?? [];
  const variable = braced ?? bare;
  if (all !== undefined && variable !== undefined) return { part: { variable }, length: all.length };
  if (!rest.startsWith('$(')) return { part: '$', length: 1 };
  let depth = 0;
  for (let end = 1; end < rest.length; end++) {
    if (rest[end] === '(') depth++;
    if (rest[end] === ')' && --depth === 0) return { part: { script: rest.slice(2, end) }, length: end + 1 };
  }
  throw new SyntaxProblem('syntax error: unterminated $(');
}
