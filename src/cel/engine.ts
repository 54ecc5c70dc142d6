/**
 * The contract of this folder: text in, issues or a program out. Everything else in the library knows expressions only
 * through this file and `index.ts`.
 *
 * parse (`parse/`) → check (`check/`) → estimate (`cost/`) and plan (`evaluate/`): a program is a tree of closures that
 * counts what it costs.
 */
import type { CelIssue, ParsedExpression } from './ast.js';
import type { FunctionDeclaration, Library, Macro } from './library.js';
import type { CelType, TypeProvider } from './types.js';
import type { CelBudgetError, CelError, CelValue } from './values.js';

export interface EnvironmentOptions {
  /** Beside the standard one, which is always there. */
  readonly libraries?: readonly Library[];
  readonly variables?: Readonly<Record<string, CelType>>;
  readonly provider?: TypeProvider;
  /** Lists and maps written in an expression hold values of one type. On unless said otherwise. */
  readonly homogeneousLiterals?: boolean;
  /** `1 < 1.5` is allowed. On unless said otherwise. */
  readonly crossTypeComparisons?: boolean;
  /** Literal regular expressions, durations and times are checked with the expression. On unless said otherwise. */
  readonly literalChecks?: boolean;
  /** The namespace in which names are looked up, as `a.b`. */
  readonly container?: string;
}

/** What an expression may use. It never changes; made once and shared by many expressions. */
export interface Environment {
  readonly functions: ReadonlyMap<string, FunctionDeclaration>;
  readonly overloads: ReadonlyMap<
    string,
    { readonly function: string; readonly call?: (...args: CelValue[]) => CelValue }
  >;
  /** By `macroKey`. */
  readonly macros: ReadonlyMap<string, Macro>;
  readonly variables: ReadonlyMap<string, CelType>;
  /** Values of variables that libraries bring. */
  readonly constants: ReadonlyMap<string, CelValue>;
  readonly libraries: readonly Library[];
  readonly provider: TypeProvider;
  readonly options: Required<
    Pick<EnvironmentOptions, 'homogeneousLiterals' | 'crossTypeComparisons' | 'literalChecks' | 'container'>
  >;
  /** The same with more. */
  extend(options: EnvironmentOptions): Environment;
}

/**
 * An expression whose parts have types. Its `expr` is written as it was understood, with the ids it had: variables by
 * their whole name (`a.b.c` is one ident when there is such a variable), functions and types by theirs (`a.f(x)` is a call
 * of `a.f` without a target when there is such a function).
 */
export interface CheckedExpression extends ParsedExpression {
  /** By node id. */
  readonly types: ReadonlyMap<number, CelType>;
  /** By node id: what a name or a call stands for. */
  readonly references: ReadonlyMap<number, Reference>;
  readonly resultType: CelType;
}

export type Reference =
  /** A variable or the name of a type, by its whole name. */
  | { readonly type: 'variable'; readonly name: string; readonly value?: CelValue }
  /** Calls: the overloads that fit; more than one where types are known only when it runs. */
  | { readonly type: 'function'; readonly overloads: readonly string[] };

export type Compiled =
  | { readonly checked: CheckedExpression; readonly issues?: undefined }
  | {
      readonly checked?: undefined;
      readonly issues: readonly CelIssue[] /** All of them, as clients see them. */;
      readonly text: string;
    };

export interface Program {
  /** Never throws for what an expression does. */
  evaluate(variables: Variables, options?: EvaluateOptions): Outcome;
}

export interface EvaluateOptions {
  /** The evaluation is given up when it has cost more. */
  readonly costLimit?: number;
}

/** Values of variables by name. Values may be given by a function, which is called at most once per evaluation. */
export type Variables = ReadonlyMap<string, CelValue | (() => CelValue)>;

export type Outcome =
  | { readonly value: CelValue; readonly error?: undefined; readonly cost: number }
  | { readonly value?: undefined; readonly error: CelError | CelBudgetError; readonly cost: number };
