/**
 * The contract of libraries: functions with their types, what they do, what they cost, and macros. The standard
 * functions of the language are such a library too.
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
  /** Variables every expression has, such as names of types. */
  readonly variables?: Readonly<Record<string, { readonly type: CelType; readonly value: CelValue }>>;
  /**
   * Of calls that this library knows the price of, whoever declared the function. Asked before the default; the price of
   * operators and of the plainest standard functions is fixed, but for `==` of objects and opaque values.
   */
  readonly estimate?: (call: CallToEstimate, sizes: Sizes) => CallEstimate | undefined;
  readonly price?: (call: PricedCall) => number | undefined;
}

export interface FunctionDeclaration {
  /** `indexOf`, `ip.isCanonical`, `_+_`. */
  readonly name: string;
  readonly overloads: readonly Overload[];
}

export interface Overload {
  /** As the reference names it, such as `string_index_of_string`: costs are looked up by it. */
  readonly id: string;
  /** The first parameter is the receiver, `x.f(y)`. */
  readonly member: boolean;
  readonly params: readonly CelType[];
  readonly result: CelType;
  /**
   * Gets values that fit the parameters. Failures are thrown as CelError. Absent for what the evaluator does itself:
   * logic, the conditional, optional selection.
   */
  readonly call?: (...args: CelValue[]) => CelValue;
}

/** A part of an expression as cost estimation sees it. */
export interface NodeToEstimate {
  readonly type: CelType;
  /** How it is reached from a variable: `['self', 'items', '@items', 'name']`; empty when it is not. `@items`, `@keys`, `@values` stand for what lists and maps hold. */
  readonly path: readonly string[];
  /** Absent for parts that are only imagined, such as the items of a list. */
  readonly expr: Expr | undefined;
  /** Known from the way it is computed. */
  readonly computedSize: SizeEstimate | undefined;
}

/** Numbers up to 2^64, where they saturate. */
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

/** Sizes of inputs, known from a schema. */
export interface Sizes {
  estimateSize(node: NodeToEstimate): SizeEstimate | undefined;
}

export interface PricedCall {
  readonly function: string;
  readonly overload: string;
  /** The receiver first. */
  readonly args: readonly CelValue[];
  readonly result: CelValue;
}

/** Writes a call as something else, before it is checked. */
export interface Macro {
  readonly function: string;
  /** Called with a receiver. */
  readonly member: boolean;
  /** How many arguments; `any` for all calls of the name that no other macro takes. */
  readonly args: number | 'any';
  /** Undefined leaves the call as it is. Mistakes are reported through the context. */
  readonly expand: (context: MacroContext, target: Expr | undefined, args: readonly Expr[]) => Expr | undefined;
}

/** Nodes are made with new ids, at the place of the macro call unless they come from somewhere else. */
export interface MacroContext {
  readonly offset: number;
  literal(value: LiteralExpr['value']): LiteralExpr;
  ident(name: string): IdentExpr;
  /** The name of the variable in which the standard macros gather their result. */
  readonly accumulator: string;
  select(operand: Expr, field: string): SelectExpr;
  presence(operand: Expr, field: string): SelectExpr;
  call(name: string, ...args: readonly Expr[]): CallExpr;
  memberCall(name: string, target: Expr, ...args: readonly Expr[]): CallExpr;
  list(...elements: readonly Expr[]): ListExpr;
  map(...entries: readonly MapEntry[]): MapExpr;
  entry(key: Expr, value: Expr, optional: boolean): MapEntry;
  comprehension(parts: Omit<ComprehensionExpr, 'type' | 'id' | 'offset'>): ComprehensionExpr;
  /** The same with new ids, for parts that are used twice. */
  copy(expr: Expr): Expr;
  /** Reports a mistake at a node (the macro call when absent). The macro then returns undefined. */
  report(message: string, at?: Expr): void;
}
