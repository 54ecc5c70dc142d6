/**
 * Steps into a value: `.field`, `[key]`, `.?field`, `[?key]`, and what `has()` asks. Each costs one where it is taken.
 */
import { Failure, failureOf, NO_SUCH_OVERLOAD, type Result } from '../failure.js';
import { printValue } from '../library/print-value.js';
import { formatDouble, intOfDouble } from '../numbers.js';
import { referenceClass, typeNameOf } from '../runtime-type.js';
import { CelList, CelMap, CelObject, CelUint, type CelValue } from '../values.js';
import type { Frame, Step } from './frame.js';

export interface Qualifier {
  /** Written with `?`: what is not there makes an optional without a value instead of a failure. */
  readonly optional: boolean;
  /** The value inside; charges one in any case. */
  qualify(frame: Frame, value: CelValue): Result;
  /** Undefined when it is not there; charges one only when it is. */
  qualifyIfPresent(frame: Frame, value: CelValue): Result | undefined;
  /** Known when the expression is planned. */
  readonly constant?: CelValue;
}

export function constantQualifier(key: CelValue, optional: boolean): Qualifier {
  return {
    optional,
    constant: key,
    qualify(frame, value) {
      frame.charge(1);
      return inside(value, key);
    },
    qualifyIfPresent(frame, value) {
      return chargeIfPresent(frame, insideIfPresent(value, key));
    },
  };
}

/** The key is computed. What it costs is charged before the step itself. */
export function computedQualifier(key: Step, optional: boolean): Qualifier {
  return {
    optional,
    qualify(frame, value) {
      const index = key(frame);
      const result = index instanceof Failure ? index : (refusedKey(index) ?? inside(value, index));
      frame.charge(1);
      return result;
    },
    qualifyIfPresent(frame, value) {
      const index = key(frame);
      if (index instanceof Failure) return index;
      return chargeIfPresent(frame, refusedKey(index) ?? insideIfPresent(value, index));
    },
  };
}

/** The last step of `has(a.field)`. */
export function presenceQualifier(field: string): Qualifier {
  return {
    optional: false,
    constant: field,
    qualify(frame, value) {
      const result = isPresent(value, field);
      frame.charge(1);
      return result;
    },
    qualifyIfPresent(frame, value) {
      return chargeIfPresent(frame, insideIfPresent(value, field));
    },
  };
}

function chargeIfPresent(frame: Frame, result: Result | undefined): Result | undefined {
  if (result !== undefined && !(result instanceof Failure)) frame.charge(1);
  return result;
}

/** Only numbers, texts and bools are keys. */
export function refusedKey(key: CelValue): Failure | undefined {
  if (typeof key !== 'object' || key instanceof CelUint) return undefined;
  return new Failure(`invalid qualifier type: ${referenceClass(key)}`);
}

function inside(value: CelValue, key: CelValue): Result {
  const found = insideIfPresent(value, key);
  return found === undefined ? missing(value, key) : found;
}

function missing(value: CelValue, key: CelValue): Failure {
  return new Failure(`${value instanceof CelList ? 'index out of bounds' : 'no such key'}: ${printValue(key)}`);
}

function insideIfPresent(value: CelValue, key: CelValue): Result | undefined {
  try {
    if (value instanceof CelObject) return typeof key === 'string' ? value.get(key) : NO_SUCH_OVERLOAD;
    if (value instanceof CelMap) return value.get(key);
    if (value instanceof CelList) {
      const index = indexOf(key);
      if (index instanceof Failure) return index;
      return index >= 0 && index < value.size ? value.at(index) : undefined;
    }
    return undefined;
  } catch (error) {
    return failureOf(error);
  }
}

function isPresent(value: CelValue, field: string): boolean | Failure {
  if (value instanceof CelObject) {
    try {
      return value.has(field);
    } catch (error) {
      return failureOf(error);
    }
  }
  const found = insideIfPresent(value, field);
  return found instanceof Failure ? found : found !== undefined;
}

/** Whole numbers of all types are indexes. */
function indexOf(key: CelValue): number | Failure {
  if (typeof key === 'bigint') return Number(key);
  if (key instanceof CelUint) {
    return BigInt.asIntN(64, key.value) === key.value
      ? Number(key.value)
      : new Failure(`unsupported index value ${key.value} in list`);
  }
  if (typeof key !== 'number') return new Failure(`unsupported index type '${typeNameOf(key)}' in list`);
  const int = intOfDouble(key);
  return int !== undefined && Number(int) === key
    ? Number(int)
    : new Failure(`unsupported index value ${formatDouble(key)} in list`);
}
