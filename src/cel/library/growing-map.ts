/** Maps that are made entry by entry. */
import type { CelValue } from '../values.js';
import { CelMap, CelUint } from '../values.js';

interface Entry {
  readonly key: CelValue;
  readonly value: CelValue;
}

/**
 * A map that grows entry by entry and stays what it was: all maps made from one another share their entries, and each
 * looks at as many as it has. Example: `a = {x}`, `b = a + y`, `c = b + z` are one store `x y z` seen with sizes 1, 2
 * and 3. Only who adds to one that was already added to makes a copy.
 */
export class GrowingMap extends CelMap {
  readonly #entries: Entry[];
  readonly #places: Map<unknown, number>;
  readonly size: number;

  private constructor(entries: Entry[], places: Map<unknown, number>, size: number) {
    super();
    this.#entries = entries;
    this.#places = places;
    this.size = size;
  }

  static from(map: CelMap): GrowingMap {
    if (map instanceof GrowingMap) return map;
    let made = new GrowingMap([], new Map(), 0);
    for (const key of map.keys()) made = made.with(key, map.get(key) ?? null);
    return made;
  }

  /** The key is not there yet. */
  with(key: CelValue, value: CelValue): GrowingMap {
    const isLatest = this.#entries.length === this.size;
    const entries = isLatest ? this.#entries : this.#entries.slice(0, this.size);
    const places = isLatest ? this.#places : new Map(entries.map((entry, place) => [identity(entry.key), place]));
    places.set(identity(key), entries.length);
    entries.push({ key, value });
    return new GrowingMap(entries, places, this.size + 1);
  }

  get(key: CelValue): CelValue | undefined {
    const place = this.#places.get(identity(key));
    return place === undefined || place >= this.size ? undefined : this.#entries[place]?.value;
  }

  *keys(): Iterable<CelValue> {
    for (let place = 0; place < this.size; place++) yield this.#entries[place]?.key ?? null;
  }
}

/** The same for keys that are equal: whole numbers of all types are one. */
function identity(key: CelValue): unknown {
  if (key instanceof CelUint) return key.value;
  return typeof key === 'number' && Number.isInteger(key) ? BigInt(key) : key;
}
