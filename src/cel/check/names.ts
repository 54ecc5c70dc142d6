/** How a name is looked up: within a container, and behind dots. */

import { own } from '../../util/json.js';
import type { Expr } from '../ast.js';
import type { Environment } from '../engine.js';
import type { CelType, TypeProvider } from '../types.js';
import { INT, objectType, typeOf } from '../types.js';
import type { CelValue } from '../values.js';
import { knownEnumValue, knownMessage } from './well-known-messages.js';

/**
 * Where a name may be found, nearest first: in the container `a.b`, `c.d` may be `a.b.c.d`, `a.c.d` or `c.d`. With a
 * leading dot it is a whole name.
 */
export function candidateNames(container: string, name: string): readonly string[] {
  if (name.startsWith('.')) return [name.slice(1)];
  if (container === '') return [name];
  const names: string[] = [];
  for (let space = container; space !== ''; space = space.slice(0, Math.max(space.lastIndexOf('.'), 0))) {
    names.push(`${space}.${name}`);
  }
  return [...names, name];
}

/** `a.b.c` when an expression is nothing but names behind dots. */
export function qualifiedName(expr: Expr): string | undefined {
  const fields: string[] = [];
  let rest = expr;
  while (rest.type === 'select') {
    if (rest.testOnly) return undefined;
    fields.push(rest.field);
    rest = rest.operand;
  }
  return rest.type === 'ident' ? [rest.name, ...fields.reverse()].join('.') : undefined;
}

/** Variables of a comprehension; inner ones hide outer ones. */
export interface Scope {
  readonly outer: Scope | undefined;
  readonly variables: ReadonlyMap<string, CelType>;
}

interface Named {
  /** The whole name. */
  readonly name: string;
  readonly type: CelType;
  /** Of constants. */
  readonly value?: CelValue;
}

/** What a name stands for; undefined when it stands for nothing. */
export function findName(environment: Environment, scope: Scope | undefined, name: string): Named | undefined {
  for (const candidate of candidateNames(environment.options.container, name)) {
    const type = localType(scope, candidate);
    if (type !== undefined) return { name: candidate, type };
    const found = globalName(environment, candidate);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Whether there is a type of this name whose fields may be asked for. */
export function hasObjectType(provider: TypeProvider, name: string): boolean {
  return provides(provider, name) || knownMessage(name) !== undefined;
}

export function fieldType(provider: TypeProvider, typeName: string, field: string): CelType | undefined {
  if (provides(provider, typeName)) return provider.fieldType(typeName, field);
  return own(knownMessage(typeName)?.fields ?? {}, field);
}

function provides(provider: TypeProvider, name: string): boolean {
  return provider.hasType(name) || provider.namedType?.(name) !== undefined;
}

function localType(scope: Scope | undefined, name: string): CelType | undefined {
  for (let at = scope; at !== undefined; at = at.outer) {
    const type = at.variables.get(name);
    if (type !== undefined) return type;
  }
  return undefined;
}

function globalName({ variables, constants, provider }: Environment, name: string): Named | undefined {
  const variable = variables.get(name);
  if (variable !== undefined) {
    const value = constants.get(name);
    return value === undefined ? { name, type: variable } : { name, type: variable, value };
  }
  const type = provider.hasType(name) ? objectType(name) : (provider.namedType?.(name) ?? knownMessage(name)?.type);
  if (type !== undefined) return { name, type: typeOf(type) };
  const number = knownEnumValue(name);
  return number === undefined ? undefined : { name, type: INT, value: number };
}
