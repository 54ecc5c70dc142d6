/**
 * Converts zod numbers: integers, bounds, factors.
 *
 * For integers the schema validator truncates bounds and factors. A bound of integers is therefore converted to the
 * equivalent integer; constraints on other numbers that would reject too much are omitted.
 */
import type { CheckDef, Draft, Place } from './context.js';
import { lose, loseOthers } from './context.js';

const KNOWN = ['number_format', 'greater_than', 'less_than', 'multiple_of'];

interface Format {
  readonly type: 'integer' | 'number';
  readonly format?: string;
  readonly least?: number;
  readonly most?: number;
}

const FORMATS: Readonly<Record<string, Format>> = {
  safeint: { type: 'integer', format: 'int64', least: Number.MIN_SAFE_INTEGER, most: Number.MAX_SAFE_INTEGER },
  int32: { type: 'integer', format: 'int32', least: -(2 ** 31), most: 2 ** 31 - 1 },
  uint32: { type: 'integer', format: 'int64', least: 0, most: 2 ** 32 - 1 },
  float32: { type: 'number', format: 'float', least: -3.4028234663852886e38, most: 3.4028234663852886e38 },
  float64: { type: 'number', format: 'double' },
};

interface Bound {
  readonly value: number;
  readonly inclusive: boolean;
}

export function numberSchema(checks: readonly CheckDef[], place: Place): Draft {
  loseOthers(checks, KNOWN, place);
  const formats = checks
    .flatMap(({ check, format = '' }) => (check === 'number_format' ? [FORMATS[format] ?? []] : []))
    .flat();
  const isInteger = formats.some(({ type }) => type === 'integer');
  const format = formats.find(({ type }) => !isInteger || type === 'integer')?.format;
  const low = [
    ...boundsOf(checks, 'greater_than'),
    ...formats.flatMap(({ least }) => (least === undefined ? [] : [{ value: least, inclusive: true }])),
  ].map((bound) => settled(bound, { isInteger, isLow: true }, place));
  const high = [
    ...boundsOf(checks, 'less_than'),
    ...formats.flatMap(({ most }) => (most === undefined ? [] : [{ value: most, inclusive: true }])),
  ].map((bound) => settled(bound, { isInteger, isLow: false }, place));
  const lowest = low.reduce<Bound | undefined>((a, b) => (a === undefined || isNarrower(b, a, 1) ? b : a), undefined);
  const highest = high.reduce<Bound | undefined>(
    (a, b) => (a === undefined || isNarrower(b, a, -1) ? b : a),
    undefined,
  );
  return {
    type: isInteger ? 'integer' : 'number',
    ...(format === undefined ? {} : { format }),
    ...(lowest === undefined ? {} : { minimum: lowest.value, ...(lowest.inclusive ? {} : { exclusiveMinimum: true }) }),
    ...(highest === undefined
      ? {}
      : { maximum: highest.value, ...(highest.inclusive ? {} : { exclusiveMaximum: true }) }),
    ...factor(checks, place),
  };
}

function boundsOf(checks: readonly CheckDef[], of: string): Bound[] {
  return checks.flatMap(({ check, value, inclusive = false }) =>
    check === of && typeof value === 'number' ? [{ value, inclusive }] : [],
  );
}

function isNarrower(one: Bound, other: Bound, direction: 1 | -1): boolean {
  const difference = (one.value - other.value) * direction;
  return difference > 0 || (difference === 0 && !one.inclusive);
}

/** Returns the bound in a form that has the same effect in the validator. */
function settled({ value, inclusive }: Bound, about: { isInteger: boolean; isLow: boolean }, place: Place): Bound {
  const { isInteger, isLow } = about;
  if (Number.isInteger(value)) {
    if (!isInteger || inclusive) return { value, inclusive };
    return { value: isLow ? value + 1 : value - 1, inclusive: true };
  }
  if (isInteger) return { value: isLow ? Math.ceil(value) : Math.floor(value), inclusive: true };
  // Integers are compared with the truncated bound, which is looser towards zero; away from zero an exclusive bound
  // would be too strict.
  if (!inclusive || isLow === value > 0) lose(place, `the bound ${value}, to the digit`);
  return { value, inclusive: true };
}

/** Several factors need `allOf`. A fractional factor would reject every integer. */
function factor(checks: readonly CheckDef[], place: Place): Draft {
  const factors = checks.flatMap(({ check, value }) => (check === 'multiple_of' ? [Number(value)] : []));
  const [first, ...others] = factors.filter((value) => Number.isInteger(value) && value > 0);
  const unsaid = factors.filter((value) => !Number.isInteger(value) || value <= 0);
  for (const value of unsaid) lose(place, `multiples of ${value}`);
  if (first === undefined) return {};
  return { multipleOf: first, ...(others.length === 0 ? {} : { allOf: others.map((multipleOf) => ({ multipleOf })) }) };
}
