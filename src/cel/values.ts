/**
 * Runtime values. Lists, maps and objects are read through the classes below, so that stored objects are not copied and
 * an expression can never reach a property of a JavaScript object.
 */
import { celEquals } from './equality.js';
import type { CelType, ObjectType, OpaqueType } from './types.js';

/**
 * - `bigint` is an int, always within 64 bits; `number` is a double
 * - strings are JavaScript strings; lengths and indexes count code points
 */
export type CelValue =
  | null
  | boolean
  | bigint
  | number
  | string
  | CelUint
  | CelBytes
  | CelTimestamp
  | CelDuration
  | CelList
  | CelMap
  | CelObject
  | CelTypeValue
  | CelOpaque;

export class CelUint {
  constructor(readonly value: bigint) {}
}

export class CelBytes {
  constructor(readonly bytes: Uint8Array) {}
}

/** Nanoseconds since 1970, limited to years 1 to 9999. */
export class CelTimestamp {
  constructor(
    readonly nanos: bigint,
    /** UTC offset in seconds of the parsed text. Used only for formatting. */
    readonly offset = 0,
  ) {}
}

/** Nanoseconds, limited to 64 bits. */
export class CelDuration {
  constructor(readonly nanos: bigint) {}
}

export abstract class CelList {
  abstract readonly size: number;
  /** Returns an item. The caller checks the bounds. */
  abstract at(index: number): CelValue;
  /** Equality of lists with set or map semantics; absent: item by item. */
  equals?(other: CelValue): boolean;
  /** Concatenation of lists with set or map semantics; absent: append. */
  concat?(other: CelList): CelList;
  /** True for lists of stored objects. `optional.ofNonZeroValue` treats them as non-zero even if they are empty. */
  readonly isStored?: boolean;
}

export abstract class CelMap {
  abstract readonly size: number;
  /** The value of a key, or undefined. Equal numbers of different types find the same entry. */
  abstract get(key: CelValue): CelValue | undefined;
  /** Implements `in` for maps whose {@link get} returns defaults for absent keys; absent: {@link get} decides. */
  contains?(key: CelValue): boolean;
  /** The keys in a stable order. */
  abstract keys(): Iterable<CelValue>;
  /** Custom equality, called for the left operand. Throws a CelError if the values cannot be compared. */
  equals?(other: CelValue): boolean;
  /** Same as {@link CelList.isStored}. */
  readonly isStored?: boolean;
}

export abstract class CelObject {
  abstract readonly typeName: string;
  /** The value of a field, or undefined if it is absent. Throws a CelError if the field holds an invalid value. */
  abstract get(field: string): CelValue | undefined;
  abstract has(field: string): boolean;
  /** The names of the fields that are set; used for equality and cost. */
  abstract fieldNames(): readonly string[];
  equals?(other: CelValue): boolean;
}

/** A type as a value: the result of `type(1)`. */
export class CelTypeValue {
  constructor(readonly type: CelType) {}
}

/** A value of a type that a library declares. */
export abstract class CelOpaque {
  /** Some libraries declare their types as objects without fields; messages and costs differ for the two. */
  abstract readonly type: OpaqueType | ObjectType;
  /** Called for the left operand. Throws a CelError if the values cannot be compared. */
  abstract equals(other: CelValue): boolean;
  /** The size for cost calculation; default 1. */
  readonly size?: number;
  /** The Go type name that some messages contain; default: the type name. */
  readonly goTypeName?: string;
  /** False if the value cannot be looked up in a set: `x in [1, 2]` then fails. */
  readonly hashable?: boolean;
}

/** `optional.of(x)`, `optional.none()`. */
export class CelOptional extends CelOpaque {
  static readonly NONE = new CelOptional(undefined);
  constructor(readonly value: CelValue | undefined) {
    super();
  }
  get type(): OpaqueType {
    return OPTIONAL;
  }
  equals(other: CelValue): boolean {
    if (!(other instanceof CelOptional)) return false;
    if (this.value === undefined || other.value === undefined) return this.value === other.value;
    return celEquals(this.value, other.value);
  }
}

const OPTIONAL: OpaqueType = Object.freeze({
  kind: 'opaque',
  name: 'optional_type',
  params: Object.freeze([Object.freeze({ kind: 'dyn' } as const)]),
});

/** An evaluation error. `||`, `&&` and comprehensions may absorb it. */
export class CelError extends Error {
  override name = 'CelError';
}

/** One evaluation exceeded its cost limit. An expression cannot absorb this error. */
export class CelCostLimitError extends Error {
  override name = 'CelCostLimitError';
}
