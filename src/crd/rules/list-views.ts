/**
 * CEL lists backed by JSON lists. `set` and `map` lists have their own `==` and `+`: the order of items is ignored, and
 * added items replace items with the same key.
 */

import { CelError, CelList, type CelValue } from '../../cel/index.js';
import { noSuchOverload, type Reader, sameValue } from './map-views.js';
import { isPlainRecord, plainOf, plainTypeName, scalarKey } from './native.js';

/** An atomic list: the order of items matters. */
export class ListView extends CelList {
  constructor(
    readonly raw: readonly unknown[],
    readonly read: Reader,
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
    return list !== undefined && this.raw.every((_, index) => sameValue(this.at(index), list.at(index)));
  }

  override concat(other: CelList): CelList {
    return new ListView([...this.raw, ...plainItems(other)], this.read);
  }
}

/** A `set` list. */
export class SetView extends ListView {
  override equals(other: CelValue): boolean {
    const list = listOfSize(other, this.size);
    if (list === undefined) return false;
    const known = new Set(this.raw.map(itemKey));
    return plainItems(list).every((item) => known.has(itemKey(item)));
  }

  override concat(other: CelList): CelList {
    const known = new Set(this.raw.map(itemKey));
    const added = plainItems(other).filter((item) => {
      const key = itemKey(item);
      if (known.has(key)) return false;
      known.add(key);
      return true;
    });
    return new SetView([...this.raw, ...added], this.read);
  }
}

/** A `map` list. */
export class KeyedListView extends ListView {
  constructor(
    raw: readonly unknown[],
    read: Reader,
    /** Escaped names, although they are looked up in JSON: as in the reference server. */
    readonly keyNames: readonly string[],
  ) {
    super(raw, read);
  }

  override equals(other: CelValue): boolean {
    const list = listOfSize(other, this.size);
    if (list === undefined) return false;
    const byKey = new Map(this.raw.map((item) => [this.#keyOf(item), item]));
    for (let index = 0; index < list.size; index++) {
      const theirs = list.at(index);
      const key = this.#keyOf(plainOf(theirs));
      if (!byKey.has(key) || !sameValue(this.read(byKey.get(key)), theirs)) return false;
    }
    return true;
  }

  override concat(other: CelList): CelList {
    const items = [...this.raw];
    const places = new Map(this.raw.map((item, index) => [this.#keyOf(item), index]));
    for (const item of plainItems(other)) {
      const place = places.get(this.#keyOf(item));
      if (place === undefined) items.push(item);
      else items[place] = item;
    }
    return new KeyedListView(items, this.read, this.keyNames);
  }

  /** A value that is not an object has a unique key, so that it is never found. */
  #keyOf(item: unknown): unknown {
    if (!isPlainRecord(item)) return {};
    return this.keyNames.map((name) => (Object.hasOwn(item, name) ? itemKey(item[name]) : 'n')).join('\0');
  }
}

/** Returns the list if it has the given size; lists of different sizes are not equal. */
function listOfSize(other: CelValue, size: number): CelList | undefined {
  if (!(other instanceof CelList)) throw noSuchOverload();
  return other.size === size ? other : undefined;
}

function plainItems(list: CelList): unknown[] {
  return Array.from({ length: list.size }, (_, index) => plainOf(list.at(index)));
}

function itemKey(plain: unknown): string {
  const key = scalarKey(plain);
  if (key !== undefined) return key;
  throw new CelError(`internal error: runtime error: hash of unhashable type ${plainTypeName(plain)}`);
}
