/**
 * `minimum`, `maximum` and `multipleOf`. Integers are compared as int64, for which bounds are truncated; a bound
 * outside of the int64 range becomes the minimum int64, as on the reference server.
 */
import type { JSONSchemaProps } from '../../schema/json-schema.js';
import { floatOf, printFloat } from './json-kind.js';
import type { Run } from './run.js';
import { isAlmostInteger } from './types.js';

export type NumberRule = (value: unknown, isInteger: boolean, run: Run) => void;

/** Returns undefined if the schema has no numeric constraints. */
export function numberRule(raw: JSONSchemaProps): NumberRule | undefined {
  const { multipleOf, minimum, maximum } = raw;
  if (multipleOf === undefined && minimum === undefined && maximum === undefined) return undefined;
  const integers = boundsRule(raw, { convert: truncated, print: String, isMultiple: isWholeMultiple });
  const floats = boundsRule(raw, { convert: Number, print: (bound) => printFloat(Number(bound)), isMultiple });
  return (value, isInteger, run) =>
    isInteger ? integers(value as Exact, value, run) : floats(floatOf(value), value, run);
}

/** A bigint where 53 bits are not enough. */
type Exact = number | bigint;

interface Arithmetic {
  readonly convert: (bound: number) => Exact;
  readonly print: (bound: Exact) => string;
  readonly isMultiple: (value: Exact, factor: Exact) => boolean;
}

type BoundsRule = (value: Exact, given: unknown, run: Run) => void;

/** The checks are in the order in which errors are reported. */
function boundsRule(raw: JSONSchemaProps, { convert, print, isMultiple }: Arithmetic): BoundsRule {
  const factor = raw.multipleOf === undefined ? undefined : convert(raw.multipleOf);
  const minimum = raw.minimum === undefined ? undefined : convert(raw.minimum);
  const maximum = raw.maximum === undefined ? undefined : convert(raw.maximum);
  const { exclusiveMinimum = false, exclusiveMaximum = false } = raw;
  return (value, given, run) => {
    if (factor !== undefined && factor <= 0) refuseFactor(factor, print(factor), run);
    else if (factor !== undefined && !isMultiple(value, factor)) {
      run.refuse(given, `should be a multiple of ${print(factor)}`);
    }
    if (minimum !== undefined && (exclusiveMinimum ? value <= minimum : value < minimum)) {
      run.refuse(given, `should be greater than ${exclusiveMinimum ? '' : 'or equal to '}${print(minimum)}`);
    }
    if (maximum !== undefined && (exclusiveMaximum ? value >= maximum : value > maximum)) {
      run.refuse(given, `should be less than ${exclusiveMaximum ? '' : 'or equal to '}${print(maximum)}`);
    }
  };
}

function refuseFactor(factor: Exact, printed: string, run: Run): void {
  const text = `factor MultipleOf declared for ${run.name} must be positive: ${printed}`;
  run.add({ rule: 'other', name: run.name, value: factor, text });
}

const INT64_LIMIT = 2 ** 63;

/** Converts a float to an int64 as the reference server does. */
export function truncated(value: number): Exact {
  const whole = Math.trunc(value);
  if (Number.isSafeInteger(whole)) return whole;
  return whole >= -INT64_LIMIT && whole < INT64_LIMIT ? BigInt(whole) : -(2n ** 63n);
}

function isWholeMultiple(value: Exact, factor: Exact): boolean {
  if (typeof value === 'number' && typeof factor === 'number') return value % factor === 0;
  return BigInt(value) % BigInt(factor) === 0n;
}

function isMultiple(value: Exact, factor: Exact): boolean {
  const [number, part] = [Number(value), Number(factor)];
  return isAlmostInteger(part < 1 ? (1 / part) * number : number / part);
}
