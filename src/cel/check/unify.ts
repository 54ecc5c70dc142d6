/**
 * Type parameters: their substitutions, unification and overload resolution.
 *
 * Example: `[] + [1]` calls `_+_(list(A), list(A))`. The call replaces A with a fresh parameter `_var1`; the empty list
 * is a `list(_var0)`. Unifying the first argument binds `_var1` to `_var0`, unifying the second binds `_var0` to int,
 * so the result `list(_var1)` is a `list(int)`.
 */

import type { FunctionDeclaration, Overload } from '../library.js';
import { CROSS_TYPE_COMPARISONS } from '../standard/library.js';
import { type CelType, DYN, listOf, mapOf, opaqueType, typeName, typeOf, typeParam, typeParams } from '../types.js';
import { accepts, acceptsNull, isDyn, isDynOrError, kindOf, mostGeneral, sameType } from './relations.js';

/** Creates type parameters numbered in creation order. Messages may contain their names. */
export class FreshTypeParams {
  #next = 0;
  next(): CelType {
    return typeParam(`_var${this.#next++}`);
  }
  skip(count: number): void {
    this.#next += count;
  }
}

interface Resolution {
  readonly overloads: readonly string[];
  readonly type: CelType;
}

interface OverloadSearch {
  readonly substitutions: Substitutions;
  readonly freshParams: FreshTypeParams;
  readonly member: boolean;
  /** The receiver is the first argument. */
  readonly args: readonly CelType[];
  readonly crossTypeComparisons: boolean;
}

/**
 * Finds the overloads that match the arguments and binds their type parameters accordingly. Undefined if none matches.
 */
export function resolveOverloads(declaration: FunctionDeclaration, search: OverloadSearch): Resolution | undefined {
  const overloads: string[] = [];
  let type: CelType | undefined;
  for (const overload of declaration.overloads) {
    if (!search.crossTypeComparisons && CROSS_TYPE_COMPARISONS.has(overload.id)) continue;
    if (overload.member !== search.member) continue;
    const { params, result } = instantiate(overload, search);
    if (!search.substitutions.fitAll(search.args, params)) continue;
    overloads.push(overload.id);
    const found = search.substitutions.apply(result, 'keep');
    if (type === undefined) type = found;
    else if (!isDyn(type) && !sameType(found, type)) type = DYN;
  }
  return type === undefined ? undefined : { overloads, type };
}

/** Replaces the type parameters of an overload with fresh ones, so that calls are independent of each other. */
function instantiate(
  overload: Overload,
  { args, freshParams: free }: OverloadSearch,
): Pick<Overload, 'params' | 'result'> {
  const names = paramNames(overload);
  if (names.length === 0) return overload;
  if (overload.params.length !== args.length) {
    free.skip(names.length);
    return overload;
  }
  const fresh = new Substitutions();
  for (const name of names) fresh.bind(name, free.next());
  return {
    params: overload.params.map((param) => fresh.apply(param, 'keep')),
    result: fresh.apply(overload.result, 'keep'),
  };
}

const namesOf = new WeakMap<Overload, readonly string[]>();

function paramNames(overload: Overload): readonly string[] {
  const known = namesOf.get(overload);
  if (known !== undefined) return known;
  const names = new Set<string>();
  for (const type of [overload.result, ...overload.params]) collectNames(type, names);
  const list = [...names];
  namesOf.set(overload, list);
  return list;
}

function collectNames(type: CelType, names: Set<string>): void {
  if (type.kind === 'param') names.add(type.name);
  for (const part of typeParams(type)) collectNames(part, names);
}

/** Bindings of type parameters to types. */
export class Substitutions {
  readonly #bound = new Map<string, CelType>();
  /** Previous bindings, most recent last, to roll back a failed unification. */
  readonly #changes: { readonly name: string; readonly before: CelType | undefined }[] = [];

  /** Unifies two types. If they do not unify, the bindings are unchanged. */
  fit(left: CelType, right: CelType): boolean {
    return this.fitAll([left], [right]);
  }

  fitAll(lefts: readonly CelType[], rights: readonly CelType[]): boolean {
    const mark = this.#changes.length;
    if (this.#allFit(lefts, rights)) return true;
    while (this.#changes.length > mark) {
      const change = this.#changes.pop();
      if (change === undefined) break;
      if (change.before === undefined) this.#bound.delete(change.name);
      else this.#bound.set(change.name, change.before);
    }
    return false;
  }

  bind(name: string, type: CelType): void {
    this.#changes.push({ name, before: this.#bound.get(name) });
    this.#bound.set(name, type);
  }

  /** Substitutes bound parameters. Unbound ones are kept or replaced by dyn. */
  apply(type: CelType, free: 'keep' | 'dyn', done = new Map<CelType, CelType>()): CelType {
    if (isConcrete(type)) return type;
    const known = done.get(type);
    if (known !== undefined) return known;
    const part = (inner: CelType) => this.apply(inner, free, done);
    const applied = this.#applyTo(type, free, part);
    done.set(type, applied);
    return applied;
  }

  #applyTo(type: CelType, free: 'keep' | 'dyn', part: (inner: CelType) => CelType): CelType {
    switch (type.kind) {
      case 'param': {
        const bound = this.#bound.get(type.name);
        if (bound !== undefined) return part(bound);
        return free === 'dyn' ? DYN : type;
      }
      case 'list':
        return listOf(part(type.element));
      case 'map':
        return mapOf(part(type.key), part(type.value));
      case 'opaque':
        return opaqueType(type.name, ...type.params.map(part));
      case 'type':
        return type.of === undefined ? type : typeOf(part(type.of));
      default:
        return type;
    }
  }

  #allFit(lefts: readonly CelType[], rights: readonly CelType[]): boolean {
    return lefts.length === rights.length && lefts.every((left, index) => this.#fits(left, rights[index] as CelType));
  }

  #fits(left: CelType, right: CelType): boolean {
    if (left === right && isConcrete(left)) return true;
    if (right.kind === 'param') {
      const outcome = this.#fitParam(right, left);
      if (outcome !== 'impossible') return outcome === 'fits';
      // The parameter occurs in the type it would be bound to; try the other direction.
    }
    if (left.kind === 'param') return this.#fitParam(left, right) === 'fits';
    if (isDynOrError(left) || isDynOrError(right)) return true;
    if (left.kind === 'null') return acceptsNull(right);
    if (right.kind === 'null') return acceptsNull(left);
    switch (left.kind) {
      case 'type':
        return right.kind === 'type';
      case 'opaque':
      case 'list':
      case 'map':
        return (
          left.kind === kindOf(right) &&
          typeName(left) === typeName(right) &&
          this.#allFit(typeParams(left), typeParams(right))
        );
      default:
        return accepts(right, left);
    }
  }

  /**
   * `differs`: the parameter is bound to a type that does not match. `impossible`: it is unbound, but occurs in the
   * other type.
   */
  #fitParam(param: CelType & { kind: 'param' }, type: CelType): 'fits' | 'differs' | 'impossible' {
    if (sameType(param, type)) return 'fits';
    const bound = this.#bound.get(param.name);
    if (bound === undefined) {
      if (this.#occursIn(param, type)) return 'impossible';
      this.bind(param.name, type);
      return 'fits';
    }
    if (kindOf(type) === kindOf(bound) && sameType(type, bound)) return 'fits';
    if (!this.#fits(type, bound)) return 'differs';
    const general = mostGeneral(type, bound);
    if (!this.#occursIn(param, general)) this.bind(param.name, general);
    return 'fits';
  }

  #occursIn(param: CelType, type: CelType, seen = new Set<CelType>()): boolean {
    if (sameType(param, type)) return true;
    if (isConcrete(type) || seen.has(type)) return false;
    seen.add(type);
    if (type.kind === 'param') {
      const bound = this.#bound.get(type.name);
      return bound !== undefined && this.#occursIn(param, bound, seen);
    }
    return typeParams(type).some((part) => this.#occursIn(param, part, seen));
  }
}

const concreteTypes = new WeakMap<CelType, boolean>();

/**
 * Whether a type contains no type parameters. The result is cached: nested literals such as `{y: {x: x}}` produce types
 * that are huge when written out, and only shared parts keep them small.
 */
function isConcrete(type: CelType): boolean {
  if (type.kind === 'param') return false;
  const parts = typeParams(type);
  if (parts.length === 0) return true;
  const known = concreteTypes.get(type);
  if (known !== undefined) return known;
  const answer = parts.every(isConcrete);
  concreteTypes.set(type, answer);
  return answer;
}
