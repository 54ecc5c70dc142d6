/** The standard macros. Costs and ids depend on the expansion, so nodes are created in the order of cel-go. */
import type { Expr } from '../ast.js';
import type { Macro, MacroContext } from '../library.js';
import { ADD, CONDITIONAL, EQUALS, LOGICAL_AND, LOGICAL_NOT, LOGICAL_OR, NOT_STRICTLY_FALSE } from './tokens.js';

/** The former accumulator name is still rejected as a variable name. */
const FORMER_ACCUMULATOR = '__result__';

/** The parts of a comprehension that differ between quantifiers. */
interface Fold {
  readonly init: Expr;
  readonly condition: Expr;
  readonly step: Expr;
  readonly result: Expr;
}

/** `has(message.field)`. */
function expandHas(context: MacroContext, _target: Expr | undefined, args: readonly Expr[]): Expr | undefined {
  const [field] = args;
  if (field?.type === 'select') return context.presence(field.operand, field.field);
  context.report('invalid argument to has() macro', field);
  return undefined;
}

function expandQuantifier(fold: (context: MacroContext, predicate: Expr) => Fold): Macro['expand'] {
  return (context, target, args) => {
    const [variable, predicate] = args;
    const name = variableName(context, variable, 'argument must be a simple name');
    if (name === undefined || target === undefined || predicate === undefined) return undefined;
    const { init, condition, step, result } = fold(context, predicate);
    return comprehension(context, target, name, { init, condition, step, result });
  };
}

function foldAll(context: MacroContext, predicate: Expr): Fold {
  const accumulator = () => context.ident(context.accumulator);
  return {
    init: context.literal(true),
    condition: context.call(NOT_STRICTLY_FALSE, accumulator()),
    step: context.call(LOGICAL_AND, accumulator(), predicate),
    result: accumulator(),
  };
}

function foldExists(context: MacroContext, predicate: Expr): Fold {
  const accumulator = () => context.ident(context.accumulator);
  return {
    init: context.literal(false),
    condition: context.call(NOT_STRICTLY_FALSE, context.call(LOGICAL_NOT, accumulator())),
    step: context.call(LOGICAL_OR, accumulator(), predicate),
    result: accumulator(),
  };
}

function foldExistsOne(context: MacroContext, predicate: Expr): Fold {
  const accumulator = () => context.ident(context.accumulator);
  return {
    init: context.literal(0n),
    condition: context.literal(true),
    step: context.call(CONDITIONAL, predicate, context.call(ADD, accumulator(), context.literal(1n)), accumulator()),
    result: context.call(EQUALS, accumulator(), context.literal(1n)),
  };
}

/** `list.map(x, f(x))` and `list.map(x, predicate(x), f(x))`. */
function expandMap(context: MacroContext, target: Expr | undefined, args: readonly Expr[]): Expr | undefined {
  const [variable, second, third] = args;
  const name = variableName(context, variable, 'argument is not an identifier');
  if (name === undefined || target === undefined || second === undefined) return undefined;
  return collect(context, target, name, third ?? second, third === undefined ? undefined : second);
}

function expandFilter(context: MacroContext, target: Expr | undefined, args: readonly Expr[]): Expr | undefined {
  const [variable, predicate] = args;
  const name = variableName(context, variable, 'argument is not an identifier');
  if (name === undefined || target === undefined || variable === undefined) return undefined;
  return collect(context, target, name, variable, predicate);
}

/** Collects `item` for all elements that satisfy the predicate. */
function collect(context: MacroContext, target: Expr, variable: string, item: Expr, predicate: Expr | undefined): Expr {
  const accumulator = () => context.ident(context.accumulator);
  const init = context.list();
  const condition = context.literal(true);
  const added = context.call(ADD, accumulator(), context.list(item));
  const step = predicate === undefined ? added : context.call(CONDITIONAL, predicate, added, accumulator());
  return comprehension(context, target, variable, { init, condition, step, result: accumulator() });
}

function variableName(context: MacroContext, variable: Expr | undefined, otherwise: string): string | undefined {
  if (variable?.type !== 'ident') {
    context.report(otherwise, variable);
    return undefined;
  }
  if (variable.name === context.accumulator || variable.name === FORMER_ACCUMULATOR) {
    context.report('iteration variable overwrites accumulator variable', variable);
    return undefined;
  }
  return variable.name;
}

function comprehension(context: MacroContext, range: Expr, iterVar: string, fold: Fold): Expr {
  return context.comprehension({
    range,
    iterVar,
    iterVar2: undefined,
    accuVar: context.accumulator,
    accuInit: fold.init,
    loopCondition: fold.condition,
    loopStep: fold.step,
    result: fold.result,
  });
}

const member = (name: string, args: number, expand: Macro['expand']): Macro => ({
  function: name,
  member: true,
  args,
  expand,
});

export const STANDARD_MACROS: readonly Macro[] = [
  { function: 'has', member: false, args: 1, expand: expandHas },
  member('all', 2, expandQuantifier(foldAll)),
  member('exists', 2, expandQuantifier(foldExists)),
  member('exists_one', 2, expandQuantifier(foldExistsOne)),
  member('map', 2, expandMap),
  member('map', 3, expandMap),
  member('filter', 2, expandFilter),
];
