/** Plans function calls: operators that dispatch on their argument types themselves, and functions with overloads. */
import { re2Problem } from '../../text/re2/index.js';
import type { Environment } from '../engine.js';
import { Failure, NO_SUCH_OVERLOAD, type Result } from '../failure.js';
import type { Overload } from '../library.js';
import { intOfDouble, MAX_INT, uintOfDouble } from '../numbers.js';
import { goTypeName } from '../runtime-type.js';
import { BINARY_OPERATORS, missingOperator, UNARY_OPERATORS } from '../standard/operators.js';
import { CelBytes, CelError, CelList, CelOpaque, CelUint, type CelValue } from '../values.js';
import { constant, type Planned, step, stepOf } from './attribute.js';
import { callCostOf } from './call-cost.js';
import {
  binaryStep,
  dispatchCall,
  manyStep,
  notStrictlyFalseStep,
  optionalOrStep,
  overloadCall,
  unaryStep,
} from './calls.js';
import { Frame, type Step } from './frame.js';

export interface Call {
  readonly name: string;
  /** Empty if several overloads match. */
  readonly overload: string;
  /** The receiver is the first argument. */
  readonly args: readonly Planned[];
}

/** Conversions that are evaluated at plan time if their argument is constant. */
const CONVERSIONS = new Set([
  'bool',
  'bytes',
  'double',
  'duration',
  'dyn',
  'int',
  'string',
  'timestamp',
  'type',
  'uint',
]);

/** Functions whose second argument is a regular expression; a constant one is compiled at plan time. */
const REGEX_FUNCTIONS = new Set(['matches', 'find', 'findAll']);

export function planFunction(call: Call, environment: Environment): Planned {
  const { name, overload, args } = call;
  const [first, second] = args;
  if (name === '@not_strictly_false' && first !== undefined) return step(notStrictlyFalseStep(stepOf(first)));
  if (first !== undefined && second !== undefined && args.length === 2) {
    if (name === 'or' && (overload === '' || overload === 'optional_or_optional')) {
      return step(optionalOrStep(stepOf(first), stepOf(second), false));
    }
    if (name === 'orValue' && (overload === '' || overload === 'optional_orValue_value')) {
      return step(optionalOrStep(stepOf(first), stepOf(second), true));
    }
    const isMember = overload === 'in_list' ? membership(first, second) : undefined;
    if (isMember !== undefined) return isMember;
  }
  const planned = step(functionStep(call, environment));
  return first?.kind === 'constant' && args.length === 1 && CONVERSIONS.has(name) ? converted(planned) : planned;
}

/** Evaluates a conversion at plan time. A failing conversion makes program creation fail. */
function converted(planned: Planned): Planned {
  const value = stepOf(planned)(new Frame(new Map(), Number.POSITIVE_INFINITY, 0));
  if (value instanceof Failure) throw new CelError(value.message);
  return constant(value);
}

function functionStep(call: Call, environment: Environment): Step {
  const { name, overload } = call;
  const args = call.args.map(stepOf);
  const [first, second] = args;
  const price = callCostOf(name, overload, environment.libraries);
  const unary = args.length === 1 ? UNARY_OPERATORS.get(name) : undefined;
  if (unary !== undefined && first !== undefined) return unaryStep(unary, first, price);
  const binary = args.length === 2 ? BINARY_OPERATORS.get(name) : undefined;
  const hasPattern = hasConstantPattern(call);
  if (binary !== undefined && first !== undefined && second !== undefined) {
    if (!hasPattern) return binaryStep(binary, first, second, price);
    const match: Runner = ([text, pattern]) =>
      typeof text === 'string' ? binary(text, pattern as CelValue) : NO_SUCH_OVERLOAD;
    return manyStep(match, args, price);
  }
  const overloads = environment.functions.get(name)?.overloads ?? [];
  const known = overload === '' ? undefined : overloads.find(({ id }) => id === overload);
  const plain = runner(name, known, overloads, args.length);
  const run = hasPattern ? ofText(plain) : plain;
  const isCertain = known !== undefined || overloads.length <= 1;
  if (isCertain && args.length === 1 && first !== undefined) return unaryStep((value) => run([value]), first, price);
  if (isCertain && args.length === 2 && first !== undefined && second !== undefined && !hasPattern) {
    return binaryStep((left, right) => run([left, right]), first, second, price);
  }
  return manyStep(run, args, price);
}

type Runner = (args: readonly CelValue[]) => Result;

/** With a constant regular expression, only the other arguments need a type check. */
function ofText(run: Runner): Runner {
  return (args) => {
    const [text, , limit] = args;
    return typeof text === 'string' && (limit === undefined || typeof limit === 'bigint')
      ? run(args)
      : NO_SUCH_OVERLOAD;
  };
}

function runner(name: string, known: Overload | undefined, overloads: readonly Overload[], count: number): Runner {
  const run = known === undefined ? undefined : overloadCall(name, known);
  if (run !== undefined) return run;
  const arity = onlyArity(overloads);
  if (arity === undefined ? count === 0 && overloads.length === 0 : arity !== count) {
    throw new CelError(`no such overload: ${name}(${['', 'arg', 'lhs, rhs'][count] ?? '...'})`);
  }
  if (overloads.length > 0) return dispatchCall(name, overloads);
  return ([value]) => missingOperator(name, value as CelValue);
}

/**
 * The arity (one or two) of a function with a single overload; calls with another number of arguments are rejected at
 * plan time.
 */
function onlyArity(overloads: readonly Overload[]): number | undefined {
  const arity = overloads.length === 1 ? overloads[0]?.params.length : undefined;
  return arity === 1 || arity === 2 ? arity : undefined;
}

/** Whether the call has a constant regular expression. Throws a CelError if it is invalid. */
function hasConstantPattern({ name, args }: Call): boolean {
  const pattern = args[1];
  if (!REGEX_FUNCTIONS.has(name) || pattern?.kind !== 'constant' || typeof pattern.value !== 'string') return false;
  const problem = re2Problem(pattern.value);
  if (problem !== undefined) throw new CelError(problem);
  return true;
}

/**
 * Plans `x in [1, 2]` with a constant list as a set lookup, which costs only the evaluation of `x`. An empty list
 * yields false without evaluating `x`. Undefined if the list is not constant or has non-primitive items.
 */
function membership(value: Planned, container: Planned): Planned | undefined {
  if (container.kind !== 'constant' || !(container.value instanceof CelList)) return undefined;
  const list = container.value;
  if (list.size === 0) return constant(false);
  const set = new ValueSet();
  for (let index = 0; index < list.size; index++) if (!set.add(list.at(index))) return undefined;
  const compute = stepOf(value);
  return step((frame) => {
    const wanted = compute(frame);
    return wanted instanceof Failure ? wanted : (unhashable(wanted) ?? set.has(wanted));
  });
}

/** Fails for values that Go cannot hash. */
function unhashable(value: CelValue): Failure | undefined {
  const isUnhashable = value instanceof CelBytes || (value instanceof CelOpaque && value.hashable === false);
  if (!isUnhashable) return undefined;
  return new Failure(`internal error: runtime error: hash of unhashable type ${goTypeName(value)}`);
}

/** A set of primitive values in which equal numbers of different types are the same member. */
class ValueSet {
  readonly #values = new Set<CelValue>();
  readonly #uints = new Set<bigint>();

  /** Adds a value; returns false for non-primitive values. */
  add(value: CelValue): boolean {
    if (value instanceof CelUint) {
      this.#uints.add(value.value);
      this.#values.add(Number(value.value));
      if (value.value <= MAX_INT) this.#values.add(value.value);
      return true;
    }
    if (typeof value === 'object') return false;
    if (typeof value === 'number') this.#addDouble(value);
    else this.#values.add(value);
    if (typeof value === 'bigint') {
      this.#values.add(Number(value));
      if (value >= 0n) this.#uints.add(value);
    }
    return true;
  }

  #addDouble(value: number): void {
    // NaN is never a member.
    if (Number.isNaN(value)) return;
    this.#values.add(value);
    const [int, uint] = [intOfDouble(value), uintOfDouble(value)];
    if (int !== undefined && Number(int) === value) this.#values.add(int);
    if (uint !== undefined && Number(uint) === value) this.#uints.add(uint);
  }

  has(value: CelValue): boolean {
    return value instanceof CelUint ? this.#uints.has(value.value) : this.#values.has(value);
  }
}
