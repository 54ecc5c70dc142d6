/**
 * The contract of libraries: function declarations with implementations and costs, macros, and constants. The standard
 * functions of the language are a library, too.
 */
import type {
  CallExpr,
  ComprehensionExpr,
  Expr,
  IdentExpr,
  ListExpr,
  LiteralExpr,
  MapEntry,
  MapExpr,
  SelectExpr,
} from './ast.js';
import type { CelType } from './types.js';
import type { CelValue } from './values.js';

export interface Library {
  readonly name: string;
  readonly functions?: readonly FunctionDeclaration[];
  readonly macros?: readonly Macro[];
  /** Constants available in every expression, such as type names. */
  readonly variables?: Readonly<Record<string, { readonly type: CelType; readonly value: CelValue }>>;
  /**
   * Cost of a call before evaluation; undefined if this library does not know it. A library may answer for functions
   * that another library declares. Operators and the simplest standard functions have fixed costs, except `==` of
   * objects and opaque values.
   */
  readonly estimateCost?: (call: CallToEstimate, sizes: SizeEstimator) => CallEstimate | undefined;
  /** Cost of a call after evaluation; undefined if this library does not know it. */
  readonly actualCost?: (call: EvaluatedCall) => number | undefined;
}

export interface FunctionDeclaration {
  /** `indexOf`, `ip.isCanonical`, `_+_`. */
  readonly name: string;
  readonly overloads: readonly Overload[];
}

export interface Overload {
  /** The overload id of cel-go, such as `string_index_of_string`; costs are looked up by it. */
  readonly id: string;
  /** Whether the first parameter is the receiver: `x.f(y)`. */
  readonly member: boolean;
  readonly params: readonly CelType[];
  readonly result: CelType;
  /**
   * Receives values that match the parameter types. Throws CelError on failure. Absent if the evaluator implements the
   * function itself: logic, the conditional, optional selection.
   */
  readonly call?: (...args: CelValue[]) => CelValue;
}

/** A node as cost estimation sees it. */
export interface NodeToEstimate {
  readonly type: CelType;
  /**
   * The path from a variable, such as `['self', 'items', '@items', 'name']`; empty if there is none. `@items`, `@keys`
   * and `@values` stand for the contents of lists and maps.
   */
  readonly path: readonly string[];
  /** Undefined for implied nodes, such as the items of a list. */
  readonly expr: Expr | undefined;
  /** The size if it follows from how the node is computed. */
  readonly computedSize: SizeEstimate | undefined;
}

/** A range of numbers that saturate at 2^64. */
export interface SizeEstimate {
  readonly min: number;
  readonly max: number;
}

export type CostEstimate = SizeEstimate;

export interface CallToEstimate {
  readonly function: string;
  readonly overload: string;
  readonly target: NodeToEstimate | undefined;
  readonly args: readonly NodeToEstimate[];
}

export interface CallEstimate {
  readonly cost: CostEstimate;
  readonly resultSize?: SizeEstimate;
}

/** Estimates the sizes of inputs, for example from a schema. */
export interface SizeEstimator {
  estimateSize(node: NodeToEstimate): SizeEstimate | undefined;
}

export interface EvaluatedCall {
  readonly function: string;
  readonly overload: string;
  /** The receiver is the first argument. */
  readonly args: readonly CelValue[];
  readonly result: CelValue;
}

/** Rewrites a call at parse time. */
export interface Macro {
  readonly function: string;
  /** Whether the macro applies to calls with a receiver. */
  readonly member: boolean;
  /** The number of arguments; `any` matches calls of that name that no other macro matches. */
  readonly args: number | 'any';
  /** Returns the expansion, or undefined to leave the call unchanged. Reports errors through the context. */
  readonly expand: (context: MacroContext, target: Expr | undefined, args: readonly Expr[]) => Expr | undefined;
}

/**
 * Creates nodes for a macro expansion. Nodes get new ids and, unless they come from the arguments, the offset of the
 * macro call.
 */
export interface MacroContext {
  readonly offset: number;
  literal(value: LiteralExpr['value']): LiteralExpr;
  ident(name: string): IdentExpr;
  /** The name of the accumulator variable of the standard macros. */
  readonly accumulator: string;
  select(operand: Expr, field: string): SelectExpr;
  presence(operand: Expr, field: string): SelectExpr;
  call(name: string, ...args: readonly Expr[]): CallExpr;
  memberCall(name: string, target: Expr, ...args: readonly Expr[]): CallExpr;
  list(...elements: readonly Expr[]): ListExpr;
  map(...entries: readonly MapEntry[]): MapExpr;
  entry(key: Expr, value: Expr, optional: boolean): MapEntry;
  comprehension(parts: Omit<ComprehensionExpr, 'type' | 'id' | 'offset'>): ComprehensionExpr;
  /** Copies a node with new ids, for arguments that are used twice. */
  copy(expr: Expr): Expr;
  /** Reports an error at a node (default: the macro call). The macro then returns undefined. */
  report(message: string, at?: Expr): void;
}
