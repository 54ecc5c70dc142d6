/**
 * Name resolution: comprehension variables, environment variables, type names and enum constants, relative to the
 * container.
 */

import { own } from '../../util/json.js';
import type { Expr } from '../ast.js';
import type { Environment } from '../engine.js';
import { type CelType, INT, objectType, type TypeProvider, typeOf } from '../types.js';
import type { CelValue } from '../values.js';
import { wellKnownEnumValue, wellKnownMessage } from '../well-known-messages.js';

/** The variables of a comprehension; inner scopes hide outer ones. */
export interface Scope {
  readonly outer: Scope | undefined;
  readonly variables: ReadonlyMap<string, CelType>;
}

interface ResolvedName {
  /** The fully qualified name. */
  readonly name: string;
  readonly type: CelType;
  /** Set for constants. */
  readonly value?: CelValue;
}

/** Resolves a name; undefined if it is undeclared. */
export function findName(environment: Environment, scope: Scope | undefined, name: string): ResolvedName | undefined {
  for (const candidate of candidateNames(environment.options.container, name)) {
    const type = localType(scope, candidate);
    if (type !== undefined) return { name: candidate, type };
    const found = globalName(environment, candidate);
    if (found !== undefined) return found;
  }
  return undefined;
}

function localType(scope: Scope | undefined, name: string): CelType | undefined {
  for (let at = scope; at !== undefined; at = at.outer) {
    const type = at.variables.get(name);
    if (type !== undefined) return type;
  }
  return undefined;
}

function globalName({ variables, constants, provider }: Environment, name: string): ResolvedName | undefined {
  const variable = variables.get(name);
  if (variable !== undefined) {
    const value = constants.get(name);
    return value === undefined ? { name, type: variable } : { name, type: variable, value };
  }
  const type = provider.hasType(name) ? objectType(name) : (provider.namedType?.(name) ?? wellKnownMessage(name)?.type);
  if (type !== undefined) return { name, type: typeOf(type) };
  const number = wellKnownEnumValue(name);
  return number === undefined ? undefined : { name, type: INT, value: number };
}

/**
 * The fully qualified names that a name may stand for, innermost first: in the container `a.b`, `c.d` may be `a.b.c.d`,
 * `a.c.d` or `c.d`. A name with a leading dot is fully qualified.
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

/** Returns `a.b.c` if the expression is a chain of field selections on an identifier. */
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

/** Whether an object type or well-known message with this name exists. */
export function hasObjectType(provider: TypeProvider, name: string): boolean {
  return provides(provider, name) || wellKnownMessage(name) !== undefined;
}

/** The type of a field of an object type or well-known message; undefined if it does not exist. */
export function fieldType(provider: TypeProvider, typeName: string, field: string): CelType | undefined {
  if (provides(provider, typeName)) return provider.fieldType(typeName, field);
  return own(wellKnownMessage(typeName)?.fields ?? {}, field);
}

function provides(provider: TypeProvider, name: string): boolean {
  return provider.hasType(name) || provider.namedType?.(name) !== undefined;
}
