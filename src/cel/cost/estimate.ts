/**
 * Estimates the minimum and maximum cost of a checked expression. Sizes of strings, lists and maps come from the
 * expression where it determines them, else from the `SizeEstimator`, else they are unbounded.
 *
 * `evaluate/` counts the same costs at run time with actual sizes.
 */

import {
  type CallExpr,
  type ComprehensionExpr,
  childrenOf,
  type Expr,
  type IdentExpr,
  type ListExpr,
  type MapExpr,
  type SelectExpr,
  type StructExpr,
} from '../ast.js';
import { kindOf, optionalValue } from '../check/relations.js';
import type { CheckedExpression, Environment } from '../engine.js';
import type { CallEstimate, CostEstimate, NodeToEstimate, SizeEstimate, SizeEstimator } from '../library.js';
import { type CelType, DYN } from '../types.js';
import { CelBytes } from '../values.js';
import { callCost } from './calls.js';
import { Path } from './path.js';
import { add, EMPTY, type Estimate, fixed, multiply, UNKNOWN, union } from './range.js';

/** Cost of reading a variable or a field. */
const ACCESS = fixed(1);
const ZERO = fixed(0);
const LIST = fixed(10);
const MAP = fixed(30);
const STRUCT = fixed(40);

/** Accumulator names of comprehensions that standard macros expand to. */
const ACCUMULATOR = '__result__';
const HIDDEN_ACCUMULATOR = '@result';

const NO_SIZES: SizeEstimator = { estimateSize: () => undefined };

/** Estimates the cost of an expression. */
export function estimateCost(
  checked: CheckedExpression,
  environment: Environment,
  sizes: SizeEstimator = NO_SIZES,
): CostEstimate {
  return new CostEstimator(checked, environment, sizes).cost(checked.expr);
}

/** Sizes of the entries of a list or map; the keys of a list are its indexes. */
interface EntrySizes {
  readonly container: 'list' | 'map';
  readonly key: Estimate;
  readonly value: Estimate;
}

interface LocalVariable {
  readonly path: Path;
  readonly size: Estimate | undefined;
  readonly entries: EntrySizes | undefined;
}

class CostEstimator {
  readonly #checked: CheckedExpression;
  readonly #environment: Environment;
  readonly #sizes: SizeEstimator;
  /** By node id. */
  readonly #paths = new Map<number, Path>();
  readonly #known = new Map<number, Estimate>();
  readonly #entries = new Map<number, EntrySizes>();
  /** Variables by name, innermost last. */
  readonly #locals = new Map<string, LocalVariable[]>();

  constructor(checked: CheckedExpression, environment: Environment, sizes: SizeEstimator) {
    this.#checked = checked;
    this.#environment = environment;
    this.#sizes = sizes;
  }

  cost(expr: Expr): Estimate {
    switch (expr.type) {
      case 'literal':
        return ZERO;
      case 'ident':
        return this.#costIdent(expr);
      case 'select':
        return this.#costSelect(expr);
      case 'call':
        return expr.function === 'dyn' ? this.#costDyn(expr) : this.#costCall(expr);
      case 'list':
        return this.#costList(expr);
      case 'map':
        return this.#costMap(expr);
      case 'struct':
        return this.#costStruct(expr);
      case 'comprehension':
        return isBinding(expr) ? this.#costBinding(expr) : this.#costComprehension(expr);
    }
  }

  #costIdent(expr: IdentExpr): Estimate {
    this.#paths.set(expr.id, this.#local(expr.name)?.path ?? Path.of(expr.name));
    return ACCESS;
  }

  #costSelect(expr: SelectExpr): Estimate {
    const cost = this.cost(expr.operand);
    // A presence test costs no more than its operand.
    if (expr.testOnly) return cost;
    this.#paths.set(expr.id, this.#path(expr.operand).append(expr.field));
    const { kind } = this.#type(expr.operand);
    return kind === 'map' || kind === 'object' || kind === 'param' ? add(cost, ACCESS) : cost;
  }

  #costDyn(expr: CallExpr): Estimate {
    const [arg] = expr.args as readonly [Expr];
    const cost = this.cost(arg);
    this.#copySizes(expr, arg);
    return add(fixed(1), cost);
  }

  /** The cost range covers all matching overloads. */
  #costCall(expr: CallExpr): Estimate {
    const argCosts: Estimate[] = [];
    const args: NodeToEstimate[] = [];
    for (const arg of expr.args) {
      argCosts.push(this.cost(arg));
      args.push(this.#node(arg));
    }
    const reference = this.#checked.references.get(expr.id);
    if (reference?.type !== 'function') return ZERO;
    const targetCost = expr.target === undefined ? ZERO : this.cost(expr.target);
    const target = expr.target === undefined ? undefined : this.#node(expr.target);
    let cost = EMPTY;
    let size: Estimate | undefined;
    for (const overload of reference.overloads) {
      const estimate = this.#callEstimate(expr, { overload, target, args, argCosts });
      cost = union(cost, estimate.cost);
      if (estimate.resultSize !== undefined) {
        size = size === undefined ? estimate.resultSize : union(size, estimate.resultSize);
      }
      const [operand] = expr.args;
      if (operand !== undefined && (overload === 'index_list' || overload === 'index_map')) {
        size = this.#entrySizes(operand)?.value;
        this.#paths.set(expr.id, this.#path(operand).append(overload === 'index_list' ? '@items' : '@values'));
      }
      size ??= this.#size(expr);
    }
    this.#setSize(expr, size);
    return add(targetCost, cost);
  }

  #callEstimate(expr: CallExpr, call: Parameters<typeof callCost>[0]): CallEstimate {
    const { overload, target, args, argCosts } = call;
    for (const { estimateCost: estimate } of this.#environment.libraries) {
      const known = estimate?.({ function: expr.function, overload, target, args }, this.#sizes);
      if (known !== undefined) return { ...known, cost: add(known.cost, ...argCosts) };
    }
    if (overload === 'conditional') this.#uniteEntries(expr, expr.args.slice(1));
    if (overload === 'add_list' || overload === 'add_string' || overload === 'add_bytes') {
      this.#uniteEntries(expr, expr.args);
    }
    return callCost(call);
  }

  /** Sets the entry sizes to the union of both operands' entry sizes, if both are known. */
  #uniteEntries(expr: Expr, parts: readonly Expr[]): void {
    const [left, right] = parts.map((part) => this.#entrySizes(part));
    if (parts.length !== 2 || left === undefined || right === undefined) return;
    this.#entries.set(expr.id, {
      container: left.container,
      key: union(left.key, right.key),
      value: union(left.value, right.value),
    });
  }

  #costList(expr: ListExpr): Estimate {
    let value = expr.elements.length === 0 ? ZERO : EMPTY;
    let cost = LIST;
    for (const element of expr.elements) {
      cost = add(cost, this.cost(element));
      value = union(value, this.#sizeOrUnknown(element));
    }
    this.#entries.set(expr.id, { container: 'list', key: fixed(1), value });
    return cost;
  }

  #costMap(expr: MapExpr): Estimate {
    const start = expr.entries.length === 0 ? ZERO : EMPTY;
    let key = start;
    let value = start;
    let cost = MAP;
    for (const entry of expr.entries) {
      cost = add(cost, this.cost(entry.key), this.cost(entry.value));
      key = union(key, this.#sizeOrUnknown(entry.key));
      value = union(value, this.#sizeOrUnknown(entry.value));
    }
    this.#entries.set(expr.id, { container: 'map', key, value });
    return cost;
  }

  #costStruct(expr: StructExpr): Estimate {
    return add(STRUCT, ...expr.fields.map(({ value }) => this.cost(value)));
  }

  #costComprehension(expr: ComprehensionExpr): Estimate {
    const rangeCost = this.cost(expr.range);
    const initCost = this.cost(expr.accuInit);
    this.#pushBound(expr.accuVar, expr.accuInit);
    this.#pushIterated(expr);
    const loopCost = add(this.cost(expr.loopCondition), this.cost(expr.loopStep));
    this.#pop(expr.iterVar);
    if (expr.iterVar2 !== undefined) this.#pop(expr.iterVar2);
    const resultCost = this.cost(expr.result);
    this.#pop(expr.accuVar);

    const rounds = this.#sizeOrUnknown(expr.range);
    if (expr.accuInit.type === 'literal') this.#setSize(expr, this.#size(expr.accuInit));
    if (expr.accuInit.type === 'list' || expr.accuInit.type === 'map') {
      this.#setSize(expr, rounds);
      const entries = this.#entrySizes(expr.loopStep);
      if (entries !== undefined) this.#entries.set(expr.id, entries);
    }
    return add(rangeCost, initCost, resultCost, multiply(rounds, loopCost));
  }

  /** A comprehension that never loops and only binds a variable, as `cel.bind` does. */
  #costBinding(expr: ComprehensionExpr): Estimate {
    const cost = add(this.cost(expr.range), this.cost(expr.accuInit));
    this.#pushBound(expr.accuVar, expr.accuInit);
    const resultCost = this.cost(expr.result);
    this.#pop(expr.accuVar);
    this.#copySizes(expr, expr.result);
    return add(cost, resultCost);
  }

  #pushBound(name: string, value: Expr): void {
    const entries = this.#entrySizes(value);
    this.#push(name, { path: this.#path(value), size: this.#size(value), entries });
  }

  #pushIterated({ range, iterVar, iterVar2 }: ComprehensionExpr): void {
    if (iterVar2 === undefined) {
      this.#pushEntry(iterVar, range, this.#container(range) === 'list' ? 'value' : 'key');
      return;
    }
    // The order matters: the first variable may have the name of the range.
    this.#pushEntry(iterVar, range, 'key');
    this.#pushEntry(iterVar2, range, 'value');
  }

  #pushEntry(name: string, range: Expr, part: 'key' | 'value'): void {
    const steps =
      this.#container(range) === 'list' ? { key: '@indices', value: '@items' } : { key: '@keys', value: '@values' };
    const size = this.#entrySizes(range)?.[part];
    this.#push(name, { path: this.#path(range).append(steps[part]), size, entries: undefined });
  }

  #container(range: Expr): string {
    return this.#entrySizes(range)?.container ?? kindOf(this.#type(range));
  }

  #push(name: string, variable: LocalVariable): void {
    const stack = this.#locals.get(name);
    if (stack === undefined) this.#locals.set(name, [variable]);
    else stack.push(variable);
  }

  #pop(name: string): void {
    this.#locals.get(name)?.pop();
  }

  #local(name: string): LocalVariable | undefined {
    return this.#locals.get(name)?.at(-1);
  }

  #type(expr: Expr): CelType {
    return this.#checked.types.get(expr.id) ?? DYN;
  }

  #path(expr: Expr): Path {
    const local = expr.type === 'ident' ? this.#local(expr.name) : undefined;
    return local?.path ?? this.#paths.get(expr.id) ?? Path.EMPTY;
  }

  /** The view of a node that libraries get. Accumulators are not inputs, so they have no path. */
  #node(expr: Expr): NodeToEstimate {
    const [root] = this.#path(expr).steps();
    const path = root === ACCUMULATOR || root === HIDDEN_ACCUMULATOR ? Path.EMPTY : this.#path(expr);
    return new EstimatedNode(expr, { type: this.#type(expr), path, computedSize: this.#size(expr) });
  }

  #sizeOrUnknown(expr: Expr): Estimate {
    return this.#size(expr) ?? UNKNOWN;
  }

  #size(expr: Expr): Estimate | undefined {
    const known = this.#known.get(expr.id) ?? writtenSize(expr);
    if (known !== undefined) return known;
    const part = new EstimatedNode(expr, { type: this.#type(expr), path: this.#path(expr), computedSize: undefined });
    const estimated = this.#sizes.estimateSize(part);
    if (estimated !== undefined) {
      this.#known.set(expr.id, estimated);
      return estimated;
    }
    if (isScalar(this.#type(expr))) return fixed(1);
    return expr.type === 'ident' ? this.#local(expr.name)?.size : undefined;
  }

  #entrySizes(expr: Expr): EntrySizes | undefined {
    return this.#entries.get(expr.id) ?? (expr.type === 'ident' ? this.#local(expr.name)?.entries : undefined);
  }

  #setSize(expr: Expr, size: Estimate | undefined): void {
    if (size !== undefined) this.#known.set(expr.id, size);
  }

  #copySizes(to: Expr, from: Expr): void {
    this.#setSize(to, this.#size(from));
    const entries = this.#entrySizes(from);
    if (entries !== undefined) this.#entries.set(to.id, entries);
  }
}

/** Reads its path lazily, because the path may change in between; see `path.ts`. */
class EstimatedNode implements NodeToEstimate {
  readonly expr: Expr;
  readonly type: CelType;
  readonly computedSize: SizeEstimate | undefined;
  readonly #path: Path;

  constructor(expr: Expr, known: { type: CelType; path: Path; computedSize: SizeEstimate | undefined }) {
    this.expr = expr;
    this.type = known.type;
    this.computedSize = known.computedSize;
    this.#path = known.path;
  }

  get path(): readonly string[] {
    return this.#path.steps();
  }
}

function isBinding({ range, loopCondition, accuVar }: ComprehensionExpr): boolean {
  const loops = loopCondition.type !== 'literal' || loopCondition.value !== false;
  return range.type === 'list' && childrenOf(range).length === 0 && !loops && accuVar !== ACCUMULATOR;
}

/** The size of a literal, list or map literal. */
function writtenSize(expr: Expr): Estimate | undefined {
  switch (expr.type) {
    case 'literal':
      if (typeof expr.value === 'string') return fixed(Array.from(expr.value).length);
      return fixed(expr.value instanceof CelBytes ? expr.value.bytes.length : 1);
    case 'list':
      return fixed(expr.elements.length);
    case 'map':
      return fixed(expr.entries.length);
    default:
      return undefined;
  }
}

/** Whether all values of a type have the same size. */
function isScalar(type: CelType): boolean {
  const inner = optionalValue(type);
  if (inner !== undefined) return isScalar(inner);
  return SCALARS.has(kindOf(type));
}

const SCALARS: ReadonlySet<string> = new Set(['bool', 'double', 'duration', 'int', 'timestamp', 'uint']);
