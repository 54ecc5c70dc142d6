/** Which overloads of a function a call may mean, and what type it then has. */
import type { FunctionDeclaration, Overload } from '../library.js';
import { CROSS_TYPE_COMPARISONS } from '../standard/declarations.js';
import type { CelType } from '../types.js';
import { DYN, typeParam } from '../types.js';
import { typeParams } from './format.js';
import { isDyn, sameType } from './relations.js';
import { Substitutions } from './unify.js';

export interface Resolution {
  readonly overloads: readonly string[];
  readonly type: CelType;
}

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

export interface OverloadSearch {
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
