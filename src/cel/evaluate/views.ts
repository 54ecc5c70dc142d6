/**
 * Lists and maps: those that expressions make, and stored JSON looked at where it is. Nothing here reaches a property
 * by a name from an expression: keys are looked up in maps, or as own keys of plain records.
 */

import { isRecord, NumberText } from '../../util/json.js';
import { intOf, intOfDouble, uintOfDouble } from '../numbers.js';
import type { CelValue } from '../values.js';
import { CelList, CelMap, CelUint } from '../values.js';
import { spend } from '../work-budget.js';

/** Reading an item of a list and putting it into another, the memory it needs included. */
const ITEM = 30;

/**
 * A list of values. It never changes, and still grows cheaply: lists made from one another by `+` share one array, and
 * each looks at as many items as it has.
 *
 * Example: `a = [x]`, `b = a + [y]`, `c = b + [z]` are one array `x y z` seen with sizes 1, 2 and 3. Who then adds to
 * `b` once more, which was already added to, gets a copy.
 */
export class ArrayList extends CelList {
  readonly size: number;
  readonly #items: CelValue[];
  /** The array was made here to be added to; others belong to somebody else. */
  readonly #grows: boolean;

  constructor(items: readonly CelValue[], size = items.length, grows = false) {
    super();
    this.#items = items as CelValue[];
    this.size = size;
    this.#grows = grows;
  }

  at(index: number): CelValue {
    return this.#items[index] as CelValue;
  }

  /** This list and another one behind it. */
  static joined(left: CelList, right: CelList): ArrayList {
    const extends_ = left instanceof ArrayList && left.#grows && left.#items.length === left.size;
    const items = extends_ ? left.#items : itemsOf(left);
    spend(right.size * ITEM);
    for (let index = 0; index < right.size; index++) items.push(right.at(index));
    return new ArrayList(items, items.length, true);
  }
}

/** A copy. */
export function itemsOf(list: CelList): CelValue[] {
  spend(list.size * ITEM);
  const items: CelValue[] = [];
  for (let index = 0; index < list.size; index++) items.push(list.at(index));
  return items;
}

type Entry = readonly [key: CelValue, value: CelValue];

/** A map from entries. Of entries with the same key the last counts; keys of different types are different ones. */
export class EntryMap extends CelMap {
  /** Strings, bools, ints and doubles tell themselves apart. */
  readonly #entries = new Map<CelValue, Entry>();
  /** Apart, since a uint is an object here. */
  readonly #uints = new Map<bigint, Entry>();

  constructor(entries: Iterable<Entry>) {
    super();
    for (const entry of entries) {
      if (entry[0] instanceof CelUint) this.#uints.set(entry[0].value, entry);
      else this.#entries.set(entry[0], entry);
    }
  }

  get size(): number {
    return this.#entries.size + this.#uints.size;
  }

  get(key: CelValue): CelValue | undefined {
    if (typeof key === 'string') return this.#entries.get(key)?.[1];
    return this.#find(key)?.[1];
  }

  *keys(): Iterable<CelValue> {
    for (const [key] of this.#entries.values()) yield key;
    for (const [key] of this.#uints.values()) yield key;
  }

  /** Ints and uints find each other, and doubles find both; a double is found by doubles only. */
  #find(key: CelValue): Entry | undefined {
    if (key instanceof CelUint) return this.#uints.get(key.value) ?? this.#entries.get(key.value);
    const found = this.#entries.get(key);
    // NaN is no key that is ever found again.
    if (found !== undefined) return Number.isNaN(key) ? undefined : found;
    if (typeof key === 'bigint') return this.#uints.get(key);
    if (typeof key !== 'number' || !Number.isInteger(key)) return undefined;
    const [int, uint] = [intOfDouble(key), uintOfDouble(key)];
    const byInt = int === undefined ? undefined : this.#entries.get(int);
    return byInt ?? (uint === undefined ? undefined : this.#uints.get(uint));
  }
}

/** An array of JSON. */
export class JsonList extends CelList {
  readonly #items: readonly unknown[];

  constructor(items: readonly unknown[]) {
    super();
    this.#items = items;
  }

  /** The JSON itself. */
  get raw(): readonly unknown[] {
    return this.#items;
  }

  get size(): number {
    return this.#items.length;
  }

  at(index: number): CelValue {
    return jsonValue(this.#items[index]);
  }
}

/** A record of JSON: a map from its own keys. Keys that hold `undefined` are not there. */
export class JsonMap extends CelMap {
  readonly #record: Readonly<Record<string, unknown>>;
  #keys: readonly string[] | undefined;

  constructor(record: Readonly<Record<string, unknown>>) {
    super();
    this.#record = record;
  }

  /** The JSON itself. */
  get raw(): Readonly<Record<string, unknown>> {
    return this.#record;
  }

  get size(): number {
    return this.keys().length;
  }

  get(key: CelValue): CelValue | undefined {
    if (typeof key !== 'string' || !Object.hasOwn(this.#record, key)) return undefined;
    const value = this.#record[key];
    return value === undefined ? undefined : jsonValue(value);
  }

  keys(): readonly string[] {
    this.#keys ??= Object.keys(this.#record).filter((key) => this.#record[key] !== undefined);
    return this.#keys;
  }
}

/**
 * JSON of which no schema is known: whole numbers are ints, other numbers doubles, records maps. What is no JSON is
 * null.
 *
 * @example
 * jsonValue({ replicas: 3 }) // a CelMap whose `replicas` is 3n
 */
export function jsonValue(value: unknown): CelValue {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value;
    case 'number':
      return Number.isSafeInteger(value) ? intOf(value) : value;
    case 'bigint':
      return BigInt.asIntN(64, value) === value ? value : Number(value);
    default:
  }
  if (Array.isArray(value)) return new JsonList(value);
  if (value instanceof NumberText) return Number(value.text);
  return isRecord(value) ? new JsonMap(value) : null;
}
