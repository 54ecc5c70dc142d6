/**
 * The syntax tree of a parsed expression. Macros are already expanded into the same node types.
 *
 * `offset` counts code points from the start of the text; nodes created by a macro have the offset of the source text
 * they come from. `id` is unique within an expression and increases in creation order.
 */
import type { CelBytes, CelUint } from './values.js';

export type Expr =
  | LiteralExpr
  | IdentExpr
  | SelectExpr
  | CallExpr
  | ListExpr
  | MapExpr
  | StructExpr
  | ComprehensionExpr;

interface Node {
  readonly id: number;
  readonly offset: number;
}

/** A literal; `bigint` is an int, `number` a double. */
export interface LiteralExpr extends Node {
  readonly type: 'literal';
  readonly value: null | boolean | bigint | CelUint | number | string | CelBytes;
}

export interface IdentExpr extends Node {
  readonly type: 'ident';
  /** Includes the leading dot if the text has one. */
  readonly name: string;
}

/** `operand.field`. `testOnly` marks `has(operand.field)`. */
export interface SelectExpr extends Node {
  readonly type: 'select';
  readonly operand: Expr;
  readonly field: string;
  readonly testOnly: boolean;
}

/** Operators are calls of functions with names such as `_+_`; see `parse/tokens.ts`. */
export interface CallExpr extends Node {
  readonly type: 'call';
  readonly function: string;
  /** The receiver of a member call. */
  readonly target: Expr | undefined;
  readonly args: readonly Expr[];
}

export interface ListExpr extends Node {
  readonly type: 'list';
  readonly elements: readonly Expr[];
  /** Indexes of elements written with `?`. */
  readonly optional: readonly number[];
}

export interface MapExpr extends Node {
  readonly type: 'map';
  readonly entries: readonly MapEntry[];
}

export interface MapEntry extends Node {
  readonly key: Expr;
  readonly value: Expr;
  readonly optional: boolean;
}

/** `name{field: value}`. */
export interface StructExpr extends Node {
  readonly type: 'struct';
  readonly name: string;
  readonly fields: readonly StructField[];
}

export interface StructField extends Node {
  readonly name: string;
  readonly value: Expr;
  readonly optional: boolean;
}

/**
 * A fold over a list or a map. With one variable it iterates over list items or map keys; with two, over index and item
 * or key and value.
 */
export interface ComprehensionExpr extends Node {
  readonly type: 'comprehension';
  readonly range: Expr;
  readonly iterVar: string;
  readonly iterVar2: string | undefined;
  readonly accuVar: string;
  readonly accuInit: Expr;
  readonly loopCondition: Expr;
  readonly loopStep: Expr;
  readonly result: Expr;
}

/** A successfully parsed expression. */
export interface ParsedExpression {
  readonly source: Source;
  readonly expr: Expr;
  /**
   * The original macro call by the id of the node it expands to. Arguments that are macros themselves keep their own
   * ids.
   */
  readonly macroCalls: ReadonlyMap<number, CallExpr>;
}

/** The source text with line and column lookup. */
export interface Source {
  readonly text: string;
  /** One entry per code point, so that offsets are indexes. */
  readonly characters: readonly string[];
  /**
   * Line from 1, column from 0. Offset -1 is before the text: line 1, column -1. A smaller offset means no location
   * (for example, a text that is too long): line -1, column -1.
   */
  locate(offset: number): { readonly line: number; readonly column: number };
  /** A line without its line break; undefined beyond the last line. */
  line(line: number): string | undefined;
}

/** A syntax or type error in an expression. */
export interface CelIssue {
  readonly message: string;
  readonly offset: number;
  /** The node with the error; 0 for syntax errors. Issues are sorted by location, then by id. */
  readonly exprId: number;
}

/** Returns the expression with some nodes, identified by id, replaced. */
export function replaceNodes(expr: Expr, replacements: ReadonlyMap<number, Expr>): Expr {
  return replacements.size === 0 ? expr : replace(expr, replacements);
}

function replace(written: Expr, replacements: ReadonlyMap<number, Expr>): Expr {
  const expr = replacements.get(written.id) ?? written;
  const part = (inner: Expr) => replace(inner, replacements);
  switch (expr.type) {
    case 'literal':
    case 'ident':
      return expr;
    case 'select':
      return { ...expr, operand: part(expr.operand) };
    case 'call':
      return { ...expr, target: expr.target && part(expr.target), args: expr.args.map(part) };
    case 'list':
      return { ...expr, elements: expr.elements.map(part) };
    case 'map':
      return {
        ...expr,
        entries: expr.entries.map((entry) => ({ ...entry, key: part(entry.key), value: part(entry.value) })),
      };
    case 'struct':
      return { ...expr, fields: expr.fields.map((field) => ({ ...field, value: part(field.value) })) };
    case 'comprehension':
      return {
        ...expr,
        range: part(expr.range),
        accuInit: part(expr.accuInit),
        loopCondition: part(expr.loopCondition),
        loopStep: part(expr.loopStep),
        result: part(expr.result),
      };
  }
}

/** The direct subexpressions of a node in source order. */
export function childrenOf(expr: Expr): readonly Expr[] {
  switch (expr.type) {
    case 'literal':
    case 'ident':
      return [];
    case 'select':
      return [expr.operand];
    case 'call':
      return expr.target === undefined ? expr.args : [expr.target, ...expr.args];
    case 'list':
      return expr.elements;
    case 'map':
      return expr.entries.flatMap(({ key, value }) => [key, value]);
    case 'struct':
      return expr.fields.map(({ value }) => value);
    case 'comprehension':
      return [expr.range, expr.accuInit, expr.loopCondition, expr.loopStep, expr.result];
  }
}
