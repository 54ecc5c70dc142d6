/**
 * Validation of the keywords `type`, `minimum`, `maximum`, `multipleOf` and `enum`.
 */
import type { JSONSchemaProps } from '../../schema/json-schema.js';
import { quote } from '../../text/go/go-text.js';
import { printGoValue } from '../../text/go/go-value.js';
import { encodeSorted, escapeForPages, isRecord } from '../../util/json.js';
import type { JsonKind } from './json-kind.js';
import { floatOf, jsonKind, printFloat } from './json-kind.js';
import type { AllowedValues, ValidationRun } from './validation-run.js';

interface TypeKeywords {
  /** More than one for int-or-string. */
  readonly types: readonly string[];
  readonly format: string;
  readonly nullable: boolean;
}

/** The reference server's name for the format of a value that is not a string. */
const FORMAT_OF: Partial<Record<JsonKind, string>> = { integer: 'int64', number: 'float64' };

/** Returns whether the value has an allowed type; adds a finding otherwise. */
export function checkType(
  { types, format, nullable }: TypeKeywords,
  kind: JsonKind,
  value: unknown,
  run: ValidationRun,
): boolean {
  if (kind === 'null') return types.length === 0 || nullable || rejectType(types.join(','), kind, run);
  const fits =
    types.includes(kind) ||
    (kind === 'integer' && types.includes('number')) ||
    (kind === 'number' && types.includes('integer') && isAlmostInteger(floatOf(value)));
  if (fits) return true;
  if (format !== '') {
    const isListOrText = kind === 'string' || kind === 'array';
    const found = FORMAT_OF[kind] ?? '';
    if (!isListOrText && found !== format) return rejectType(format, found, run);
    if (isListOrText && !types.includes('number') && !types.includes('integer')) return true;
  }
  return rejectType(types.join(','), kind, run);
}

function rejectType(wanted: string, found: string, run: ValidationRun): false {
  const text = run.messageFor(`must be of type ${wanted}: ${quote(found)}`);
  run.add({ keyword: 'type', name: run.name, value: found, text });
  return false;
}

const EPSILON = 1e-9;

/**
 * True for integers of up to 53 bits, and for floats so close above a positive integer that they are rounding errors.
 */
function isAlmostInteger(value: number): boolean {
  if (!(Math.abs(value) <= Number.MAX_SAFE_INTEGER)) return false;
  if (Number.isInteger(value)) return true;
  const below = Math.trunc(value);
  return below > 0 && (value - below) / (value + below) < EPSILON;
}

/** Validates a number. */
export type NumberKeywords = (value: unknown, isInteger: boolean, run: ValidationRun) => void;

/** Returns undefined if the schema has no numeric constraints. */
export function numberKeywords(raw: JSONSchemaProps): NumberKeywords | undefined {
  const { multipleOf, minimum, maximum } = raw;
  if (multipleOf === undefined && minimum === undefined && maximum === undefined) return undefined;
  const integers = boundsKeywords(raw, { convert: toInt64, print: String, isMultiple: isWholeMultiple });
  const floats = boundsKeywords(raw, { convert: Number, print: (bound) => printFloat(Number(bound)), isMultiple });
  return (value, isInteger, run) =>
    isInteger ? integers(value as ExactNumber, value, run) : floats(floatOf(value), value, run);
}

/** A bigint where 53 bits are not enough. */
type ExactNumber = number | bigint;

interface Arithmetic {
  readonly convert: (bound: number) => ExactNumber;
  readonly print: (bound: ExactNumber) => string;
  readonly isMultiple: (value: ExactNumber, factor: ExactNumber) => boolean;
}

type BoundsKeywords = (value: ExactNumber, given: unknown, run: ValidationRun) => void;

/** The checks are in the order in which errors are reported. */
function boundsKeywords(raw: JSONSchemaProps, { convert, print, isMultiple }: Arithmetic): BoundsKeywords {
  const factor = raw.multipleOf === undefined ? undefined : convert(raw.multipleOf);
  const minimum = raw.minimum === undefined ? undefined : convert(raw.minimum);
  const maximum = raw.maximum === undefined ? undefined : convert(raw.maximum);
  const { exclusiveMinimum = false, exclusiveMaximum = false } = raw;
  return (value, given, run) => {
    if (factor !== undefined && factor <= 0) rejectFactor(factor, print(factor), run);
    else if (factor !== undefined && !isMultiple(value, factor)) {
      run.reject(given, `should be a multiple of ${print(factor)}`);
    }
    if (minimum !== undefined && (exclusiveMinimum ? value <= minimum : value < minimum)) {
      run.reject(given, `should be greater than ${exclusiveMinimum ? '' : 'or equal to '}${print(minimum)}`);
    }
    if (maximum !== undefined && (exclusiveMaximum ? value >= maximum : value > maximum)) {
      run.reject(given, `should be less than ${exclusiveMaximum ? '' : 'or equal to '}${print(maximum)}`);
    }
  };
}

function rejectFactor(factor: ExactNumber, printed: string, run: ValidationRun): void {
  const text = `factor MultipleOf declared for ${run.name} must be positive: ${printed}`;
  run.add({ keyword: 'other', name: run.name, value: factor, text });
}

const INT64_LIMIT = 2 ** 63;

/** Converts a float to an int64 as the reference server does. */
export function toInt64(value: number): ExactNumber {
  const whole = Math.trunc(value);
  if (Number.isSafeInteger(whole)) return whole;
  return whole >= -INT64_LIMIT && whole < INT64_LIMIT ? BigInt(whole) : -(2n ** 63n);
}

function isWholeMultiple(value: ExactNumber, factor: ExactNumber): boolean {
  if (typeof value === 'number' && typeof factor === 'number') return value % factor === 0;
  return BigInt(value) % BigInt(factor) === 0n;
}

function isMultiple(value: ExactNumber, factor: ExactNumber): boolean {
  const [number, part] = [Number(value), Number(factor)];
  return isAlmostInteger(part < 1 ? (1 / part) * number : number / part);
}

interface Enumeration {
  readonly printedValues: AllowedValues;
  /** `should be one of [a b]`. */
  readonly text: string;
  has(value: unknown): boolean;
}

/** Prepares the allowed values of an enum, because a long list may be checked against many of them. */
export function enumerationOf(given: readonly unknown[]): Enumeration {
  const allowed = given.map(normalizeIntegers);
  const contents = new Set(allowed.map(comparisonKey));
  const integers = new Set(allowed.filter((one) => jsonKind(one) === 'integer').map(String));
  const numbers = new Set(allowed.filter((one) => jsonKind(one) === 'number').map(floatOf));
  return {
    printedValues: allowed.map(printAllowedValue),
    text: `should be one of ${printGoValue([...allowed])}`,
    has(value) {
      const kind = jsonKind(value);
      // Null never matches, not even a listed null.
      if (kind === 'null') return false;
      // As in the reference server, the value is first converted to the type of the listed one: a float is truncated,
      // and an integer becomes the character with that code.
      // upstream: kube-openapi/pkg/validation/validate/validator.go basicCommonValidator.Validate
      if (kind === 'number') {
        return numbers.has(floatOf(value)) || integers.has(String(toInt64(floatOf(value))));
      }
      if (contents.has(comparisonKey(value))) return true;
      return (
        kind === 'integer' && (numbers.has(Number(value)) || contents.has(comparisonKey(characterWithCode(value))))
      );
    },
  };
}

/** Converts integers outside of the int64 range to floats. */
function normalizeIntegers(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(normalizeIntegers);
  if (isRecord(value)) return Object.fromEntries(Object.keys(value).map((key) => [key, normalizeIntegers(value[key])]));
  return jsonKind(value) === 'number' ? floatOf(value) : value;
}

function printAllowedValue(value: unknown): string {
  return typeof value === 'string' ? value : escapeForPages(encodeSorted(value));
}

function characterWithCode(value: unknown): string {
  const code = Number(value);
  return code >= 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff) ? String.fromCodePoint(code) : '\ufffd';
}

/**
 * Returns equal results for equal values: scalars stay themselves, and other values become a string that no scalar
 * results in.
 */
function comparisonKey(value: unknown): unknown {
  if (typeof value === 'string') return `"${value}`;
  return typeof value === 'object' && value !== null ? encodeSorted(normalizeIntegers(value)) : value;
}
