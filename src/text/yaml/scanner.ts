/**
 * Splits YAML 1.1 text into tokens like the reference server's reader (go-yaml, after libyaml), with the same errors.
 * `parse.ts` builds nodes from the tokens.
 *
 * The difficult part is simple keys (keys without `?`). `a: 1` starts like the scalar `a`; only the colon shows that a
 * key, and perhaps a mapping, started two tokens before. So every position where a key may start is recorded, and a
 * token is returned only if no such position may still precede it.
 */
import { CharacterReader, isAlpha, isBlankOrEnd, isBreak, isBreakOrEnd } from './characters.js';
import { scanBlockScalar, scanDirective, scanPlainScalar, scanQuotedScalar, scanTag } from './token-contents.js';

export type TokenType =
  | 'stream-end'
  | 'directive'
  | 'document-start'
  | 'document-end'
  | 'block-sequence'
  | 'block-mapping'
  | 'block-end'
  | 'flow-sequence'
  | 'flow-sequence-end'
  | 'flow-mapping'
  | 'flow-mapping-end'
  | 'block-entry'
  | 'flow-entry'
  | 'key'
  | 'value'
  | 'alias'
  | 'anchor'
  | 'tag'
  | 'scalar';

export interface Token {
  readonly type: TokenType;
  /** The start offset and line, counted from 0. */
  readonly offset: number;
  readonly line: number;
  /** The text of a scalar, the name of an anchor or alias, the suffix of a tag, the words of a directive. */
  readonly text?: string;
  /** The handle of a tag; empty if there is nothing to expand. */
  readonly handle?: string;
  /** Set for an unquoted scalar. */
  readonly isPlain?: boolean;
}

/** A position where a simple key may start; at most one per flow level. */
interface SimpleKey {
  possible: boolean;
  /** A key is required here, because it is at the indentation of its mapping. */
  required: boolean;
  /** The token number and position of the key. */
  readonly token: number;
  readonly offset: number;
  readonly index: number;
  readonly line: number;
  readonly column: number;
}

/** Maximum number of open flow levels, and of indentations. */
const MAX_DEPTH = 10_000;

/** A simple key and its colon must be on one line, within this many characters. */
const MAX_KEY_LENGTH = 1024;

/** Returns the tokens of a text one by one. Throws {@link YamlSyntaxError} on an error. */
export class Scanner {
  readonly #reader: CharacterReader;
  readonly #queue: Token[] = [];
  #head = 0;
  #taken = 0;
  #ended = false;
  #indent = -1;
  readonly #indents: number[] = [];
  /** One entry per flow level, innermost last; the first is the block context. */
  readonly #simpleKeys: SimpleKey[];
  readonly #simpleKeyByToken = new Map<number, SimpleKey>();
  #keyAllowed = true;

  constructor(text: string, linesBefore = 0) {
    this.#reader = new CharacterReader(text, linesBefore);
    this.#simpleKeys = [this.#simpleKeyHere(false, false)];
  }

  /** Returns the next token without consuming it. */
  peek(): Token {
    for (;;) {
      const token = this.#queue[this.#head];
      if (token !== undefined) {
        const simpleKey = this.#simpleKeyByToken.get(this.#taken);
        if (simpleKey === undefined || !this.#isStillPossible(simpleKey)) return token;
      } else if (this.#ended) {
        return this.#tokenHere('stream-end');
      }
      this.#fetch();
    }
  }

  /** Consumes and returns the next token. */
  take(): Token {
    const token = this.peek();
    this.#head++;
    this.#taken++;
    if (this.#head === this.#queue.length) {
      this.#queue.length = 0;
      this.#head = 0;
    }
    return token;
  }

  get #inFlow(): boolean {
    return this.#simpleKeys.length > 1;
  }

  #fetch(): void {
    const reader = this.#reader;
    this.#skipToToken();
    this.#closeIndents(reader.column);
    const character = reader.peek();
    if (character === '') this.#fetchEnd();
    else if (reader.column === 0 && character === '%') this.#fetchDirective();
    else if (reader.atDocumentMark()) this.#fetchDocumentMark(character === '-' ? 'document-start' : 'document-end');
    else if (!this.#fetchMarked(character)) {
      if (!this.#startsPlain(character)) throw reader.error('found character that cannot start any token');
      this.#fetchPlainScalar();
    }
  }

  /** Fetches a token that its first character determines; returns false if it does not. */
  #fetchMarked(character: string): boolean {
    const reader = this.#reader;
    const beforeBlank = isBlankOrEnd(reader.peek(1));
    switch (character) {
      case '[':
        this.#openFlow('flow-sequence');
        return true;
      case '{':
        this.#openFlow('flow-mapping');
        return true;
      case ']':
        this.#closeFlow('flow-sequence-end');
        return true;
      case '}':
        this.#closeFlow('flow-mapping-end');
        return true;
      case ',':
        this.#fetchFlowEntry();
        return true;
      case '-':
        if (!beforeBlank) return false;
        this.#fetchBlockEntry();
        return true;
      case '?':
        if (!(this.#inFlow || beforeBlank)) return false;
        this.#fetchKey();
        return true;
      case ':':
        if (!(this.#inFlow || beforeBlank)) return false;
        this.#fetchValue();
        return true;
      case '*':
        this.#fetchName('alias');
        return true;
      case '&':
        this.#fetchName('anchor');
        return true;
      case '!':
        this.#fetchNode('tag', () => scanTag(reader));
        return true;
      case '|':
      case '>':
        if (this.#inFlow) return false;
        this.#fetchBlockScalar();
        return true;
      case "'":
      case '"':
        this.#fetchNode('scalar', () => ({ text: scanQuotedScalar(reader) }));
        return true;
      default:
        return false;
    }
  }

  /** Whether a plain scalar may start here. Indicators that are followed by other text start a scalar, too. */
  #startsPlain(character: string): boolean {
    if (character === '\t') return false;
    if (character === '-') return true;
    if (character === '?' || character === ':') return !this.#inFlow;
    return !'#|>%@`'.includes(character);
  }

  /** Skips white space, comments and line breaks. A tab is white space only where no indentation is expected. */
  #skipToToken(): void {
    const reader = this.#reader;
    for (;;) {
      const tabs = this.#inFlow || !this.#keyAllowed;
      while (reader.peek() === ' ' || (tabs && reader.peek() === '\t')) reader.skip();
      if (reader.peek() === '#') while (!isBreakOrEnd(reader.peek())) reader.skip();
      if (!isBreak(reader.peek())) return;
      reader.skip();
      if (!this.#inFlow) this.#keyAllowed = true;
    }
  }

  #fetchEnd(): void {
    this.#reader.endLine();
    this.#leaveBlock();
    this.#push('stream-end');
    this.#ended = true;
  }

  #fetchDirective(): void {
    this.#leaveBlock();
    const start = this.#tokenHere('directive');
    this.#queue.push({ ...start, text: scanDirective(this.#reader) });
  }

  #fetchDocumentMark(type: TokenType): void {
    this.#leaveBlock();
    this.#push(type, 3);
  }

  /** Closes all blocks at the end of a document. */
  #leaveBlock(): void {
    this.#closeIndents(-1);
    this.#removeSimpleKey();
    this.#keyAllowed = false;
  }

  #openFlow(type: TokenType): void {
    this.#saveSimpleKey();
    this.#simpleKeys.push(this.#simpleKeyHere(false, false));
    if (this.#simpleKeys.length - 1 > MAX_DEPTH) throw this.#reader.error(`exceeded max depth of ${MAX_DEPTH}`);
    this.#keyAllowed = true;
    this.#push(type, 1);
  }

  #closeFlow(type: TokenType): void {
    this.#removeSimpleKey();
    // An empty collection releases the number of its first token, so that `[]: x` is not recognized as a key.
    if (this.#inFlow) this.#simpleKeyByToken.delete(this.#simpleKeys.pop()?.token ?? -1);
    this.#keyAllowed = false;
    this.#push(type, 1);
  }

  #fetchFlowEntry(): void {
    this.#removeSimpleKey();
    this.#keyAllowed = true;
    this.#push('flow-entry', 1);
  }

  #fetchBlockEntry(): void {
    if (!this.#inFlow) {
      if (!this.#keyAllowed) throw this.#reader.error('block sequence entries are not allowed in this context');
      this.#openIndent(this.#tokenHere('block-sequence'));
    }
    this.#removeSimpleKey();
    this.#keyAllowed = true;
    this.#push('block-entry', 1);
  }

  #fetchKey(): void {
    if (!this.#inFlow) {
      if (!this.#keyAllowed) throw this.#reader.error('mapping keys are not allowed in this context');
      this.#openIndent(this.#tokenHere('block-mapping'));
    }
    this.#removeSimpleKey();
    this.#keyAllowed = !this.#inFlow;
    this.#push('key', 1);
  }

  #fetchValue(): void {
    const simpleKey = this.#currentSimpleKey();
    if (this.#isStillPossible(simpleKey)) {
      const { offset, line } = simpleKey;
      this.#insert({ type: 'key', offset, line }, simpleKey.token);
      this.#openIndent({ type: 'block-mapping', offset, line }, simpleKey);
      simpleKey.possible = false;
      this.#simpleKeyByToken.delete(simpleKey.token);
      this.#keyAllowed = false;
    } else {
      if (!this.#inFlow) {
        if (!this.#keyAllowed) throw this.#reader.error('mapping values are not allowed in this context');
        this.#openIndent(this.#tokenHere('block-mapping'));
      }
      this.#keyAllowed = !this.#inFlow;
    }
    this.#push('value', 1);
  }

  #fetchName(type: 'alias' | 'anchor'): void {
    this.#fetchNode(type, () => {
      const reader = this.#reader;
      reader.skip();
      const from = reader.offset;
      while (isAlpha(reader.peek())) reader.skip();
      const name = reader.since(from);
      const next = reader.peek();
      if (name === '' || !(isBlankOrEnd(next) || '?:,]}%@`'.includes(next))) {
        throw reader.error('did not find expected alphabetic or numeric character');
      }
      return { text: name };
    });
  }

  /** Fetches a token that may start a key. */
  #fetchNode(type: TokenType, scan: () => { readonly text: string; readonly handle?: string }): void {
    this.#saveSimpleKey();
    this.#keyAllowed = false;
    const { offset, line } = this.#reader;
    const { text, handle } = scan();
    this.#queue.push(handle === undefined ? { type, offset, line, text } : { type, offset, line, text, handle });
  }

  #fetchBlockScalar(): void {
    this.#removeSimpleKey();
    this.#keyAllowed = true;
    const start = this.#tokenHere('scalar');
    this.#queue.push({ ...start, text: scanBlockScalar(this.#reader, this.#indent) });
  }

  #fetchPlainScalar(): void {
    this.#saveSimpleKey();
    this.#keyAllowed = false;
    const { offset, line } = this.#reader;
    const { text, endsAfterBreak } = scanPlainScalar(this.#reader, { indent: this.#indent, inFlow: this.#inFlow });
    this.#queue.push({ type: 'scalar', offset, line, text, isPlain: true });
    if (endsAfterBreak) this.#keyAllowed = true;
  }

  /** Opens a block at a column; `key` is set if the block starts before tokens that are queued already. */
  #openIndent(token: Token, key?: SimpleKey): void {
    const column = key?.column ?? this.#reader.column;
    if (this.#inFlow || this.#indent >= column) return;
    this.#indents.push(this.#indent);
    this.#indent = column;
    if (this.#indents.length > MAX_DEPTH) throw this.#reader.error(`exceeded max depth of ${MAX_DEPTH}`);
    if (key === undefined) this.#queue.push(token);
    else this.#insert(token, key.token);
  }

  #closeIndents(column: number): void {
    if (this.#inFlow) return;
    while (this.#indent > column) {
      this.#push('block-end');
      this.#indent = this.#indents.pop() ?? -1;
    }
  }

  #saveSimpleKey(): void {
    if (!this.#keyAllowed) return;
    this.#removeSimpleKey();
    const simpleKey = this.#simpleKeyHere(true, !this.#inFlow && this.#indent === this.#reader.column);
    this.#simpleKeys[this.#simpleKeys.length - 1] = simpleKey;
    this.#simpleKeyByToken.set(simpleKey.token, simpleKey);
  }

  #removeSimpleKey(): void {
    const simpleKey = this.#currentSimpleKey();
    if (!simpleKey.possible) return;
    if (simpleKey.required) throw this.#reader.error("could not find expected ':'");
    simpleKey.possible = false;
    this.#simpleKeyByToken.delete(simpleKey.token);
  }

  #isStillPossible(simpleKey: SimpleKey): boolean {
    if (!simpleKey.possible) return false;
    const { line, index } = this.#reader;
    if (simpleKey.line >= line && simpleKey.index + MAX_KEY_LENGTH >= index) return true;
    if (simpleKey.required) throw this.#reader.error("could not find expected ':'");
    simpleKey.possible = false;
    return false;
  }

  #currentSimpleKey(): SimpleKey {
    return this.#simpleKeys[this.#simpleKeys.length - 1] ?? this.#simpleKeyHere(false, false);
  }

  #simpleKeyHere(possible: boolean, required: boolean): SimpleKey {
    const { offset, index, line, column } = this.#reader;
    const token = this.#taken + this.#queue.length - this.#head;
    return { possible, required, token, offset, index, line, column };
  }

  #tokenHere(type: TokenType): Token {
    return { type, offset: this.#reader.offset, line: this.#reader.line };
  }

  /** Queues a token that starts here and advances the reader by `length`. */
  #push(type: TokenType, length = 0): void {
    this.#queue.push(this.#tokenHere(type));
    this.#reader.skip(length);
  }

  /** Inserts a token before the one with this number; at the end if that one was consumed already. */
  #insert(token: Token, number: number): void {
    const at = number - this.#taken;
    if (at < 0) this.#queue.push(token);
    else this.#queue.splice(this.#head + at, 0, token);
  }
}
