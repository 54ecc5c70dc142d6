/**
 * Makes a tree of nodes from the tokens of the first document of a text, or finds the fault for which the reference
 * server refuses it. What stands behind that document is never looked at, not even for faults.
 *
 * The grammar is a machine with its own stack, so that depth costs no call frames. A state is what is expected next;
 * each step takes tokens and puts on the stack what must come after them. Worked example, `a: [1]`: `mapping-key` takes
 * the key and its scalar, `mapping-value` the colon and the bracket, `flow-sequence` what is inside, and the end of the
 * block finds `mapping-key` again, which is then done.
 */
import { YamlFault } from './characters.js';
import type { Token, TokenType } from './scanner.js';
import { Scanner } from './scanner.js';

/** A node and the line where it starts, anchor and tag included, counted from 0. */
export type YamlNode = { readonly line: number } & (
  | { readonly kind: 'scalar'; readonly text: string; readonly tag: string; readonly isPlain: boolean }
  | { readonly kind: 'alias'; readonly name: string; readonly target: YamlNode }
  | { readonly kind: 'sequence'; readonly children: YamlNode[] }
  /** Keys and values by turns. */
  | { readonly kind: 'mapping'; readonly children: YamlNode[] }
);

/** The first document; undefined when there is none. Throws {@link YamlFault}. */
export function parseDocument(text: string, linesBefore = 0): YamlNode | undefined {
  return new Grammar(text, linesBefore).document();
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

class Grammar {
  readonly #tokens: Scanner;
  readonly #expected: State[] = [];
  /** The children of the collections that are open; those of the document itself are first. */
  readonly #open: YamlNode[][] = [[]];
  readonly #anchors = new Map<string, YamlNode>();
  readonly #tagPrefixes = new Map<string, string>();

  constructor(text: string, linesBefore: number) {
    this.#tokens = new Scanner(text, linesBefore);
  }

  document(): YamlNode | undefined {
    if (this.#isNext('stream-end')) return undefined;
    const isExplicit = this.#documentStart();
    if (isExplicit && DOCUMENT_BOUNDS.has(this.#tokens.peek().type)) this.#addEmpty(this.#tokens.peek());
    else this.#node('block');
    for (let state = this.#expected.pop(); state !== undefined; state = this.#expected.pop()) this.#step(state);
    // The token behind the document is read too, and with it what is wrong with it.
    this.#tokens.peek();
    return this.#open[0]?.[0];
  }

  /** Directives and `---`; false when the document starts without. */
  #documentStart(): boolean {
    const isExplicit = this.#isNext('directive', 'document-start');
    if (isExplicit) {
      this.#directives();
      const start = this.#tokens.peek();
      if (start.type !== 'document-start') throw fault('did not find expected <document start>', start);
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
        if (this.#tagPrefixes.has(value)) throw fault('found duplicate %TAG directive', token);
        this.#tagPrefixes.set(value, prefix);
      } else {
        if (hasVersion) throw fault('found duplicate %YAML directive', token);
        if (value !== '1.1') throw fault('found incompatible YAML document', token);
        hasVersion = true;
      }
      this.#tokens.take();
    }
  }

  /** A node, or the start of one whose rest is then expected. Indentless: its sequence may be in line with its key. */
  #node(context: 'block' | 'indentless' | 'flow'): void {
    const { type, line, text: name = '' } = this.#tokens.peek();
    if (type === 'alias') {
      const target = this.#anchors.get(name);
      if (target === undefined) throw new YamlFault(`unknown anchor '${name}' referenced`);
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
      // Nothing behind an anchor or a tag is an empty scalar.
      this.#add({ kind: 'scalar', text: '', tag, isPlain: tag === '', line }, anchor);
    } else {
      throw fault('did not find expected node content', token);
    }
  }

  /** An anchor and a tag, in either order, at most one of each; empty when absent. */
  #properties(): { readonly anchor: string; readonly tag: string } {
    const tokens: Token[] = [];
    while (this.#isNext('anchor', 'tag') && tokens.every(({ type }) => type !== this.#tokens.peek().type)) {
      tokens.push(this.#tokens.take());
    }
    // Judged when all that belongs to the node's start has been read without fault.
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
    if (prefix === undefined) throw fault('found undefined tag handle', token);
    return prefix + text;
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

  /** A colon and what follows, or nothing where one of `ends` does; without a colon there is no value either. */
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
      throw fault("did not find expected '-' indicator", mark);
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
      throw fault('did not find expected key', mark);
    }
  }

  #flowSequenceEntry(isFirst: boolean): void {
    if (!isFirst && !this.#isNext('flow-entry', 'flow-sequence-end')) {
      throw fault("did not find expected ',' or ']'", this.#tokens.peek());
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
      throw fault("did not find expected ',' or '}'", this.#tokens.peek());
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

  /** A node is known by its anchor from its start on: it may contain its own alias, which is refused later. */
  #add(node: YamlNode, anchor = ''): void {
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

/** What is expected behind the token that opens a collection; undefined when it opens none here. */
function restOf(type: TokenType, context: 'block' | 'indentless' | 'flow'): State | undefined {
  if (type === 'flow-sequence') return 'flow-sequence-first';
  if (type === 'flow-mapping') return 'flow-mapping-first';
  if (type === 'block-entry' && context === 'indentless') return 'indentless-sequence';
  if (context === 'flow') return undefined;
  if (type === 'block-sequence') return 'block-sequence';
  return type === 'block-mapping' ? 'mapping-key' : undefined;
}

const MAPPINGS: ReadonlySet<State> = new Set(['mapping-key', 'flow-mapping-first']);

const DOCUMENT_BOUNDS: ReadonlySet<TokenType> = new Set(['directive', 'document-start', 'document-end', 'stream-end']);

/** A fault of the grammar names the line before the token's, counted from 1: the reference server forgets to add one. */
function fault(problem: string, at: Token): YamlFault {
  return new YamlFault(at.line === 0 ? problem : `line ${at.line}: ${problem}`);
}
