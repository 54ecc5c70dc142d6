/**
 * The names an expression may use where it stands: variables of comprehensions, variables of the environment, names of
 * types, named numbers.
 */

import { own } from '../../util/json.js';
import type { Environment } from '../engine.js';
import type { CelType, TypeProvider } from '../types.js';
import { INT, objectType, typeOf } from '../types.js';
import type { CelValue } from '../values.js';
import { knownEnumValue, knownMessage } from './messages.js';
import { candidateNames } from './names.js';

/** Variables of a comprehension; inner ones hide outer ones. */
export interface Scope {
  readonly outer: Scope | undefined;
  readonly variables: ReadonlyMap<string, CelType>;
}

export interface Named {
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
