/**
 * Type parameters and what they turn out to be.
 *
 * `[] + [1]` is a call of `_+_(list(A), list(A))`. For the call A becomes a fresh `_var1`, the empty list is a
 * `list(_var0)`. Fitting the first argument binds `_var1` to `_var0`, fitting the second makes `_var0` an int, and so
 * the result `list(_var1)` is a `list(int)`.
 */

import type { FunctionDeclaration, Overload } from '../library.js';
import { CROSS_TYPE_COMPARISONS } from '../standard/declarations.js';
import type { CelType } from '../types.js';
import { DYN, listOf, mapOf, opaqueType, typeName, typeOf, typeParam, typeParams } from '../types.js';
import { accepts, acceptsNull, isDyn, isDynOrError, kindOf, mostGeneral, sameType } from './relations.js';

/** Fresh type parameters, numbered in the order in which they are made: messages may show them. */
export class FreeTypes {
  #next = 0;
  next(): CelType {
    return typeParam(`_var${this.#next++}`);
  }
  skip(count: number): void {
    this.#next += count;
  }
}

const namesOf = new WeakMap<Overload, readonly string[]>();

export class Substitutions {
  readonly #bound = new Map<string, CelType>();
  /** What was bound before, last change last, so that an attempt that fails leaves nothing behind. */
  readonly #changes: { readonly name: string; readonly before: CelType | undefined }[] = [];

  /** Binds what must be bound for two types to fit; when they cannot, nothing changes. */
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

  /** The type with what is known of its parameters. Those that are free stay, or become dyn. */
  apply(type: CelType, free: 'stay' | 'dyn', done = new Map<CelType, CelType>()): CelType {
    if (isSettled(type)) return type;
    const known = done.get(type);
    if (known !== undefined) return known;
    const part = (inner: CelType) => this.apply(inner, free, done);
    const applied = this.#applyTo(type, free, part);
    done.set(type, applied);
    return applied;
  }

  #applyTo(type: CelType, free: 'stay' | 'dyn', part: (inner: CelType) => CelType): CelType {
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
    if (left === right && isSettled(left)) return true;
    if (right.kind === 'param') {
      const outcome = this.#fitParam(right, left);
      if (outcome !== 'impossible') return outcome === 'fits';
      // A parameter within the type it should become: perhaps it fits the other way around.
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

  /** `differs`: it is bound to something that does not fit. `impossible`: it is free, but part of the other type. */
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
    if (isSettled(type) || seen.has(type)) return false;
    seen.add(type);
    if (type.kind === 'param') {
      const bound = this.#bound.get(type.name);
      return bound !== undefined && this.#occursIn(param, bound, seen);
    }
    return typeParams(type).some((part) => this.#occursIn(param, part, seen));
  }
}

/**
 * Whether a type has no parameters. It is remembered, since `{x: x}` within `{y: y}` within … is a small expression with
 * a type that is huge when written out: only the parts that are shared keep it small.
 */
function isSettled(type: CelType): boolean {
  if (type.kind === 'param') return false;
  const parts = typeParams(type);
  if (parts.length === 0) return true;
  const known = settled.get(type);
  if (known !== undefined) return known;
  const answer = parts.every(isSettled);
  settled.set(type, answer);
  return answer;
}

const settled = new WeakMap<CelType, boolean>();

interface Resolution {
  readonly overloads: readonly string[];
  readonly type: CelType;
}

interface OverloadSearch {
  readonly known: Substitutions;
  readonly free: FreeTypes;
  readonly member: boolean;
  /** The receiver first. */
  readonly args: readonly CelType[];
  readonly crossTypeComparisons: boolean;
}

/** Undefined when no overload fits. Binds the type parameters of the arguments as all that fit demand it. */
export function resolveOverloads(declaration: FunctionDeclaration, search: OverloadSearch): Resolution | undefined {
  const overloads: string[] = [];
  let type: CelType | undefined;
  for (const overload of declaration.overloads) {
    if (!search.crossTypeComparisons && CROSS_TYPE_COMPARISONS.has(overload.id)) continue;
    if (overload.member !== search.member) continue;
    const { params, result } = instantiate(overload, search);
    if (!search.known.fitAll(search.args, params)) continue;
    overloads.push(overload.id);
    const found = search.known.apply(result, 'stay');
    if (type === undefined) type = found;
    else if (!isDyn(type) && !sameType(found, type)) type = DYN;
  }
  return type === undefined ? undefined : { overloads, type };
}

/** An overload with fresh type parameters, so that two calls of it have nothing to do with each other. */
function instantiate(overload: Overload, { args, free }: OverloadSearch): Pick<Overload, 'params' | 'result'> {
  const names = paramNames(overload);
  if (names.length === 0) return overload;
  if (overload.params.length !== args.length) {
    free.skip(names.length);
    return overload;
  }
  const fresh = new Substitutions();
  for (const name of names) fresh.bind(name, free.next());
  return {
    params: overload.params.map((param) => fresh.apply(param, 'stay')),
    result: fresh.apply(overload.result, 'stay'),
  };
}

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
