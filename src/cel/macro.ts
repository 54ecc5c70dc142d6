/** What a macro gets to build what it stands for; see `library.ts`. Made by the parser. */
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
