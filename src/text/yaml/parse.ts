/**
 * Parses the first document of a YAML text to a node tree, or finds the error for which the reference server rejects
 * it. Text after that document is ignored, even if it is invalid.
 *
 * The parser is a state machine with an explicit stack, so nesting needs no call frames. A state is what is expected
 * next; each step consumes tokens and pushes the following states. Example, `a: [1]`: `mapping-key` consumes the key
 * and its scalar, `mapping-value` the colon and the bracket, `flow-sequence` the contents, and the end of the block
 * returns to `mapping-key`, which is then complete.
 */
import { YamlSyntaxError } from './characters.js';
import { Scanner, type Token, type TokenType } from './scanner.js';

/** A node with its start line (including anchor and tag), counted from 0. */
export type YamlNode = { readonly line: number } & (
  | { readonly kind: 'scalar'; readonly text: string; readonly tag: string; readonly isPlain: boolean }
  | { readonly kind: 'alias'; readonly name: string; readonly target: YamlNode }
  | { readonly kind: 'sequence'; readonly children: YamlNode[] }
  /** Alternating keys and values. */
  | { readonly kind: 'mapping'; readonly children: YamlNode[] }
);

/** The limits of a document; absent: none. */
export interface YamlLimits {
  readonly collections: number;
  readonly nodes: number;
}

/** The document exceeds a limit. */
export class YamlLimitError extends Error {
  override readonly name = 'YamlLimitError';
}

/** Parses the first document; undefined if there is none. Throws {@link YamlSyntaxError} and {@link YamlLimitError}. */
export function parseDocument(text: string, linesBefore = 0, limits?: YamlLimits): YamlNode | undefined {
  return new Parser(text, linesBefore, limits).document();
}

type State =
  | 'block-sequence'
  | 'indentless-sequence'
  | 'mapping-key'
  | 'mapping-value'
  | 'flow-sequence-first'
  | 'flow-sequence'
  | 'pair-key'
  | 'pair-value'
  | 'pair-end'
  | 'flow-mapping-first'
  | 'flow-mapping'
  | 'flow-mapping-value'
  | 'flow-mapping-no-value';

class Parser {
  readonly #tokens: Scanner;
  readonly #expected: State[] = [];
  /** The children of the open collections; the first entry belongs to the document. */
  readonly #open: YamlNode[][] = [[]];
  readonly #anchors = new Map<string, YamlNode>();
  readonly #tagPrefixes = new Map<string, string>();

  readonly #limits: YamlLimits | undefined;
  #collections = 0;
  #nodes = 0;

  constructor(text: string, linesBefore: number, limits: YamlLimits | undefined) {
    this.#tokens = new Scanner(text, linesBefore);
    this.#limits = limits;
  }

  document(): YamlNode | undefined {
    if (this.#isNext('stream-end')) return undefined;
    const isExplicit = this.#documentStart();
    if (isExplicit && DOCUMENT_BOUNDS.has(this.#tokens.peek().type)) this.#addEmpty(this.#tokens.peek());
    else this.#node('block');
    for (let state = this.#expected.pop(); state !== undefined; state = this.#expected.pop()) this.#step(state);
    // The reference server also reads the token after the document and reports its errors.
    this.#tokens.peek();
    return this.#open[0]?.[0];
  }

  /** Reads directives and `---`; returns false if the document starts without them. */
  #documentStart(): boolean {
    const isExplicit = this.#isNext('directive', 'document-start');
    if (isExplicit) {
      this.#directives();
      const start = this.#tokens.peek();
      if (start.type !== 'document-start') throw parserError('did not find expected <document start>', start);
      this.#tokens.take();
    }
    if (!this.#tagPrefixes.has('!')) this.#tagPrefixes.set('!', '!');
    if (!this.#tagPrefixes.has('!!')) this.#tagPrefixes.set('!!', 'tag:yaml.org,2002:');
    return isExplicit;
  }

  #directives(): void {
    let hasVersion = false;
    while (this.#isNext('directive')) {
      const token = this.#tokens.peek();
      const [name, value = '', prefix = ''] = token.text?.split(' ') ?? [];
      if (name === 'TAG') {
        if (this.#tagPrefixes.has(value)) throw parserError('found duplicate %TAG directive', token);
        this.#tagPrefixes.set(value, prefix);
      } else {
        if (hasVersion) throw parserError('found duplicate %YAML directive', token);
        if (value !== '1.1') throw parserError('found incompatible YAML document', token);
        hasVersion = true;
      }
      this.#tokens.take();
    }
  }

  /**
   * Parses a node, or the start of a collection whose contents are then expected. `indentless`: a sequence may be at
   * the indentation of its key.
   */
  #node(context: 'block' | 'indentless' | 'flow'): void {
    const { type, line, text: name = '' } = this.#tokens.peek();
    if (type === 'alias') {
      const target = this.#anchors.get(name);
      if (target === undefined) throw new YamlSyntaxError(`unknown anchor '${name}' referenced`);
      this.#add({ kind: 'alias', name, target, line });
      this.#tokens.take();
      return;
    }
    const { anchor, tag } = this.#properties();
    const token = this.#tokens.peek();
    const rest = restOf(token.type, context);
    if (token.type === 'scalar') {
      const { text = '', isPlain = false } = this.#tokens.take();
      this.#add({ kind: 'scalar', text, tag, isPlain, line }, anchor);
    } else if (rest !== undefined) {
      const children: YamlNode[] = [];
      this.#add({ kind: MAPPINGS.has(rest) ? 'mapping' : 'sequence', children, line }, anchor);
      this.#open.push(children);
      this.#expect(rest);
      if (rest !== 'indentless-sequence') this.#tokens.take();
    } else if (anchor !== '' || tag !== '') {
      // An anchor or tag without content is an empty scalar.
      this.#add({ kind: 'scalar', text: '', tag, isPlain: tag === '', line }, anchor);
    } else {
      throw parserError('did not find expected node content', token);
    }
  }

  /** Reads an anchor and a tag in either order; empty if absent. */
  #properties(): { readonly anchor: string; readonly tag: string } {
    const tokens: Token[] = [];
    while (this.#isNext('anchor', 'tag') && tokens.every(({ type }) => type !== this.#tokens.peek().type)) {
      tokens.push(this.#tokens.take());
    }
    // Resolved after all properties are read without a scanner error.
    let anchor = '';
    let tag = '';
    for (const token of tokens) {
      if (token.type === 'anchor') anchor = token.text ?? '';
      else tag = this.#expandTag(token);
    }
    return { anchor, tag };
  }

  #expandTag(token: Token): string {
    const { handle = '', text = '' } = token;
    if (handle === '') return text;
    const prefix = this.#tagPrefixes.get(handle);
    if (prefix === undefined) throw parserError('found undefined tag handle', token);
    // Longer tags are unknown, and so is what is left of them. A long prefix would be copied for each node.
    return prefix.slice(0, LONGEST_TAG) + text.slice(0, LONGEST_TAG);
  }

  #step(state: State): void {
    switch (state) {
      case 'block-sequence':
      case 'indentless-sequence':
        this.#blockEntry(state);
        break;
      case 'mapping-key':
        this.#mappingKey();
        break;
      case 'mapping-value':
        this.#expect('mapping-key');
        this.#value('indentless', 'key', 'value', 'block-end');
        break;
      case 'flow-sequence-first':
      case 'flow-sequence':
        this.#flowSequenceEntry(state === 'flow-sequence-first');
        break;
      case 'pair-key':
        this.#expect('pair-value');
        if (this.#isNext('value', 'flow-entry', 'flow-sequence-end')) this.#addEmpty(this.#tokens.take());
        else this.#node('flow');
        break;
      case 'pair-value':
        this.#expect('pair-end');
        this.#value('flow', 'flow-entry', 'flow-sequence-end');
        break;
      case 'pair-end':
        this.#open.pop();
        break;
      case 'flow-mapping-first':
      case 'flow-mapping':
        this.#flowMappingEntry(state === 'flow-mapping-first');
        break;
      case 'flow-mapping-value':
        this.#expect('flow-mapping');
        this.#value('flow', 'flow-entry', 'flow-mapping-end');
        break;
      case 'flow-mapping-no-value':
        this.#expect('flow-mapping');
        this.#addEmpty(this.#tokens.peek());
        break;
    }
  }

  /** Parses a colon and a value; the value is empty if there is no colon or one of `ends` follows. */
  #value(context: 'indentless' | 'flow', ...ends: readonly TokenType[]): void {
    const mark = this.#tokens.peek();
    if (this.#takeIf('value') && !this.#isNext(...ends)) this.#node(context);
    else this.#addEmpty(mark);
  }

  #blockEntry(state: 'block-sequence' | 'indentless-sequence'): void {
    const mark = this.#tokens.peek();
    const isIndentless = state === 'indentless-sequence';
    if (this.#takeIf('block-entry')) {
      this.#expect(state);
      const isEmpty = this.#isNext('block-entry', 'block-end') || (isIndentless && this.#isNext('key', 'value'));
      if (isEmpty) this.#addEmpty(mark);
      else this.#node('block');
    } else if (isIndentless || this.#takeIf('block-end')) {
      this.#open.pop();
    } else {
      throw parserError("did not find expected '-' indicator", mark);
    }
  }

  #mappingKey(): void {
    const mark = this.#tokens.peek();
    if (this.#takeIf('key')) {
      this.#expect('mapping-value');
      if (this.#isNext('key', 'value', 'block-end')) this.#addEmpty(mark);
      else this.#node('indentless');
    } else if (this.#takeIf('block-end')) {
      this.#open.pop();
    } else {
      throw parserError('did not find expected key', mark);
    }
  }

  #flowSequenceEntry(isFirst: boolean): void {
    if (!isFirst && !this.#isNext('flow-entry', 'flow-sequence-end')) {
      throw parserError("did not find expected ',' or ']'", this.#tokens.peek());
    }
    if (!isFirst) this.#takeIf('flow-entry');
    const { line } = this.#tokens.peek();
    if (this.#takeIf('flow-sequence-end')) {
      this.#open.pop();
    } else if (this.#takeIf('key')) {
      const children: YamlNode[] = [];
      this.#add({ kind: 'mapping', children, line });
      this.#open.push(children);
      this.#expect('flow-sequence', 'pair-key');
    } else {
      this.#expect('flow-sequence');
      this.#node('flow');
    }
  }

  #flowMappingEntry(isFirst: boolean): void {
    if (!isFirst && !this.#isNext('flow-entry', 'flow-mapping-end')) {
      throw parserError("did not find expected ',' or '}'", this.#tokens.peek());
    }
    if (!isFirst) this.#takeIf('flow-entry');
    if (this.#takeIf('flow-mapping-end')) {
      this.#open.pop();
    } else if (this.#takeIf('key')) {
      this.#expect('flow-mapping-value');
      if (this.#isNext('value', 'flow-entry', 'flow-mapping-end')) this.#addEmpty(this.#tokens.peek());
      else this.#node('flow');
    } else {
      this.#expect('flow-mapping-no-value');
      this.#node('flow');
    }
  }

  #expect(...states: readonly State[]): void {
    this.#expected.push(...states);
  }

  /** An anchor is valid from the start of its node: the node may contain its own alias, which is rejected later. */
  #add(node: YamlNode, anchor = ''): void {
    this.#nodes++;
    if ('children' in node) this.#collections++;
    const limits = this.#limits;
    if (limits !== undefined && (this.#nodes > limits.nodes || this.#collections > limits.collections)) {
      throw new YamlLimitError(`limit is ${limits.collections} objects and lists, and ${limits.nodes} values`);
    }
    if (anchor !== '') this.#anchors.set(anchor, node);
    this.#open[this.#open.length - 1]?.push(node);
  }

  #addEmpty({ line }: Token): void {
    this.#add({ kind: 'scalar', text: '', tag: '', isPlain: true, line });
  }

  #isNext(...types: readonly TokenType[]): boolean {
    return types.includes(this.#tokens.peek().type);
  }

  #takeIf(type: TokenType): boolean {
    const isThere = this.#tokens.peek().type === type;
    if (isThere) this.#tokens.take();
    return isThere;
  }
}

/** The state after a token that opens a collection; undefined if it opens none here. */
function restOf(type: TokenType, context: 'block' | 'indentless' | 'flow'): State | undefined {
  if (type === 'flow-sequence') return 'flow-sequence-first';
  if (type === 'flow-mapping') return 'flow-mapping-first';
  if (type === 'block-entry' && context === 'indentless') return 'indentless-sequence';
  if (context === 'flow') return undefined;
  if (type === 'block-sequence') return 'block-sequence';
  return type === 'block-mapping' ? 'mapping-key' : undefined;
}

/** More than any known tag has. */
const LONGEST_TAG = 64;

const MAPPINGS: ReadonlySet<State> = new Set(['mapping-key', 'flow-mapping-first']);

const DOCUMENT_BOUNDS: ReadonlySet<TokenType> = new Set(['directive', 'document-start', 'document-end', 'stream-end']);

/** A parser error. Its line number is one too small, because the reference server forgets to add one. */
function parserError(problem: string, at: Token): YamlSyntaxError {
  return new YamlSyntaxError(at.line === 0 ? problem : `line ${at.line}: ${problem}`);
}
