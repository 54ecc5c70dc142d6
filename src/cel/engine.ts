/**
 * The contract of the CEL engine: environment, checked expression and program.
 *
 * The stages are parse (`parse/`), check (`check/`), cost estimation (`cost/`) and planning (`evaluate/`). A program is
 * a tree of closures that counts its cost.
 */
import type { CelIssue, ParsedExpression } from './ast.js';
import type { FunctionDeclaration, Library, Macro } from './library.js';
import type { CelType, TypeProvider } from './types.js';
import type { CelCostLimitError, CelError, CelValue } from './values.js';

export interface EnvironmentOptions {
  /** Libraries in addition to the standard library, which is always present. */
  readonly libraries?: readonly Library[];
  readonly variables?: Readonly<Record<string, CelType>>;
  readonly provider?: TypeProvider;
  /** List and map literals must hold values of one type. Default: true. */
  readonly homogeneousLiterals?: boolean;
  /** Allows comparisons such as `1 < 1.5`. Default: true. */
  readonly crossTypeComparisons?: boolean;
  /** Checks literal regular expressions, durations and timestamps at compile time. Default: true. */
  readonly literalChecks?: boolean;
  /** The namespace for name lookup, such as `a.b`. */
  readonly container?: string;
}

/** The declarations an expression may use. Immutable; create it once and share it between expressions. */
export interface Environment {
  readonly functions: ReadonlyMap<string, FunctionDeclaration>;
  readonly overloads: ReadonlyMap<
    string,
    { readonly function: string; readonly call?: (...args: CelValue[]) => CelValue }
  >;
  /** By `macroKey`. */
  readonly macros: ReadonlyMap<string, Macro>;
  readonly variables: ReadonlyMap<string, CelType>;
  /** Values of the variables that libraries declare. */
  readonly constants: ReadonlyMap<string, CelValue>;
  readonly libraries: readonly Library[];
  readonly provider: TypeProvider;
  readonly options: Required<
    Pick<EnvironmentOptions, 'homogeneousLiterals' | 'crossTypeComparisons' | 'literalChecks' | 'container'>
  >;
  /** Returns a new environment with additional declarations. */
  extend(options: EnvironmentOptions): Environment;
}

/**
 * A type-checked expression. Its `expr` has resolved names and keeps the node ids: a qualified variable is one ident
 * (`a.b.c`), and a call of a namespaced function has no target (`a.f(x)` calls `a.f`).
 */
export interface CheckedExpression extends ParsedExpression {
  /** By node id. */
  readonly types: ReadonlyMap<number, CelType>;
  /** The resolved name or call by node id. */
  readonly references: ReadonlyMap<number, Reference>;
  readonly resultType: CelType;
}

export type Reference =
  /** A variable or a type name, fully qualified. */
  | { readonly type: 'variable'; readonly name: string; readonly value?: CelValue }
  /** A call with its matching overloads; more than one if the argument types are known only at run time. */
  | { readonly type: 'function'; readonly overloads: readonly string[] };

export type Compiled =
  | { readonly checked: CheckedExpression; readonly issues?: undefined }
  | {
      readonly checked?: undefined;
      readonly issues: readonly CelIssue[];
      /** All issues, formatted as API clients see them. */
      readonly text: string;
    };

export interface Program {
  /** Evaluation errors are returned in the outcome, not thrown. */
  evaluate(variables: Variables, options?: EvaluateOptions): Outcome;
}

export interface EvaluateOptions {
  /** The evaluation stops with a CelCostLimitError when its cost exceeds this limit. */
  readonly costLimit?: number;
}

/** Variable values by name. A function value is called at most once per evaluation. */
export type Variables = ReadonlyMap<string, CelValue | (() => CelValue)>;

export type Outcome =
  | { readonly value: CelValue; readonly error?: undefined; readonly cost: number }
  | { readonly value?: undefined; readonly error: CelError | CelCostLimitError; readonly cost: number };
