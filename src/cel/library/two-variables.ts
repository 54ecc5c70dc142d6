/**
 * Two-variable comprehensions: index and item of a list, or key and value of a map. The map-building macros use an
 * insert function that expressions cannot call by name.
 */
import type { Expr } from '../ast.js';
import type { Library, Macro, MacroContext } from '../library.js';
import { mapOf, typeParam } from '../types.js';
import { CelError, CelMap, CelUint, type CelValue } from '../values.js';
import { asInstance, declare, global } from './declare.js';
import { printValue } from './print-value.js';

/**
 * An immutable map that grows cheaply: maps created from one another share their entries, and each reads only its own
 * size. Example: `a = {x}`, `b = a + y`, `c = b + z` share the entries `x y z` with sizes 1, 2 and 3. A second insert
 * into `b` copies the entries.
 */
export class GrowingMap extends CelMap {
  readonly #entries: Entry[];
  readonly #indexes: Map<unknown, number>;
  readonly size: number;

  private constructor(entries: Entry[], indexes: Map<unknown, number>, size: number) {
    super();
    this.#entries = entries;
    this.#indexes = indexes;
    this.size = size;
  }

  static from(map: CelMap): GrowingMap {
    if (map instanceof GrowingMap) return map;
    let made = new GrowingMap([], new Map(), 0);
    for (const key of map.keys()) made = made.with(key, map.get(key) ?? null);
    return made;
  }

  /** Adds an entry. The caller checks that the key is new. */
  with(key: CelValue, value: CelValue): GrowingMap {
    const isLatest = this.#entries.length === this.size;
    const entries = isLatest ? this.#entries : this.#entries.slice(0, this.size);
    const indexes = isLatest ? this.#indexes : new Map(entries.map((entry, index) => [identity(entry.key), index]));
    indexes.set(identity(key), entries.length);
    entries.push({ key, value });
    return new GrowingMap(entries, indexes, this.size + 1);
  }

  get(key: CelValue): CelValue | undefined {
    const index = this.#indexes.get(identity(key));
    return index === undefined || index >= this.size ? undefined : this.#entries[index]?.value;
  }

  *keys(): Iterable<CelValue> {
    for (let index = 0; index < this.size; index++) yield this.#entries[index]?.key ?? null;
  }
}

const MAP_INSERT = 'cel.@mapInsert';
const KEY = typeParam('K');
const VALUE = typeParam('V');
const MAP = mapOf(KEY, VALUE);

export const TWO_VARIABLE_COMPREHENSIONS: Library = {
  name: 'two-variable-comprehensions',
  macros: [
    quantifier('all', forAll),
    quantifier('exists', forSome),
    quantifier('existsOne', forOne),
    quantifier('exists_one', forOne),
    ...transformation('transformList', {
      start: (context) => context.list(),
      step: (context, transform) => context.call('_+_', accumulated(context), context.list(transform)),
    }),
    ...transformation('transformMap', {
      start: (context) => context.map(),
      step: (context, transform, key) => context.call(MAP_INSERT, accumulated(context), context.ident(key), transform),
    }),
    ...transformation('transformMapEntry', {
      start: (context) => context.map(),
      step: (context, transform) => context.call(MAP_INSERT, accumulated(context), transform),
    }),
  ],
  functions: [
    declare(
      MAP_INSERT,
      global('@mapInsert_map_key_value', [MAP, KEY, VALUE], MAP, (map, key, value) =>
        inserted(growing(map), key, value),
      ),
      global('@mapInsert_map_map', [MAP, MAP], MAP, (map, entries) => {
        const more = asInstance(CelMap, entries);
        let made = growing(map);
        for (const key of more.keys()) made = inserted(made, key, more.get(key) ?? null);
        return made;
      }),
    ),
  ],
};

function growing(map: CelValue): GrowingMap {
  return GrowingMap.from(asInstance(CelMap, map));
}

function inserted(map: GrowingMap, key: CelValue, value: CelValue): GrowingMap {
  if (map.get(key) !== undefined) throw new CelError(`insert failed: key ${printValue(key)} already exists`);
  return map.with(key, value);
}

/** The parts of a comprehension that differ between macros. */
interface Fold {
  readonly start: Expr;
  readonly condition: Expr;
  readonly step: Expr;
  readonly result: Expr;
}

function quantifier(name: string, fold: (context: MacroContext, predicate: Expr) => Fold): Macro {
  return {
    function: name,
    member: true,
    args: 3,
    expand: (context, target, [first, second, predicate]) => {
      const names = variables(context, first, second);
      if (names === undefined || target === undefined || predicate === undefined) return undefined;
      return folded(context, target, names, fold(context, predicate));
    },
  };
}

function forAll(context: MacroContext, predicate: Expr): Fold {
  return {
    start: context.literal(true),
    condition: context.call('@not_strictly_false', accumulated(context)),
    step: context.call('_&&_', accumulated(context), predicate),
    result: accumulated(context),
  };
}

function forSome(context: MacroContext, predicate: Expr): Fold {
  return {
    start: context.literal(false),
    condition: context.call('@not_strictly_false', context.call('!_', accumulated(context))),
    step: context.call('_||_', accumulated(context), predicate),
    result: accumulated(context),
  };
}

function forOne(context: MacroContext, predicate: Expr): Fold {
  return {
    start: context.literal(0n),
    condition: context.literal(true),
    step: context.call(
      '_?_:_',
      predicate,
      context.call('_+_', accumulated(context), context.literal(1n)),
      accumulated(context),
    ),
    result: context.call('_==_', accumulated(context), context.literal(1n)),
  };
}

interface Transformation {
  readonly start: (context: MacroContext) => Expr;
  readonly step: (context: MacroContext, transform: Expr, firstVariable: string) => Expr;
}

/** Three arguments transform all items; with four, the third is a filter. */
function transformation(name: string, { start, step }: Transformation): readonly Macro[] {
  const expand: Macro['expand'] = (context, target, [first, second, ...rest]) => {
    const names = variables(context, first, second);
    const transform = rest.at(-1);
    if (names === undefined || target === undefined || transform === undefined) return undefined;
    const filter = rest.length === 2 ? rest[0] : undefined;
    const taken = step(context, transform, names[0]);
    return folded(context, target, names, {
      step: filter === undefined ? taken : context.call('_?_:_', filter, taken, accumulated(context)),
      start: start(context),
      condition: context.literal(true),
      result: accumulated(context),
    });
  };
  return [
    { function: name, member: true, args: 3, expand },
    { function: name, member: true, args: 4, expand },
  ];
}

function folded(context: MacroContext, range: Expr, [iterVar, iterVar2]: readonly [string, string], fold: Fold): Expr {
  return context.comprehension({
    range,
    iterVar,
    iterVar2,
    accuVar: context.accumulator,
    accuInit: fold.start,
    loopCondition: fold.condition,
    loopStep: fold.step,
    result: fold.result,
  });
}

function accumulated(context: MacroContext): Expr {
  return context.ident(context.accumulator);
}

/** The accumulator names of all parser configurations; both are reserved. */
const ACCUMULATORS: readonly string[] = ['__result__', '@result'];

/** The names of the two variables; reports invalid ones. */
function variables(
  context: MacroContext,
  first: Expr | undefined,
  second: Expr | undefined,
): readonly [string, string] | undefined {
  for (const variable of [first, second]) {
    if (variable?.type === 'ident') continue;
    context.report('argument must be a simple name', variable);
    return undefined;
  }
  if (first?.type !== 'ident' || second?.type !== 'ident') return undefined;
  if (first.name === second.name) {
    context.report(`duplicate variable name: ${first.name}`, second);
    return undefined;
  }
  for (const variable of [first, second]) {
    if (variable.name !== context.accumulator && !ACCUMULATORS.includes(variable.name)) continue;
    context.report('iteration variable overwrites accumulator variable', variable);
    return undefined;
  }
  return [first.name, second.name];
}

interface Entry {
  readonly key: CelValue;
  readonly value: CelValue;
}

/** A map key that is equal for equal values: whole numbers of all types are the same. */
function identity(key: CelValue): unknown {
  if (key instanceof CelUint) return key.value;
  return typeof key === 'number' && Number.isInteger(key) ? BigInt(key) : key;
}
