/**
 * Converts the tree of an erroneous text as far as possible, to report errors beyond syntax: reserved names, invalid
 * literals and macros with reportError arguments. The created nodes are discarded.
 */
import type { Expr } from '../ast.js';
import { LEFT } from './grammar.js';
import { literalOf } from './literals.js';
import type { NodeBuilder, ReportError } from './node-builder.js';
import type { Tree } from './recovering-parser.js';
import { MAX_DEPTH, NO_LOCATION } from './source.js';
import type { Token } from './token-stream.js';
import { RESERVED_NAMES } from './tokens.js';

/** The offset of missing parts. */
const BEFORE_TEXT = -1;

export interface TreeReaderOptions {
  readonly report: ReportError;
  /** Reports an error without a location and stops. */
  readonly stop: (message: string) => never;
}

export class TreeReader {
  readonly #builder: NodeBuilder;
  readonly #options: TreeReaderOptions;
  #depth = 0;

  constructor(builder: NodeBuilder, options: TreeReaderOptions) {
    this.#builder = builder;
    this.#options = options;
  }

  read(tree: Tree | undefined): Expr {
    const part = innermost(tree);
    if (part === undefined) return this.#builder.placeholder(BEFORE_TEXT);
    switch (part.kind) {
      case 'start':
        return this.read(treeAt(part, 'e'));
      case 'expr':
        return this.#deeper(() => this.#operation(part, ['e', 'e1', 'e2'], tokenAt(part, 'op')));
      case 'relation':
      case 'calc':
        return this.#deeper(() => this.#operation(part, [LEFT, 'right'], tokenAt(part, 'op')));
      case 'conditionalOr':
      case 'conditionalAnd':
        return this.#operation(part, ['e', 'e1'], middleToken(part, 'ops'));
      case 'logicalNot':
      case 'negate':
        if (partsAt(part, 'ops').length % 2 === 0) return this.read(treeAt(part, 'member'));
        return this.#operation(part, ['member'], tokenAt(part, 'ops'));
      case 'select':
        return this.#deeper(() => this.#select(part));
      case 'memberCall':
        return this.#deeper(() => this.#call(part, this.read(treeAt(part, LEFT)), tokenAt(part, 'open')));
      case 'index':
        return this.#deeper(() => this.#operation(part, [LEFT, 'index'], tokenAt(part, 'op')));
      case 'ident':
        return this.#ident(part);
      case 'globalCall':
        return this.#call(part, undefined, tokenAt(part, 'op'));
      case 'createList':
        this.#elements(treeAt(part, 'elems'));
        return this.#placeholder(part, tokenAt(part, 'op'));
      case 'createMap':
        this.#entries(treeAt(part, 'entries'));
        return this.#placeholder(part, tokenAt(part, 'op'));
      case 'createMessage':
        this.#fields(treeAt(part, 'entries'));
        return this.#placeholder(part, tokenAt(part, 'op'));
      case 'unary':
        return this.#placeholder(part);
      default:
        return this.#literal(part);
    }
  }

  #deeper(read: () => Expr): Expr {
    if (++this.#depth > MAX_DEPTH) this.#options.stop('max recursion depth exceeded');
    const expr = read();
    this.#depth--;
    return expr;
  }

  #placeholder(part: Tree, at: Token | undefined = part.start): Expr {
    return this.#builder.placeholder(at.offset);
  }

  #reportError(part: Tree, message: string): Expr {
    const placeholder = this.#placeholder(part);
    this.#options.report(message, placeholder.offset, placeholder.id);
    return placeholder;
  }

  /** The result of an operation is not used, but macros read the locations of their arguments. */
  #operation(part: Tree, labels: readonly string[], operator: Token | undefined): Expr {
    for (const label of labels) {
      const operands = treesAt(part, label);
      for (const operand of operands) this.read(operand);
      if (operands.length === 0) this.read(undefined);
    }
    return this.#placeholder(part, operator);
  }

  #select(part: Tree): Expr {
    const operand = this.read(treeAt(part, LEFT));
    const name = treeAt(part, 'id');
    const operator = tokenAt(part, 'op');
    if (name === undefined || operator === undefined) return this.#placeholder(part);
    const error = nameError(name);
    if (error !== undefined) this.#reportError(name, error);
    if (part.parts.has('opt')) return this.#placeholder(part, operator);
    const field = error === undefined ? (tokenAt(name, 'id')?.text ?? '') : '';
    return { type: 'select', id: this.#builder.id(), offset: operator.offset, operand, field, testOnly: false };
  }

  #ident(part: Tree): Expr {
    const name = tokenAt(part, 'id');
    if (name === undefined) return this.#placeholder(part);
    if (RESERVED_NAMES.has(name.text)) return this.#reportError(part, `reserved identifier: ${name.text}`);
    const dot = part.parts.has('leadingDot') ? '.' : '';
    return { type: 'ident', id: this.#builder.id(), offset: name.offset, name: dot + name.text };
  }

  #call(part: Tree, target: Expr | undefined, open: Token | undefined): Expr {
    const name = tokenAt(part, 'id');
    if (name === undefined) return this.#placeholder(part);
    if (target === undefined && RESERVED_NAMES.has(name.text)) {
      return this.#reportError(part, `reserved identifier: ${name.text}`);
    }
    const dot = part.parts.has('leadingDot') ? '.' : '';
    const id = this.#builder.id();
    const args = treesAt(treeAt(part, 'args'), 'e').map((arg) => this.read(arg));
    const offset = open?.offset ?? NO_LOCATION;
    return this.#builder.callOrMacro({ type: 'call', id, offset, function: dot + name.text, target, args });
  }

  #elements(list: Tree | undefined): void {
    for (const element of treesAt(list, 'elems')) this.read(treeAt(element, 'e'));
  }

  #entries(list: Tree | undefined): void {
    const keys = treesAt(list, 'keys');
    const values = treesAt(list, 'values');
    for (const index of partsAt(list, 'cols').keys()) {
      if (index >= keys.length || index >= values.length) return;
      this.read(treeAt(keys[index], 'e'));
      this.read(values[index]);
    }
  }

  #fields(list: Tree | undefined): void {
    if (list === undefined) return;
    const values = treesAt(list, 'values');
    const colons = partsAt(list, 'cols');
    for (const [index, field] of treesAt(list, 'fields').entries()) {
      if (index >= colons.length || index >= values.length) return;
      const error = nameError(treeAt(field, 'ident'));
      if (error !== undefined) this.#reportError(list, error);
      else this.read(values[index]);
    }
  }

  #literal(part: Tree): Expr {
    const token = tokenAt(part, 'tok');
    if (token === undefined) return this.#builder.placeholder(BEFORE_TEXT);
    const literal = literalOf(token.type, token.text, part.parts.has('sign'));
    if (literal !== undefined && 'error' in literal) this.#reportError(part, literal.error);
    return this.#placeholder(part);
  }
}

/** Skips the levels that contain a single part. */
function innermost(tree: Tree | undefined): Tree | undefined {
  let part = tree;
  for (;;) {
    const inner = part === undefined ? undefined : PASSED[part.kind];
    if (part === undefined || inner === undefined || part.parts.has(inner.unless)) return part;
    part = treeAt(part, inner.label);
  }
}

/** Levels that contain a single part unless they have an operator. */
const PASSED: Readonly<Record<string, { readonly label: string; readonly unless: string }>> = {
  expr: { label: 'e', unless: 'op' },
  conditionalOr: { label: 'e', unless: 'ops' },
  conditionalAnd: { label: 'e', unless: 'ops' },
  relation: { label: 'calc', unless: 'op' },
  calc: { label: 'unary', unless: 'op' },
  memberExpr: { label: 'member', unless: '' },
  member: { label: 'primary', unless: '' },
  nested: { label: 'e', unless: '' },
  constantLiteral: { label: 'literal', unless: '' },
};

/** The API server does not enable names in backticks. */
function nameError(name: Tree | undefined): string | undefined {
  if (name?.kind === 'simpleIdentifier') return undefined;
  return name?.kind === 'escapedIdentifier' ? "unsupported syntax: '`'" : 'unsupported ident kind';
}

function partsAt(tree: Tree | undefined, label: string): readonly (Token | Tree)[] {
  const part = tree?.parts.get(label);
  if (part === undefined) return [];
  return Array.isArray(part) ? part : [part];
}

function treesAt(tree: Tree | undefined, label: string): readonly Tree[] {
  return partsAt(tree, label).filter((part) => 'parts' in part);
}

function treeAt(tree: Tree | undefined, label: string): Tree | undefined {
  return treesAt(tree, label)[0];
}

function tokenAt(tree: Tree, label: string, index = 0): Token | undefined {
  const part = partsAt(tree, label)[index];
  return part === undefined || 'parts' in part ? undefined : part;
}

/** The operator that becomes the root of a balanced chain. */
function middleToken(tree: Tree, label: string): Token | undefined {
  return tokenAt(tree, label, Math.floor(partsAt(tree, label).length / 2));
}
