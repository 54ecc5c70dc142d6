/**
 * Cuts YAML 1.1 text into tokens, strictly as the reference server's reader does: what it refuses is refused here, in
 * its words, and what it lets pass is taken as it takes it. `yaml-grammar.ts` makes nodes of the tokens.
 *
 * The hard part are implicit keys. `a: 1` starts like the scalar `a`; only the colon tells that a key, and perhaps a
 * mapping, began two tokens ago. So every place where a key may start is remembered, and a token is handed out only
 * when no such place could still be in front of it.
 */
import { CharacterReader, isAlpha, isBlankOrEnd, isBreak, isBreakOrEnd } from './characters.js';
import { scanBlockScalar, scanDirective, scanPlainScalar, scanQuotedScalar, scanTag } from './scan-parts.js';

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
  /** Where it starts: its offset in the text and its line, counted from 0. */
  readonly offset: number;
  readonly line: number;
  /** A scalar's text, an anchor's or alias' name, a tag behind its handle, a directive's words. */
  readonly text?: string;
  /** Of a tag; empty when there is nothing to expand. */
  readonly handle?: string;
  /** Of a scalar that was not quoted. */
  readonly isPlain?: boolean;
}

/** A place where an implicit key may have started. There is one per flow level at most. */
interface KeyPlace {
  possible: boolean;
  /** Nothing but a key may stand here: it is in line with the other keys of its mapping. */
  required: boolean;
  /** Which token of the stream it would be, and where it stands. */
  readonly token: number;
  readonly offset: number;
  readonly index: number;
  readonly line: number;
  readonly column: number;
}

/** Flow levels and indentations that may be open at once, each. */
const MAX_DEPTH = 10_000;

/** A key and its colon are on one line, within this many characters. */
const MAX_KEY_LENGTH = 1024;

/** Hands out the tokens of a text one by one. Throws {@link YamlFault} when the text cannot go on like this. */
export class Scanner {
  readonly #reader: CharacterReader;
  readonly #queue: Token[] = [];
  #head = 0;
  #taken = 0;
  #ended = false;
  #indent = -1;
  readonly #indents: number[] = [];
  /** The innermost flow level is last; the block context is first. */
  readonly #places: KeyPlace[];
  readonly #placeOfToken = new Map<number, KeyPlace>();
  #keyAllowed = true;

  constructor(text: string, linesBefore = 0) {
    this.#reader = new CharacterReader(text, linesBefore);
    this.#places = [this.#placeHere(false, false)];
  }

  /** The next token, which stays. */
  peek(): Token {
    for (;;) {
      const token = this.#queue[this.#head];
      if (token !== undefined) {
        const place = this.#placeOfToken.get(this.#taken);
        if (place === undefined || !this.#isStillPossible(place)) return token;
      } else if (this.#ended) {
        return this.#tokenHere('stream-end');
      }
      this.#fetch();
    }
  }

  /** The next token, taken off. */
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
    return this.#places.length > 1;
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
      if (!this.#startsPlain(character)) throw reader.fault('found character that cannot start any token');
      this.#fetchPlainScalar();
    }
  }

  /** A token that its first character gives away; false when it does not. */
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

  /** Marks of structure that were not taken for one start a scalar where the text goes on right behind them. */
  #startsPlain(character: string): boolean {
    if (character === '\t') return false;
    if (character === '-') return true;
    if (character === '?' || character === ':') return !this.#inFlow;
    return !'#|>%@`'.includes(character);
  }

  /** White space, comments and line breaks. A tab is white space only where no indentation is expected. */
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

  /** What ends a document ends all its blocks. */
  #leaveBlock(): void {
    this.#closeIndents(-1);
    this.#dropPlace();
    this.#keyAllowed = false;
  }

  #openFlow(type: TokenType): void {
    this.#savePlace();
    this.#places.push(this.#placeHere(false, false));
    if (this.#places.length - 1 > MAX_DEPTH) throw this.#reader.fault(`exceeded max depth of ${MAX_DEPTH}`);
    this.#keyAllowed = true;
    this.#push(type, 1);
  }

  #closeFlow(type: TokenType): void {
    this.#dropPlace();
    // An empty collection gives back the number of its own first token, so that `[]: x` is not seen to be a key.
    if (this.#inFlow) this.#placeOfToken.delete(this.#places.pop()?.token ?? -1);
    this.#keyAllowed = false;
    this.#push(type, 1);
  }

  #fetchFlowEntry(): void {
    this.#dropPlace();
    this.#keyAllowed = true;
    this.#push('flow-entry', 1);
  }

  #fetchBlockEntry(): void {
    if (!this.#inFlow) {
      if (!this.#keyAllowed) throw this.#reader.fault('block sequence entries are not allowed in this context');
      this.#openIndent(this.#tokenHere('block-sequence'));
    }
    this.#dropPlace();
    this.#keyAllowed = true;
    this.#push('block-entry', 1);
  }

  #fetchKey(): void {
    if (!this.#inFlow) {
      if (!this.#keyAllowed) throw this.#reader.fault('mapping keys are not allowed in this context');
      this.#openIndent(this.#tokenHere('block-mapping'));
    }
    this.#dropPlace();
    this.#keyAllowed = !this.#inFlow;
    this.#push('key', 1);
  }

  #fetchValue(): void {
    const place = this.#currentPlace();
    if (this.#isStillPossible(place)) {
      const { offset, line } = place;
      this.#insert({ type: 'key', offset, line }, place.token);
      this.#openIndent({ type: 'block-mapping', offset, line }, place);
      place.possible = false;
      this.#placeOfToken.delete(place.token);
      this.#keyAllowed = false;
    } else {
      if (!this.#inFlow) {
        if (!this.#keyAllowed) throw this.#reader.fault('mapping values are not allowed in this context');
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
        throw reader.fault('did not find expected alphabetic or numeric character');
      }
      return { text: name };
    });
  }

  /** A token that a key may start with. */
  #fetchNode(type: TokenType, scan: () => Partial<Token>): void {
    this.#savePlace();
    this.#keyAllowed = false;
    const start = this.#tokenHere(type);
    this.#queue.push({ ...start, ...scan() });
  }

  #fetchBlockScalar(): void {
    this.#dropPlace();
    this.#keyAllowed = true;
    const start = this.#tokenHere('scalar');
    this.#queue.push({ ...start, text: scanBlockScalar(this.#reader, this.#indent) });
  }

  #fetchPlainScalar(): void {
    this.#savePlace();
    this.#keyAllowed = false;
    const start = this.#tokenHere('scalar');
    const { text, endsAfterBreak } = scanPlainScalar(this.#reader, { indent: this.#indent, inFlow: this.#inFlow });
    this.#queue.push({ ...start, text, isPlain: true });
    if (endsAfterBreak) this.#keyAllowed = true;
  }

  /** A deeper block begins at a column; `key` says that it did so before tokens that are in the queue already. */
  #openIndent(token: Token, key?: KeyPlace): void {
    const column = key?.column ?? this.#reader.column;
    if (this.#inFlow || this.#indent >= column) return;
    this.#indents.push(this.#indent);
    this.#indent = column;
    if (this.#indents.length > MAX_DEPTH) throw this.#reader.fault(`exceeded max depth of ${MAX_DEPTH}`);
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

  #savePlace(): void {
    if (!this.#keyAllowed) return;
    this.#dropPlace();
    const place = this.#placeHere(true, !this.#inFlow && this.#indent === this.#reader.column);
    this.#places[this.#places.length - 1] = place;
    this.#placeOfToken.set(place.token, place);
  }

  #dropPlace(): void {
    const place = this.#currentPlace();
    if (!place.possible) return;
    if (place.required) throw this.#reader.fault("could not find expected ':'");
    place.possible = false;
    this.#placeOfToken.delete(place.token);
  }

  #isStillPossible(place: KeyPlace): boolean {
    if (!place.possible) return false;
    const { line, index } = this.#reader;
    if (place.line >= line && place.index + MAX_KEY_LENGTH >= index) return true;
    if (place.required) throw this.#reader.fault("could not find expected ':'");
    place.possible = false;
    return false;
  }

  #currentPlace(): KeyPlace {
    return this.#places[this.#places.length - 1] ?? this.#placeHere(false, false);
  }

  #placeHere(possible: boolean, required: boolean): KeyPlace {
    const { offset, index, line, column } = this.#reader;
    const token = this.#taken + this.#queue.length - this.#head;
    return { possible, required, token, offset, index, line, column };
  }

  #tokenHere(type: TokenType): Token {
    return { type, offset: this.#reader.offset, line: this.#reader.line };
  }

  /** A token that begins here; the reader is moved on by `length`, which is what most of them are: one character. */
  #push(type: TokenType, length = 0): void {
    this.#queue.push(this.#tokenHere(type));
    this.#reader.skip(length);
  }

  /** Puts a token in front of the one with this number; behind all others when that one was handed out already. */
  #insert(token: Token, number: number): void {
    const at = number - this.#taken;
    if (at < 0) this.#queue.push(token);
    else this.#queue.splice(this.#head + at, 0, token);
  }
}
