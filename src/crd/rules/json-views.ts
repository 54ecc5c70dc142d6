/**
 * CEL maps and lists backed by JSON, read in place. Like in the reference server, objects and maps are both CEL maps:
 * an absent field is an absent key, and `type(self)` is a map. `set` and `map` lists have their own `==` and `+`: the
 * order of items is ignored, and added items replace items with the same key.
 * upstream: apiserver/pkg/cel/common/values.go unstructuredMapList, unstructuredSetList
 */

import {
  CelError,
  CelList,
  CelMap,
  CelOpaque,
  type CelValue,
  celEquals,
  keysOf,
  opaqueType,
  spendWork,
} from '../../cel/index.js';
import { deepEqual } from '../../util/json.js';
import { escapeName, unescapeName } from './escape.js';
import { isJsonRecord, jsonOf, jsonTypeName, scalarKey } from './json-values.js';

/** Converts a JSON value to a CEL value. Throws a CelError if the value does not match the schema. */
export type CelReader = (json: unknown) => CelValue;

type Fields = Readonly<Record<string, unknown>>;

/** The error for operands of the wrong type. */
export const noSuchOverload = () => new CelError('no such overload');

/** Work to read and compare an item or a field, and to copy an item. */
const COMPARE = 30;
const COPY = 20;

/** `left == right` for values read from JSON. Values of different types cannot be compared. */
function sameValue(left: CelValue, right: CelValue): boolean {
  if ((left instanceof CelMap || left instanceof CelList) && left.equals !== undefined) return left.equals(right);
  return celEquals(left, right);
}

/** The common base class. Size and equality include all keys, whether specified by the schema or not. */
abstract class SchemaMap extends CelMap {
  constructor(readonly raw: Fields) {
    super();
  }

  get size(): number {
    return keysOf(this.raw).length;
  }

  /** Returns the reader of a key, by its JSON name. */
  abstract readerOf(name: string): CelReader | undefined;

  override equals(other: CelValue): boolean {
    if (!(other instanceof CelMap)) throw noSuchOverload();
    if (this.size !== other.size) return false;
    return keysOf(this.raw).every((name) => {
      spendWork(COMPARE);
      const read = this.readerOf(name);
      if (read === undefined) return this.#sameUnknown(name, other);
      const theirs = other.get(name);
      return theirs !== undefined && sameValue(read(this.raw[name]), theirs);
    });
  }

  /** Fields without a schema are compared as JSON. */
  #sameUnknown(name: string, other: CelMap): boolean {
    if (!(other instanceof SchemaMap)) throw noSuchOverload();
    return !Object.hasOwn(other.raw, name) || sameJson(this.raw[name], other.raw[name]);
  }
}

/** The readers of a schema's properties, created once. */
export class ObjectFields {
  readonly #readers = new Map<string, CelReader>();
  /** JSON names by escaped name. */
  readonly #names = new Map<string, string>();

  constructor(readers: Iterable<readonly [name: string, reader: CelReader]>) {
    for (const [name, reader] of readers) {
      this.#readers.set(name, reader);
      const escaped = escapeName(name);
      if (escaped !== undefined) this.#names.set(escaped, name);
    }
  }

  reader(name: string): CelReader | undefined {
    return this.#readers.get(name);
  }

  /** An expression may also use an unescaped name, in brackets after `dyn()`. */
  nameOf(spelled: string): string | undefined {
    return this.#names.get(spelled) ?? unescapeName(spelled);
  }
}

/** An object with properties. Fields with null count as absent. */
export class ObjectView extends SchemaMap {
  constructor(
    raw: Fields,
    readonly fields: ObjectFields,
  ) {
    super(raw);
  }

  get(key: CelValue): CelValue | undefined {
    if (typeof key !== 'string') throw noSuchOverload();
    const name = this.fields.nameOf(key);
    if (name === undefined || !Object.hasOwn(this.raw, name)) return undefined;
    const json = this.raw[name];
    if (json === null || json === undefined) return undefined;
    return this.fields.reader(name)?.(json);
  }

  /** Fields without a schema have no name but count as keys. */
  *keys(): Iterable<CelValue> {
    let unknown = 0;
    for (const name of keysOf(this.raw)) {
      if (this.fields.reader(name) === undefined) unknown++;
      else yield escapeName(name) ?? name;
    }
    for (; unknown > 0; unknown--) yield null;
  }

  override readerOf(name: string): CelReader | undefined {
    return this.fields.reader(name);
  }
}

/** An object with arbitrary keys (`additionalProperties`). */
export class MapView extends SchemaMap {
  constructor(
    raw: Fields,
    readonly read: CelReader,
  ) {
    super(raw);
  }

  get(key: CelValue): CelValue | undefined {
    if (typeof key !== 'string') throw noSuchOverload();
    return Object.hasOwn(this.raw, key) ? this.read(this.raw[key]) : undefined;
  }

  keys(): Iterable<CelValue> {
    return keysOf(this.raw);
  }

  override readerOf(): CelReader {
    return this.read;
  }
}

/**
 * A value that the schema preserves without describing it. Expressions cannot access it but can compare objects that
 * contain it.
 */
export class PreservedValue extends CelOpaque {
  readonly type = opaqueType('unknown');

  constructor(readonly raw: unknown) {
    super();
  }

  equals(other: CelValue): boolean {
    return other instanceof PreservedValue && sameJson(this.raw, other.raw);
  }
}

/** An atomic list: the order of items matters. */
export class ListView extends CelList {
  constructor(
    readonly raw: readonly unknown[],
    readonly read: CelReader,
  ) {
    super();
  }

  get size(): number {
    return this.raw.length;
  }

  at(index: number): CelValue {
    return this.read(this.raw[index]);
  }

  override equals(other: CelValue): boolean {
    const list = listOfSize(other, this.size);
    if (list === undefined) return false;
    return this.raw.every((_, index) => {
      spendWork(COMPARE);
      return sameValue(this.at(index), list.at(index));
    });
  }

  override concat(other: CelList): CelList {
    spendWork(this.size * COPY);
    return new ListView([...this.raw, ...plainItems(other)], this.read);
  }
}

/** A `set` list. */
export class SetView extends ListView {
  override equals(other: CelValue): boolean {
    const list = listOfSize(other, this.size);
    if (list === undefined) return false;
    spendWork(this.size * COMPARE);
    const existing = new Set(this.raw.map(itemKey));
    return plainItems(list).every((item) => existing.has(itemKey(item)));
  }

  override concat(other: CelList): CelList {
    spendWork(this.size * COMPARE);
    const existing = new Set(this.raw.map(itemKey));
    const added = plainItems(other).filter((item) => {
      const key = itemKey(item);
      if (existing.has(key)) return false;
      existing.add(key);
      return true;
    });
    return new SetView([...this.raw, ...added], this.read);
  }
}

/** A `map` list. */
export class KeyedListView extends ListView {
  constructor(
    raw: readonly unknown[],
    read: CelReader,
    /** Escaped names, although they are looked up in JSON: as in the reference server. */
    readonly keyNames: readonly string[],
  ) {
    super(raw, read);
  }

  override equals(other: CelValue): boolean {
    const list = listOfSize(other, this.size);
    if (list === undefined) return false;
    spendWork(this.size * COMPARE * 2);
    const byKey = new Map(this.raw.map((item) => [this.#keyOf(item), item]));
    for (let index = 0; index < list.size; index++) {
      const theirs = list.at(index);
      const key = this.#keyOf(jsonOf(theirs));
      if (!byKey.has(key) || !sameValue(this.read(byKey.get(key)), theirs)) return false;
    }
    return true;
  }

  override concat(other: CelList): CelList {
    spendWork(this.size * COMPARE * 2);
    const items = [...this.raw];
    const indexes = new Map(this.raw.map((item, index) => [this.#keyOf(item), index]));
    for (const item of plainItems(other)) {
      const index = indexes.get(this.#keyOf(item));
      if (index === undefined) items.push(item);
      else items[index] = item;
    }
    return new KeyedListView(items, this.read, this.keyNames);
  }

  /** A value that is not an object has a unique key, so that it is never found. */
  #keyOf(item: unknown): unknown {
    if (!isJsonRecord(item)) return {};
    return this.keyNames.map((name) => (Object.hasOwn(item, name) ? itemKey(item[name]) : 'n')).join('\0');
  }
}

/** Returns the list if it has the given size; lists of different sizes are not equal. */
function listOfSize(other: CelValue, size: number): CelList | undefined {
  if (!(other instanceof CelList)) throw noSuchOverload();
  return other.size === size ? other : undefined;
}

function plainItems(list: CelList): unknown[] {
  spendWork(list.size * COPY);
  return Array.from({ length: list.size }, (_, index) => jsonOf(list.at(index)));
}

/** Like `deepEqual`, within the work budget. */
function sameJson(left: unknown, right: unknown): boolean {
  spendWork(COMPARE);
  if (Array.isArray(left) && Array.isArray(right))
    return left.length === right.length && left.every((item, index) => sameJson(item, right[index]));
  if (!isJsonRecord(left) || !isJsonRecord(right)) return deepEqual(left, right);
  const names = Object.keys(left);
  if (names.length !== Object.keys(right).length) return false;
  return names.every((name) => Object.hasOwn(right, name) && sameJson(left[name], right[name]));
}

function itemKey(json: unknown): string {
  const key = scalarKey(json);
  if (key !== undefined) return key;
  throw new CelError(`internal error: runtime error: hash of unhashable type ${jsonTypeName(json)}`);
}
