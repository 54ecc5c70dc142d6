/**
 * JSON objects as expressions see them, read where they are. The reference server hands objects and maps to expressions
 * in the same way, as maps: an absent field is an absent key, `type(self)` is a map.
 */

import { celEquals } from '../../cel/equality.js';
import { opaqueType } from '../../cel/types.js';
import { CelError, CelList, CelMap, CelOpaque, type CelValue } from '../../cel/values.js';
import { deepEqual } from '../../util/json.js';
import { escapeName, unescapeName } from './escape.js';

/** Makes a value of what stands in an object. Throws a CelError for what its schema does not allow. */
export type Reader = (plain: unknown) => CelValue;

type Fields = Readonly<Record<string, unknown>>;

export const noSuchOverload = () => new CelError('no such overload');

/** `left == right`, as values that were read from JSON compare: those of other kinds cannot be compared at all. */
export function sameValue(left: CelValue, right: CelValue): boolean {
  if ((left instanceof CelMap || left instanceof CelList) && left.equals !== undefined) return left.equals(right);
  return celEquals(left, right);
}

/** What is common to both: size and equality count all keys, whether the schema knows them or not. */
abstract class JsonMap extends CelMap {
  constructor(readonly raw: Fields) {
    super();
  }

  get size(): number {
    return Object.keys(this.raw).length;
  }

  /** The reader of a key, by the name that it has in JSON. */
  abstract readerOf(name: string): Reader | undefined;

  override equals(other: CelValue): boolean {
    if (!(other instanceof CelMap)) throw noSuchOverload();
    if (this.size !== other.size) return false;
    return Object.keys(this.raw).every((name) => {
      const read = this.readerOf(name);
      if (read === undefined) return this.#sameUnknown(name, other);
      const theirs = other.get(name);
      return theirs !== undefined && sameValue(read(this.raw[name]), theirs);
    });
  }

  /** Of fields that no schema describes only the JSON can be compared. */
  #sameUnknown(name: string, other: CelMap): boolean {
    if (!(other instanceof JsonMap)) throw noSuchOverload();
    return !Object.hasOwn(other.raw, name) || deepEqual(this.raw[name], other.raw[name]);
  }
}

/** The properties of a schema, prepared once for all objects of it. */
export class ObjectFields {
  readonly #readers = new Map<string, Reader>();
  /** From the names of expressions to those of JSON. */
  readonly #names = new Map<string, string>();

  constructor(readers: Iterable<readonly [name: string, reader: Reader]>) {
    for (const [name, reader] of readers) {
      this.#readers.set(name, reader);
      const escaped = escapeName(name);
      if (escaped !== undefined) this.#names.set(escaped, name);
    }
  }

  reader(name: string): Reader | undefined {
    return this.#readers.get(name);
  }

  /** An expression may also spell a name as it is, in brackets behind `dyn()`. */
  nameOf(spelled: string): string | undefined {
    return this.#names.get(spelled) ?? unescapeName(spelled);
  }
}

/** An object with properties. Fields that hold null are as good as absent. */
export class ObjectView extends JsonMap {
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
    const plain = this.raw[name];
    if (plain === null || plain === undefined) return undefined;
    return this.fields.reader(name)?.(plain);
  }

  /** Fields that the schema does not know have no names to go by, but are counted. */
  *keys(): Iterable<CelValue> {
    let unknown = 0;
    for (const name of Object.keys(this.raw)) {
      if (this.fields.reader(name) === undefined) unknown++;
      else yield escapeName(name) ?? name;
    }
    for (; unknown > 0; unknown--) yield null;
  }

  override readerOf(name: string): Reader | undefined {
    return this.fields.reader(name);
  }
}

/** An object whose keys are data. */
export class MapView extends JsonMap {
  constructor(
    raw: Fields,
    readonly read: Reader,
  ) {
    super(raw);
  }

  get(key: CelValue): CelValue | undefined {
    if (typeof key !== 'string') throw noSuchOverload();
    return Object.hasOwn(this.raw, key) ? this.read(this.raw[key]) : undefined;
  }

  keys(): Iterable<CelValue> {
    return Object.keys(this.raw);
  }

  override readerOf(): Reader {
    return this.read;
  }
}

/** What a schema lets through without describing it. Expressions cannot reach it, but compare objects that hold it. */
export class PreservedValue extends CelOpaque {
  readonly type = opaqueType('unknown');

  constructor(readonly raw: unknown) {
    super();
  }

  equals(other: CelValue): boolean {
    return other instanceof PreservedValue && deepEqual(this.raw, other.raw);
  }
}
