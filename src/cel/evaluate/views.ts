/**
 * List and map implementations: values that expressions create, and views of stored JSON. Names from an expression
 * never reach JavaScript properties: keys are looked up in maps or as own keys of plain records.
 */

import { isRecord, NumberText } from '../../util/json.js';
import { intOf, intOfDouble, uintOfDouble } from '../numbers.js';
import { CelList, CelMap, CelUint, type CelValue } from '../values.js';
import { spendWork } from '../work-budget.js';

/** Work to read an item and append it to another list, including memory. */
const ITEM = 30;

/**
 * An immutable list that grows cheaply: lists created from one another with `+` share one array, and each reads only
 * its own size.
 *
 * Example: `a = [x]`, `b = a + [y]`, `c = b + [z]` share the array `x y z` with sizes 1, 2 and 3. A second append to
 * `b` copies the array.
 */
export class ArrayList extends CelList {
  readonly size: number;
  readonly #items: CelValue[];
  /** Whether this class owns the array and may append to it. */
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

  /** Concatenates two lists. */
  static joined(left: CelList, right: CelList): ArrayList {
    const canAppend = left instanceof ArrayList && left.#grows && left.#items.length === left.size;
    const items = canAppend ? left.#items : itemsOf(left);
    spendWork(right.size * ITEM);
    for (let index = 0; index < right.size; index++) items.push(right.at(index));
    return new ArrayList(items, items.length, true);
  }
}

/** Copies the items of a list. */
export function itemsOf(list: CelList): CelValue[] {
  spendWork(list.size * ITEM);
  const items: CelValue[] = [];
  for (let index = 0; index < list.size; index++) items.push(list.at(index));
  return items;
}

type Entry = readonly [key: CelValue, value: CelValue];

/** A map from entries. The last of several entries with the same key wins; keys of different types are distinct. */
export class EntryMap extends CelMap {
  /** Entries with string, bool, int and double keys. */
  readonly #entries = new Map<CelValue, Entry>();
  /** Entries with uint keys; a CelUint is an object and has no value identity. */
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

  /** Ints and uints match each other, and a double matches both; a double key is found only by doubles. */
  #find(key: CelValue): Entry | undefined {
    if (key instanceof CelUint) return this.#uints.get(key.value) ?? this.#entries.get(key.value);
    const found = this.#entries.get(key);
    // A NaN key is never found.
    if (found !== undefined) return Number.isNaN(key) ? undefined : found;
    if (typeof key === 'bigint') return this.#uints.get(key);
    if (typeof key !== 'number' || !Number.isInteger(key)) return undefined;
    const [int, uint] = [intOfDouble(key), uintOfDouble(key)];
    const byInt = int === undefined ? undefined : this.#entries.get(int);
    return byInt ?? (uint === undefined ? undefined : this.#uints.get(uint));
  }
}

/** A view of a JSON array. */
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

/** The keys of larger records are kept during an evaluation: each access to a field makes a new view of it. */
const MANY_KEYS = 32;

let keysByRecord: WeakMap<object, readonly string[]> | undefined;

/** Call it before an evaluation, because records may have changed since the previous one. */
export function forgetKeys(): void {
  keysByRecord = undefined;
}

/** The keys of a record whose value is not `undefined`. */
export function keysOf(record: Readonly<Record<string, unknown>>): readonly string[] {
  const known = keysByRecord?.get(record);
  if (known !== undefined) return known;
  const keys = Object.keys(record).filter((key) => record[key] !== undefined);
  if (keys.length > MANY_KEYS) {
    keysByRecord ??= new WeakMap();
    keysByRecord.set(record, keys);
  }
  return keys;
}

/** A view of a JSON object. Keys with the value `undefined` are absent. */
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
    this.#keys ??= keysOf(this.#record);
    return this.#keys;
  }
}

/**
 * Converts JSON without a schema: whole numbers are ints, other numbers doubles, objects maps. Anything else is null.
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
