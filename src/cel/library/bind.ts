/**
 * `cel.bind(name, value, expression)`: evaluates an expression with a local variable. The API server's environment does
 * not include it.
 */
import type { Expr } from '../ast.js';
import type { Library, MacroContext } from '../library.js';

export const BIND: Library = {
  name: 'bind',
  macros: [{ function: 'bind', member: true, args: 3, expand: expandBind }],
};

function expandBind(context: MacroContext, target: Expr | undefined, [variable, value, result]: readonly Expr[]) {
  if (target?.type !== 'ident' || target.name !== 'cel') return undefined;
  if (variable === undefined || value === undefined || result === undefined) return undefined;
  if (variable.type !== 'ident') {
    context.report('cel.bind() variable names must be simple identifiers', variable);
    return undefined;
  }
  return binding(context, { name: variable.name, value, result });
}

/**
 * Expands to a comprehension over an empty list: the value is the initial accumulator, so it is computed at most once,
 * and the expression is the result.
 */
export function binding(
  context: MacroContext,
  { name, value, result }: { readonly name: string; readonly value: Expr; readonly result: Expr },
): Expr {
  return context.comprehension({
    range: context.list(),
    iterVar: '#unused',
    iterVar2: undefined,
    accuVar: name,
    accuInit: value,
    loopCondition: context.literal(false),
    loopStep: context.ident(name),
    result,
  });
}
