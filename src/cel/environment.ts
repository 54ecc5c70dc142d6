/**
 * Builds environments from libraries and checks them for conflicting declarations. An extended environment stores only
 * its own declarations and delegates to its base, so that one environment per schema node is cheap.
 */
import { invariant } from '../util/invariant.js';
import { accepts, equivalentType } from './check/relations.js';
import type { Environment, EnvironmentOptions } from './engine.js';
import type { FunctionDeclaration, Library, Macro, Overload } from './library.js';
import { macroKey } from './parse/node-builder.js';
import { STANDARD_LIBRARY } from './standard/library.js';
import type { CelType, TypeProvider } from './types.js';
import type { CelValue } from './values.js';

/** A read-only map that layers its own entries over a base map without copying it. */
class LayeredMap<Key, Value> implements ReadonlyMap<Key, Value> {
  readonly #base: ReadonlyMap<Key, Value>;
  readonly #own: ReadonlyMap<Key, Value>;

  private constructor(base: ReadonlyMap<Key, Value>, own: ReadonlyMap<Key, Value>) {
    this.#base = base;
    this.#own = own;
  }

  static over<Key, Value>(base: ReadonlyMap<Key, Value>, own: ReadonlyMap<Key, Value>): ReadonlyMap<Key, Value> {
    if (own.size === 0) return base;
    return base.size === 0 ? own : new LayeredMap(base, own);
  }

  get size(): number {
    let size = this.#base.size;
    for (const key of this.#own.keys()) if (!this.#base.has(key)) size++;
    return size;
  }

  get(key: Key): Value | undefined {
    return (this.#own.has(key) ? this.#own : this.#base).get(key);
  }

  has(key: Key): boolean {
    return this.#own.has(key) || this.#base.has(key);
  }

  *entries(): MapIterator<[Key, Value]> {
    for (const entry of this.#base) if (!this.#own.has(entry[0])) yield entry;
    yield* this.#own;
  }

  *keys(): MapIterator<Key> {
    for (const [key] of this.entries()) yield key;
  }

  *values(): MapIterator<Value> {
    for (const [, value] of this.entries()) yield value;
  }

  [Symbol.iterator](): MapIterator<[Key, Value]> {
    return this.entries();
  }

  forEach(run: (value: Value, key: Key, map: ReadonlyMap<Key, Value>) => void): void {
    for (const [key, value] of this.entries()) run(value, key, this);
  }
}

const NO_TYPES: TypeProvider = {
  hasType: () => false,
  fieldType: () => undefined,
  fieldNames: () => [],
};

/** Creates an environment with the standard library. Throws if libraries have conflicting declarations. */
export function createEnvironment(options: EnvironmentOptions = {}): Environment {
  const empty: Layer = {
    functions: new Map(),
    overloads: new Map(),
    macros: new Map(),
    variables: new Map(),
    constants: new Map(),
    libraries: [],
    provider: NO_TYPES,
    options: { homogeneousLiterals: true, crossTypeComparisons: true, literalChecks: true, container: '' },
  };
  return environmentOf(
    extendEnvironment(empty, { ...options, libraries: [STANDARD_LIBRARY, ...(options.libraries ?? [])] }),
  );
}

type Layer = Omit<Environment, 'extend'>;

function environmentOf(layer: Layer): Environment {
  return { ...layer, extend: (options) => environmentOf(extendEnvironment(layer, options)) };
}

function extendEnvironment(base: Layer, options: EnvironmentOptions): Layer {
  // Libraries that the base already has are skipped.
  const libraries = (options.libraries ?? []).filter(({ name }) => !base.libraries.some((one) => one.name === name));
  const { functions, overloads } = libraries.length === 0 ? base : withFunctions(base, libraries);
  const { variables, constants } = withVariables(base, libraries, options.variables ?? {});
  return {
    functions,
    overloads,
    macros: withMacros(base, libraries),
    variables,
    constants,
    libraries: libraries.length === 0 ? base.libraries : [...base.libraries, ...libraries],
    provider: options.provider === undefined ? base.provider : eitherProvider(options.provider, base.provider),
    options: {
      homogeneousLiterals: options.homogeneousLiterals ?? base.options.homogeneousLiterals,
      crossTypeComparisons: options.crossTypeComparisons ?? base.options.crossTypeComparisons,
      literalChecks: options.literalChecks ?? base.options.literalChecks,
      container: options.container ?? base.options.container,
    },
  };
}

function withFunctions(base: Layer, libraries: readonly Library[]): Pick<Layer, 'functions' | 'overloads'> {
  const functions = new Map<string, FunctionDeclaration>();
  const overloads = new Map<string, { readonly function: string; readonly call?: (...args: CelValue[]) => CelValue }>();
  for (const declaration of libraries.flatMap((library) => library.functions ?? [])) {
    const { name } = declaration;
    const before = functions.get(name) ?? base.functions.get(name);
    functions.set(name, before === undefined ? declaration : mergeOverloads(before, declaration));
    for (const { id, call } of declaration.overloads) {
      overloads.set(id, call === undefined ? { function: name } : { function: name, call });
    }
  }
  return {
    functions: LayeredMap.over(base.functions, functions),
    overloads: LayeredMap.over(base.overloads, overloads),
  };
}

/** Appends overloads. An overload that exists with the same signature may get its implementation. */
function mergeOverloads(before: FunctionDeclaration, more: FunctionDeclaration): FunctionDeclaration {
  const overloads = [...before.overloads];
  for (const overload of more.overloads) {
    const at = overloads.findIndex(({ id }) => id === overload.id);
    const clash = overloads.find((other) => other.id !== overload.id && overlap(other, overload));
    invariant(clash === undefined, `overloads ${clash?.id} and ${overload.id} of ${more.name} overlap`);
    if (at < 0) {
      overloads.push(overload);
      continue;
    }
    invariant(sameSignature(overloads[at] as Overload, overload), `overload ${overload.id} is declared in two ways`);
    if (overload.call !== undefined) overloads[at] = overload;
  }
  return { name: before.name, overloads };
}

/** Whether some arguments match both overloads. */
function overlap(left: Overload, right: Overload): boolean {
  return (
    left.member === right.member &&
    left.params.length === right.params.length &&
    left.params.every((param, index) => {
      const other = right.params[index] as CelType;
      return accepts(param, other) || accepts(other, param);
    })
  );
}

function sameSignature(left: Overload, right: Overload): boolean {
  return (
    left.member === right.member &&
    left.params.length === right.params.length &&
    equivalentType(left.result, right.result) &&
    left.params.every((param, index) => equivalentType(param, right.params[index] as CelType))
  );
}

function withVariables(
  base: Layer,
  libraries: readonly Library[],
  given: Readonly<Record<string, CelType>>,
): Pick<Layer, 'variables' | 'constants'> {
  const variables = new Map<string, CelType>();
  const constants = new Map<string, CelValue>();
  const declare = (name: string, type: CelType): void => {
    const before = variables.get(name) ?? base.variables.get(name);
    invariant(before === undefined || equivalentType(before, type), `variable ${name} is declared with two types`);
    variables.set(name, type);
  };
  for (const library of libraries) {
    for (const [name, { type, value }] of Object.entries(library.variables ?? {})) {
      declare(name, type);
      constants.set(name, value);
    }
  }
  for (const [name, type] of Object.entries(given)) declare(name, type);
  return {
    variables: LayeredMap.over(base.variables, variables),
    constants: LayeredMap.over(base.constants, constants),
  };
}

/** A later macro replaces an earlier one for the same call shape. */
function withMacros(base: Layer, libraries: readonly Library[]): Layer['macros'] {
  const macros = new Map<string, Macro>();
  for (const macro of libraries.flatMap((library) => library.macros ?? [])) {
    macros.set(macroKey(macro.function, macro.args, macro.member), macro);
  }
  return LayeredMap.over(base.macros, macros);
}

function eitherProvider(first: TypeProvider, second: TypeProvider): TypeProvider {
  if (second === NO_TYPES) return first;
  const of = (typeName: string) => (first.hasType(typeName) ? first : second);
  return {
    hasType: (name) => first.hasType(name) || second.hasType(name),
    fieldType: (typeName, field) => of(typeName).fieldType(typeName, field),
    fieldNames: (typeName) => of(typeName).fieldNames(typeName),
    namedType: (name) => first.namedType?.(name) ?? second.namedType?.(name),
    construct: (typeName, fields) => {
      const { construct } = of(typeName);
      invariant(construct !== undefined, `objects of type ${typeName} cannot be made`);
      return construct.call(of(typeName), typeName, fields);
    },
  };
}
