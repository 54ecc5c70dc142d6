/**
 * Values while an expression is evaluated. Lists, maps and objects are looked at through the classes below, so that
 * stored objects are read where they are, without a copy, and no name in an expression ever reaches a property of a
 * JavaScript object.
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

/** Nanoseconds since 1970, from year 1 to year 9999. */
export class CelTimestamp {
  constructor(
    readonly nanos: bigint,
    /** Seconds east of UTC of the zone it was written in. Seen only when it is turned into a text. */
    readonly offset = 0,
  ) {}
}

/** Nanoseconds within 64 bits. */
export class CelDuration {
  constructor(readonly nanos: bigint) {}
}

export abstract class CelList {
  abstract readonly size: number;
  /** `index` is within the list. */
  abstract at(index: number): CelValue;
  /** Lists of a set or a map by keys compare in their own way; absent: item by item. */
  equals?(other: CelValue): boolean;
  /** The same for `+`. */
  concat?(other: CelList): CelList;
  /** True for lists of stored objects: `optional.ofNonZeroValue` takes them for something even when they are empty. */
  readonly isStored?: boolean;
}

export abstract class CelMap {
  abstract readonly size: number;
  /** Undefined when the key is not there. Number keys of different types that are equal find the same entry. */
  abstract get(key: CelValue): CelValue | undefined;
  /** What `in` asks, for maps that give something for keys they do not have; absent: {@link get} says it. */
  contains?(key: CelValue): boolean;
  /** In an order that is the same every time. */
  abstract keys(): Iterable<CelValue>;
  /** Asked when it stands on the left, for maps that compare in their own way; throws a CelError where it cannot be said. */
  equals?(other: CelValue): boolean;
  /** As of lists. */
  readonly isStored?: boolean;
}

export abstract class CelObject {
  abstract readonly typeName: string;
  /** Undefined when the field is absent. A field that must not hold what it holds throws a CelError. */
  abstract get(field: string): CelValue | undefined;
  abstract has(field: string): boolean;
  /** Of the fields that are present: for comparison and for cost. */
  abstract fieldNames(): readonly string[];
  equals?(other: CelValue): boolean;
}

/** A type as a value: what `type(1)` gives. */
export class CelTypeValue {
  constructor(readonly type: CelType) {}
}

/** A value of a library's type. */
export abstract class CelOpaque {
  /** Some libraries declare their types as objects without fields; messages and costs tell the two apart. */
  abstract readonly type: OpaqueType | ObjectType;
  /** Called for the value on the left. Throws a CelError where the two cannot be compared. */
  abstract equals(other: CelValue): boolean;
  /** What costs count as its length; absent: 1. */
  readonly size?: number;
  /** How the reference calls the class, which a few messages show; absent: as the type. */
  readonly referenceClass?: string;
  /** False where it cannot be looked for in a set: `x in [1, 2]` fails then. */
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

/** Evaluation failed. `||`, `&&` and comprehensions may still come to a result. */
export class CelError extends Error {
  override name = 'CelError';
}

/** An evaluation was given up because it cost too much; nothing in an expression can catch it. */
export class CelBudgetError extends Error {
  override name = 'CelBudgetError';
}
