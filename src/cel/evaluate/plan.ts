/**
 * Turns an expression into a program: a tree of closures that charges its cost while it runs. The planner evaluates
 * constants in advance: lists and maps of constants, conversions of constants, sets for `in` with a constant list.
 */

import { unreachable } from '../../util/invariant.js';
import type {
  CallExpr,
  ComprehensionExpr,
  Expr,
  IdentExpr,
  ListExpr,
  MapExpr,
  ParsedExpression,
  SelectExpr,
  StructExpr,
} from '../ast.js';
import { candidateNames, qualifiedName } from '../check/names.js';
import type {
  CheckedExpression,
  Environment,
  EvaluateOptions,
  Outcome,
  Program,
  Reference,
  Variables,
} from '../engine.js';
import { Failure, type Result } from '../failure.js';
import type { CelType } from '../types.js';
import { CelCostLimitError, CelError, type CelValue } from '../values.js';
import { isWellKnownMessage } from '../well-known-messages.js';
import { closeWorkBudget, openWorkBudget } from '../work-budget.js';
import { listStep, mapStep, objectStep } from './aggregates.js';
import {
  attribute,
  attributeOf,
  ConditionalAttribute,
  computedQualifier,
  constant,
  constantQualifier,
  invalidKeyFailure,
  type Lookup,
  type Planned,
  presenceQualifier,
  type Qualifier,
  step,
  stepOf,
  UncheckedAttribute,
  ValueAttribute,
} from './attribute.js';
import { comparisonCost, equalityCost } from './call-cost.js';
import { equalityStep, logicStep } from './calls.js';
import { accumulatorLoad, foldStep } from './comprehension.js';
import { Frame, missingVariable, type Step } from './frame.js';
import { planFunction } from './functions.js';
import { forgetKeys } from './views.js';

/** The initial work budget of an evaluation; charged costs add to it. */
const FREE_WORK = 20_000_000;

/**
 * Plans a checked expression. Throws a CelError for an expression that can never succeed, such as `int('x')`; cel-go
 * rejects these at program creation.
 */
export function plan(checked: CheckedExpression, environment: Environment): Program {
  return new Planner(environment, checked).program(checked.expr);
}

/** Plans an unchecked expression: names and functions are resolved at run time. */
export function planParsed(parsed: ParsedExpression, environment: Environment): Program {
  return new Planner(environment, { references: new Map(), types: new Map() }).program(parsed.expr);
}

type Local = (frame: Frame) => Result;

class Scope {
  readonly #outer: Scope | undefined;
  readonly #locals: ReadonlyMap<string, Local>;

  constructor(locals: ReadonlyMap<string, Local> = new Map(), outer?: Scope) {
    this.#locals = locals;
    this.#outer = outer;
  }

  find(name: string): Local | undefined {
    return this.#locals.get(name) ?? this.#outer?.find(name);
  }

  with(locals: ReadonlyMap<string, Local>): Scope {
    return new Scope(locals, this);
  }
}

class Planner {
  readonly #environment: Environment;
  readonly #references: ReadonlyMap<number, Reference>;
  readonly #types: ReadonlyMap<number, CelType>;
  #slots = 0;
  #scope = new Scope();

  constructor(environment: Environment, { references, types }: Pick<CheckedExpression, 'references' | 'types'>) {
    this.#environment = environment;
    this.#references = references;
    this.#types = types;
  }

  program(expr: Expr): Program {
    const run = stepOf(this.#plan(expr));
    const slots = this.#slots;
    return { evaluate: (variables, options) => evaluate(run, slots, variables, options) };
  }

  #plan(expr: Expr): Planned {
    switch (expr.type) {
      case 'literal':
        return constant(expr.value);
      case 'ident':
        return this.#planIdent(expr);
      case 'select':
        return this.#planSelect(expr);
      case 'call':
        return this.#planCall(expr);
      case 'list':
        return this.#planList(expr);
      case 'map':
        return this.#planMap(expr);
      case 'struct':
        return this.#planStruct(expr);
      case 'comprehension':
        return this.#planComprehension(expr);
      default:
        return unreachable(expr);
    }
  }

  #step(expr: Expr): Step {
    return stepOf(this.#plan(expr));
  }

  #planIdent(expr: IdentExpr): Planned {
    return this.#planReference(expr) ?? this.#planUnchecked(expr.name);
  }

  /** Plans a name that the checker has resolved. */
  #planReference(expr: Expr): Planned | undefined {
    const reference = this.#references.get(expr.id);
    if (reference?.type !== 'variable') return undefined;
    if (reference.value !== undefined) return constant(reference.value);
    const { name } = reference;
    // cel-go treats every node of type `type` as a type name, including comprehension variables.
    if (this.#types.get(expr.id)?.kind === 'type') return constant(this.#typeNamed(name));
    const local = this.#scope.find(name);
    if (local !== undefined) return attribute(new ValueAttribute(local));
    const known = this.#environment.constants.get(name);
    if (known !== undefined) return constant(known);
    const missing = missingVariable([name]);
    return attribute(
      new ValueAttribute((frame) => {
        const value = frame.variable(name);
        return value === undefined ? missing : value;
      }),
    );
  }

  #typeNamed(name: string): CelValue {
    const known = this.#environment.constants.get(name);
    if (known === undefined) throw new CelError(`reference to undefined type: ${name}`);
    return known;
  }

  #planUnchecked(name: string): Planned {
    const names = candidateNames(this.#environment.options.container, name);
    return attribute(new UncheckedAttribute(names, this.#lookup(this.#scope)));
  }

  #lookup(scope: Scope): Lookup {
    return (name, isWhole) => {
      const local = scope.find(name);
      if (local !== undefined) return local;
      const known = isWhole ? this.#environment.constants.get(name) : undefined;
      return (frame) => {
        const value = frame.variable(name);
        return value === undefined ? known : value;
      };
    };
  }

  #planSelect(expr: SelectExpr): Planned {
    const variable = this.#planReference(expr);
    if (variable !== undefined) return variable;
    const operand = attributeOf(this.#plan(expr.operand));
    operand.add(expr.testOnly ? presenceQualifier(expr.field) : constantQualifier(expr.field, false));
    return attribute(operand, expr.testOnly);
  }

  #planCall(expr: CallExpr): Planned {
    const { target, name, overload } = this.#resolve(expr);
    const args = target === undefined ? expr.args : [target, ...expr.args];
    const [first, second, third] = args;
    switch (name) {
      case '_&&_':
        return step(
          logicStep(
            this.#terms(expr).map((term) => this.#step(term)),
            false,
          ),
        );
      case '_||_':
        return step(
          logicStep(
            this.#terms(expr).map((term) => this.#step(term)),
            true,
          ),
        );
      case '_?_:_':
        return this.#planConditional(first as Expr, [second as Expr, third as Expr]);
      case '_==_':
      case '_!=_': {
        const price = name === '_==_' ? equalityCost(this.#environment.libraries) : comparisonCost;
        return step(
          equalityStep(this.#step(first as Expr), this.#step(second as Expr), { equal: name === '_==_', price }),
        );
      }
      case '_[_]':
      case '_[?_]':
      case '_?._':
        return this.#planIndex(first as Expr, second as Expr, name !== '_[_]');
      default:
        return planFunction({ name, overload, args: args.map((arg) => this.#plan(arg)) }, this.#environment);
    }
  }

  /** All terms of a chain of one operator, which the parser represents as a tree. */
  #terms(expr: CallExpr): readonly Expr[] {
    return expr.args.flatMap((arg) =>
      arg.type === 'call' && arg.function === expr.function ? this.#terms(arg) : [arg],
    );
  }

  #planConditional(condition: Expr, [yes, no]: readonly [Expr, Expr]): Planned {
    return attribute(
      new ConditionalAttribute(this.#step(condition), [attributeOf(this.#plan(yes)), attributeOf(this.#plan(no))]),
    );
  }

  #planIndex(container: Expr, key: Expr, optional: boolean): Planned {
    const operand = attributeOf(this.#plan(container));
    operand.add(qualifierOf(this.#plan(key), optional));
    return attribute(operand);
  }

  /** Resolves a call: `a.b(c)` is a member call on `a` or a call of the function `a.b`. */
  #resolve(expr: CallExpr): { readonly target: Expr | undefined; readonly name: string; readonly overload: string } {
    const reference = this.#references.get(expr.id);
    if (reference?.type === 'function') {
      const [only, more] = reference.overloads;
      return { target: expr.target, name: expr.function, overload: more === undefined ? (only ?? '') : '' };
    }
    const { functions, options } = this.#environment;
    if (expr.target === undefined) {
      const names = candidateNames(options.container, expr.function);
      return {
        target: undefined,
        name: names.find((name) => functions.has(name)) ?? (names.at(-1) as string),
        overload: '',
      };
    }
    const space = qualifiedName(expr.target);
    const names = space === undefined ? [] : candidateNames(options.container, `${space}.${expr.function}`);
    const qualified = names.find((name) => functions.has(name));
    if (qualified !== undefined) return { target: undefined, name: qualified, overload: '' };
    return { target: expr.target, name: expr.function, overload: '' };
  }

  #planList(expr: ListExpr): Planned {
    const elements = expr.elements.map((element) => this.#plan(element));
    const made = listStep(
      elements.map((element, index) => ({ value: stepOf(element), optional: expr.optional.includes(index) })),
    );
    return foldIfConstant(made, elements);
  }

  #planMap(expr: MapExpr): Planned {
    const entries = expr.entries.map(({ key, value, optional }) => ({
      key: this.#plan(key),
      value: this.#plan(value),
      optional,
    }));
    const made = mapStep(
      entries.map(({ key, value, optional }) => ({ key: stepOf(key), value: stepOf(value), optional })),
    );
    return foldIfConstant(
      made,
      entries.flatMap(({ key, value }) => [key, value]),
    );
  }

  #planStruct(expr: StructExpr): Planned {
    const { provider, options } = this.#environment;
    const typeName = candidateNames(options.container, expr.name).find(
      (name) => provider.hasType(name) || isWellKnownMessage(name),
    );
    if (typeName === undefined) throw new CelError(`unknown type: ${expr.name}`);
    const fields = expr.fields.map(({ name, value, optional }) => ({ name, value: this.#step(value), optional }));
    return step(objectStep(typeName, fields, provider));
  }

  #planComprehension(expr: ComprehensionExpr): Planned {
    const outer = this.#scope;
    const accumulator = this.#slots++;
    const item = this.#slots++;
    const second = expr.iterVar2 === undefined ? undefined : this.#slots++;
    const start = this.#step(expr.accuInit);
    const range = this.#step(expr.range);
    const accumulators = new Map([[expr.accuVar, accumulatorLoad(accumulator, start)]]);
    const items = new Map<string, Step>([[expr.iterVar, load(item)]]);
    if (expr.iterVar2 !== undefined && second !== undefined) items.set(expr.iterVar2, load(second));
    // If the names are equal, the accumulator hides the iteration variable.
    this.#scope = outer.with(items).with(accumulators);
    const condition = this.#step(expr.loopCondition);
    const next = this.#step(expr.loopStep);
    // The iteration variables are not in scope of the result.
    this.#scope = outer.with(accumulators);
    const result = this.#step(expr.result);
    this.#scope = outer;
    return step(foldStep({ range, condition, step: next, result, accumulator, item, second }));
  }
}

function load(slot: number): Step {
  return (frame) => frame.locals[slot] as Result;
}

/** Constant keys are validated at plan time; an attribute used as key has no cost of its own. */
function qualifierOf(key: Planned, optional: boolean): Qualifier {
  if (key.kind === 'attribute') return computedQualifier(key.attribute.resolve(), optional);
  if (key.kind === 'step') return computedQualifier(key.step, optional);
  const refused = invalidKeyFailure(key.value);
  if (refused !== undefined) throw new CelError(refused.message);
  return constantQualifier(key.value, optional);
}

/** A list or map of constants is evaluated at plan time and costs nothing at run time. */
function foldIfConstant(made: Step, parts: readonly Planned[]): Planned {
  if (parts.some(({ kind }) => kind !== 'constant')) return step(made);
  const value = made(new Frame(new Map(), Number.POSITIVE_INFINITY, 0));
  return value instanceof Failure ? step(() => value) : constant(value);
}

function evaluate(run: Step, slots: number, variables: Variables, options: EvaluateOptions | undefined): Outcome {
  const frame = new Frame(variables, options?.costLimit ?? Number.POSITIVE_INFINITY, slots);
  const before = openWorkBudget(FREE_WORK);
  forgetKeys();
  try {
    const value = run(frame);
    if (value instanceof Failure) return { error: new CelError(value.message), cost: frame.cost };
    return { value: value as CelValue, cost: frame.cost };
  } catch (error) {
    return { error: evaluationError(error), cost: frame.cost };
  } finally {
    closeWorkBudget(before);
  }
}

function evaluationError(error: unknown): CelError | CelCostLimitError {
  if (error instanceof CelCostLimitError || error instanceof CelError) return error;
  // The stack overflows on deeply nested values and strings may get too long; an expression can cause both.
  if (error instanceof RangeError) return new CelError(`internal error: ${error.message}`);
  throw error;
}
