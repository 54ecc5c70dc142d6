/**
 * Converts the tree of a text to nodes. Parts that are missing because of an error become placeholders, so that errors
 * beyond syntax are found as well: reserved names, invalid literals and macros with invalid arguments.
 */
import type { Expr, MapEntry, StructField } from '../ast.js';
import { LEFT } from './grammar.js';
import { literalOf } from './literals.js';
import { balanced, type NodeBuilder, type ReportError } from './node-builder.js';
import type { Tree } from './recovering-parser.js';
import { MAX_DEPTH, NO_LOCATION } from './source.js';
import type { Token } from './token-stream.js';
import {
  ARITHMETIC_FUNCTIONS,
  CONDITIONAL,
  INDEX,
  LOGICAL_AND,
  LOGICAL_NOT,
  LOGICAL_OR,
  NEGATE,
  OPTIONAL_INDEX,
  OPTIONAL_SELECT,
  RELATION_FUNCTIONS,
  RESERVED_NAMES,
} from './tokens.js';

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
        return this.#deeper(() => this.#operation(part, CONDITIONAL, 'e', 'e1', 'e2'));
      case 'relation':
        return this.#deeper(() => this.#operation(part, functionOf(part, RELATION_FUNCTIONS), LEFT, 'right'));
      case 'calc':
        return this.#deeper(() => this.#operation(part, functionOf(part, ARITHMETIC_FUNCTIONS), LEFT, 'right'));
      case 'index':
        return this.#deeper(() => this.#operation(part, has(part, 'opt') ? OPTIONAL_INDEX : INDEX, LEFT, 'index'));
      case 'conditionalOr':
        return this.#chain(part, LOGICAL_OR);
      case 'conditionalAnd':
        return this.#chain(part, LOGICAL_AND);
      case 'logicalNot':
        return this.#sign(part, LOGICAL_NOT);
      case 'negate':
        return this.#sign(part, NEGATE);
      case 'select':
        return this.#deeper(() => this.#select(part));
      case 'memberCall':
        return this.#deeper(() => this.#call(part, this.read(treeAt(part, LEFT)), tokenAt(part, 'open')));
      case 'ident':
        return this.#ident(part);
      case 'globalCall':
        return this.#call(part, undefined, tokenAt(part, 'op'));
      case 'createList':
        return this.#list(part);
      case 'createMap':
        return this.#map(part);
      case 'createMessage':
        return this.#message(part);
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

  #placeholder(part: Tree): Expr {
    return this.#builder.placeholder(part.start.offset);
  }

  #reportError(part: Tree, message: string): Expr {
    const placeholder = this.#placeholder(part);
    this.#options.report(message, placeholder.offset);
    return placeholder;
  }

  /** An operator gets its id after its first operand. */
  #operation(part: Tree, name: string, first: string, ...others: readonly string[]): Expr {
    const left = this.read(treeAt(part, first));
    const id = this.#builder.id();
    const args = [left, ...others.map((label) => this.read(treeAt(part, label)))];
    return this.#builder.call(id, operatorOffset(part), name, args);
  }

  /** `a || b || c` or `a && b && c`. */
  #chain(part: Tree, name: string): Expr {
    const terms = [this.read(treeAt(part, 'e'))];
    const operands = treesAt(part, 'e1');
    const links = tokensAt(part, 'ops').map(({ offset }, index) => {
      terms.push(this.read(operands[index]));
      return { id: this.#builder.id(), offset };
    });
    return balanced(name, terms, links);
  }

  /** Two equal signs cancel each other out. */
  #sign(part: Tree, name: string): Expr {
    const [first, ...more] = tokensAt(part, 'ops');
    if (first === undefined || more.length % 2 === 1) return this.read(treeAt(part, 'member'));
    const id = this.#builder.id();
    return this.#builder.call(id, first.offset, name, [this.read(treeAt(part, 'member'))]);
  }

  #select(part: Tree): Expr {
    const operand = this.read(treeAt(part, LEFT));
    const name = treeAt(part, 'id');
    const operator = tokenAt(part, 'op');
    if (name === undefined || operator === undefined) return this.#placeholder(part);
    const { offset } = operator;
    const error = nameError(name);
    if (error !== undefined) this.#reportError(name, error);
    const field = error === undefined ? (tokenAt(name, 'id')?.text ?? '') : '';
    if (has(part, 'opt')) {
      const key = this.#builder.literal(name.start.offset, field);
      return this.#builder.call(this.#builder.id(), offset, OPTIONAL_SELECT, [operand, key]);
    }
    return { type: 'select', id: this.#builder.id(), offset, operand, field, testOnly: false };
  }

  #ident(part: Tree): Expr {
    const name = tokenAt(part, 'id');
    if (name === undefined) return this.#placeholder(part);
    if (RESERVED_NAMES.has(name.text)) return this.#reportError(part, `reserved identifier: ${name.text}`);
    return { type: 'ident', id: this.#builder.id(), offset: name.offset, name: leadingDot(part) + name.text };
  }

  #call(part: Tree, target: Expr | undefined, open: Token | undefined): Expr {
    const name = tokenAt(part, 'id');
    if (name === undefined) return this.#placeholder(part);
    if (target === undefined && RESERVED_NAMES.has(name.text)) {
      return this.#reportError(part, `reserved identifier: ${name.text}`);
    }
    const id = this.#builder.id();
    const args = treesAt(treeAt(part, 'args'), 'e').map((arg) => this.read(arg));
    const offset = open?.offset ?? NO_LOCATION;
    const call = this.#builder.call(id, offset, leadingDot(part) + name.text, args);
    return this.#builder.callOrMacro(target === undefined ? call : { ...call, target });
  }

  #list(part: Tree): Expr {
    const id = this.#builder.id();
    const items = treesAt(treeAt(part, 'elems'), 'elems');
    const elements = items.map((item) => this.read(treeAt(item, 'e')));
    const optional = [...items.keys()].filter((index) => has(items[index], 'opt'));
    return { type: 'list', id, offset: operatorOffset(part), elements, optional };
  }

  #map(part: Tree): Expr {
    const id = this.#builder.id();
    const entries: MapEntry[] = [];
    for (const { name, colon, value } of pairsOf(treeAt(part, 'entries'), 'keys')) {
      const entryId = this.#builder.id();
      const key = this.read(treeAt(name, 'e'));
      const optional = has(name, 'opt');
      entries.push({ id: entryId, offset: colon.offset, key, value: this.read(value), optional });
    }
    return { type: 'map', id, offset: operatorOffset(part), entries };
  }

  #message(part: Tree): Expr {
    const id = this.#builder.id();
    const list = treeAt(part, 'entries');
    const fields: StructField[] = [];
    for (const { name, colon, value } of pairsOf(list, 'fields')) {
      const fieldId = this.#builder.id();
      const ident = treeAt(name, 'ident');
      const error = nameError(ident);
      if (error !== undefined) this.#reportError(list ?? part, error);
      else {
        const optional = has(name, 'opt');
        const text = tokenAt(ident, 'id')?.text ?? '';
        fields.push({ id: fieldId, offset: colon.offset, name: text, value: this.read(value), optional });
      }
    }
    const names = tokensAt(part, 'ids').map(({ text }) => text);
    return { type: 'struct', id, offset: operatorOffset(part), name: leadingDot(part) + names.join('.'), fields };
  }

  #literal(part: Tree): Expr {
    const token = tokenAt(part, 'tok');
    if (token === undefined) return this.#builder.placeholder(BEFORE_TEXT);
    const literal = literalOf(token.type, token.text, has(part, 'sign'));
    if (literal === undefined) return this.#placeholder(part);
    if ('error' in literal) return this.#reportError(part, literal.error);
    return this.#builder.literal(part.start.offset, literal.value);
  }
}

/** The entries of a map or message up to the first incomplete one. */
function pairsOf(list: Tree | undefined, label: 'keys' | 'fields') {
  const names = treesAt(list, label);
  const values = treesAt(list, 'values');
  return tokensAt(list, 'cols').flatMap((colon, index) => {
    const [name, value] = [names[index], values[index]];
    return name === undefined || value === undefined ? [] : [{ name, colon, value }];
  });
}

/** The function of the operator; empty if the operator is missing. */
function functionOf(part: Tree, functions: ReadonlyMap<number, string>): string {
  return functions.get(tokenAt(part, 'op')?.type ?? -1) ?? '';
}

function operatorOffset(part: Tree): number {
  return (tokenAt(part, 'op') ?? part.start).offset;
}

function leadingDot(part: Tree): string {
  return has(part, 'leadingDot') ? '.' : '';
}

/** Skips the levels that contain a single part. */
function innermost(tree: Tree | undefined): Tree | undefined {
  let part = tree;
  for (;;) {
    const inner = part === undefined ? undefined : PASSED[part.kind];
    if (part === undefined || inner === undefined || has(part, inner.unless)) return part;
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

function partAt(tree: Tree | undefined, label: string): Token | Tree | undefined {
  let part = tree?.lastPart;
  while (part !== undefined && part.label !== label) part = part.before;
  return part?.content;
}

function partsAt(tree: Tree | undefined, label: string): readonly (Token | Tree)[] {
  const parts: (Token | Tree)[] = [];
  for (let part = tree?.lastPart; part !== undefined; part = part.before) {
    if (part.label === label) parts.push(part.content);
  }
  return parts.reverse();
}

function has(tree: Tree | undefined, label: string): boolean {
  return partAt(tree, label) !== undefined;
}

function treesAt(tree: Tree | undefined, label: string): readonly Tree[] {
  return partsAt(tree, label).filter((part) => 'rule' in part);
}

function treeAt(tree: Tree | undefined, label: string): Tree | undefined {
  const part = partAt(tree, label);
  return part !== undefined && 'rule' in part ? part : undefined;
}

function tokensAt(tree: Tree | undefined, label: string): readonly Token[] {
  return partsAt(tree, label).filter((part) => 'text' in part);
}

function tokenAt(tree: Tree | undefined, label: string): Token | undefined {
  const part = partAt(tree, label);
  return part !== undefined && 'text' in part ? part : undefined;
}
