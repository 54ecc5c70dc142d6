/**
 * Converts zod strings, numbers, enums and literals to schemas.
 *
 * Most zod string formats are patterns, and the pattern expresses them exactly. A CRD format is added only if it
 * accepts everything that the zod format accepts; it serves as documentation and for generators. For integers the
 * schema validator truncates bounds and factors, so a bound of integers is converted to the equivalent integer;
 * constraints on other numbers that would reject too much are omitted.
 */
import type { CheckDef, Draft, ZodPosition } from './context.js';
import { addAllOf, allowNull, anyValue, extension, reportLoss, reportUnsupportedChecks } from './context.js';
import { literalPattern, patternsOf } from './pattern.js';

const STRING_CHECKS = ['string_format', 'min_length', 'max_length', 'length_equals'];

/** A string schema with all constraints that can be expressed. */
export function stringSchema(checks: readonly CheckDef[], position: ZodPosition): Draft {
  const draft: Draft = { type: 'string', ...lengths(checks, 'Length') };
  reportUnsupportedChecks(checks, STRING_CHECKS, position);
  const found = checks
    .filter(({ check }) => check === 'string_format')
    .map((check) => formatConstraints(check, position));
  const formats = found.flatMap(({ format }) => (format === undefined ? [] : [format]));
  addFormats(draft, position.datesAreTexts ? formats.filter((format) => !DATES.includes(format)) : formats);
  addPatterns(draft, found);
  return draft;
}

/** Their patterns are as strict. */
const DATES = ['date', 'date-time'];

/** The strictest bounds on the length of strings or lists. */
export function lengths(checks: readonly CheckDef[], of: 'Length' | 'Items'): Draft {
  const least = checks.flatMap(({ check, minimum, length }) =>
    check === 'min_length' ? [minimum ?? 0] : check === 'length_equals' ? [length ?? 0] : [],
  );
  const most = checks.flatMap(({ check, maximum, length }) =>
    check === 'max_length' ? [maximum ?? 0] : check === 'length_equals' ? [length ?? 0] : [],
  );
  return {
    ...(least.length === 0 ? {} : { [`min${of}`]: Math.max(...least) }),
    ...(most.length === 0 ? {} : { [`max${of}`]: Math.min(...most) }),
  };
}

/** A string that matches one regular expression. */
export function patternSchema(expression: RegExp, position: ZodPosition): Draft {
  const draft: Draft = { type: 'string' };
  addPatterns(draft, [patternConstraints(expression, position)]);
  return draft;
}

/** The constraints of a format. */
interface FormatConstraints {
  readonly format?: string;
  readonly all: readonly string[];
  readonly none: readonly string[];
}

const NO_CONSTRAINTS: FormatConstraints = { all: [], none: [] };

/** zod format → CRD format that accepts at least the same strings. */
const STRING_FORMATS: Readonly<Record<string, string>> = {
  email: 'email',
  uuid: 'uuid',
  guid: 'uuid',
  ipv4: 'ipv4',
  cidrv4: 'cidr',
  date: 'date',
};

/** Patterns for formats that zod checks by code; as exact as possible. */
const BASE64 = '^(?:[0-9a-zA-Z+/]{4})*(?:[0-9a-zA-Z+/]{2}==|[0-9a-zA-Z+/]{3}=)?$';
const BASE64URL = '^(?:[0-9a-zA-Z_-]{4})*(?:[0-9a-zA-Z_-]{2,3})?$';
const JWT = '^[A-Za-z0-9_-]+\\.[A-Za-z0-9_-]+\\.[A-Za-z0-9_-]*$';

function formatConstraints(check: CheckDef, position: ZodPosition): FormatConstraints {
  const { format = '', pattern } = check;
  switch (format) {
    case 'starts_with':
      return { ...NO_CONSTRAINTS, all: [`^${literalPattern(check.prefix ?? '')}`] };
    case 'ends_with':
      return { ...NO_CONSTRAINTS, all: [`${literalPattern(check.suffix ?? '')}$`] };
    case 'includes': {
      const skipped = check.position === undefined ? '' : `^(?s:.{${check.position}}.*)`;
      return { ...NO_CONSTRAINTS, all: [`${skipped}${literalPattern(check.includes ?? '')}`] };
    }
    case 'url':
      return urlConstraints(check, position);
    case 'ipv6':
      return { ...NO_CONSTRAINTS, format: 'ipv6' };
    case 'cidrv6':
      // The format covers both IP families.
      return { ...NO_CONSTRAINTS, format: 'cidr', all: [':'] };
    case 'datetime':
      // Without an offset or without seconds it is not a date-time.
      if (check.local === true || check.precision === -1) return patternConstraints(pattern, position);
      return { ...patternConstraints(pattern, position), format: 'date-time' };
    case 'base64':
      return { ...NO_CONSTRAINTS, all: [BASE64] };
    case 'base64url':
      return { ...NO_CONSTRAINTS, all: [BASE64URL] };
    case 'jwt':
      reportLoss(position, 'the content of the token');
      return { ...NO_CONSTRAINTS, all: [JWT] };
    case 'credit_card':
    case 'iban':
      reportLoss(position, 'the check digits');
      return patternConstraints(pattern, position);
    default: {
      if (pattern === undefined) {
        reportLoss(position, `the format ${format}`);
        return NO_CONSTRAINTS;
      }
      // A custom pattern for a known format may accept more than the CRD format.
      const isUsual = Object.hasOwn(STRING_FORMATS, format) && (format !== 'email' || isUsualEmail(pattern));
      return {
        ...patternConstraints(pattern, position),
        ...(isUsual ? { format: STRING_FORMATS[format] as string } : {}),
      };
    }
  }
}

/** A URL is validated by the format uri, which differs from zod's URL parser in rare cases. */
function urlConstraints({ protocol, hostname }: CheckDef, position: ZodPosition): FormatConstraints {
  reportLoss(position, 'the URL syntax beyond the format uri', 'differs');
  if (hostname !== undefined) reportLoss(position, `the host names of ${hostname}`);
  const plain = protocol === undefined ? undefined : /^\^([\w?|()]+)\$$/.exec(protocol.source)?.[1];
  if (protocol !== undefined && plain === undefined) reportLoss(position, `the protocols of ${protocol}`);
  // The format also accepts paths.
  return {
    ...NO_CONSTRAINTS,
    format: 'uri',
    all: [`^${plain === undefined ? '[a-zA-Z][a-zA-Z0-9+.-]*' : `(?i:${plain})`}:`],
  };
}

/** True if the pattern rejects typical addresses that the CRD format rejects. */
function isUsualEmail(pattern: RegExp): boolean {
  return !['a..b@example.com', '.a@example.com', 'a.@example.com', 'a b@example.com', 'ü@example.com', 'a@b'].some(
    (odd) => pattern.test(odd),
  );
}

function patternConstraints(expression: RegExp | undefined, position: ZodPosition): FormatConstraints {
  if (expression === undefined) return NO_CONSTRAINTS;
  const patterns = patternsOf(expression);
  if (typeof patterns !== 'string') return patterns;
  reportLoss(position, `the pattern ${expression} (${patterns})`);
  return NO_CONSTRAINTS;
}

/** The first format is set directly, others in `allOf`. */
function addFormats(draft: Draft, formats: readonly string[]): void {
  const [first, ...others] = new Set(formats);
  if (first !== undefined) draft.format = first;
  addAllOf(
    draft,
    others.map((format) => ({ format })),
  );
}

function addPatterns(draft: Draft, found: readonly FormatConstraints[]): void {
  const [first, ...others] = new Set(found.flatMap(({ all }) => all));
  const none = [...new Set(found.flatMap((each) => each.none))];
  if (first !== undefined) draft.pattern = first;
  addAllOf(draft, [...others.map((pattern) => ({ pattern })), ...none.map((pattern) => ({ not: { pattern } }))]);
}

/** The schema that accepts no value; unions omit it. With `nullable` it accepts only null. */
export const NO_VALUE: Draft = Object.freeze({ enum: [] });

/** The types whose values cannot occur in a document. */
export const TYPES_WITHOUT_JSON: ReadonlySet<string> = new Set(
  'never undefined void date bigint symbol nan map set function promise file'.split(' '),
);

/**
 * The schema of a set of allowed values. Null makes it nullable, undefined makes it optional.
 *
 * An `enum` is only exact together with a type: without one the validator converts values (1.5 matches 1, and 97
 * matches `a`). Values of several types are therefore expressed by other constraints.
 */
export function enumSchema(values: readonly unknown[], position: ZodPosition): Draft {
  const allowed = [...new Set(values)].filter((value) => ['string', 'number', 'boolean'].includes(typeof value));
  const hasNull = values.includes(null);
  if (allowed.length === 0) return hasNull ? { ...NO_VALUE, nullable: true } : { ...NO_VALUE };
  const draft = oneOfValues(allowed, position);
  if (hasNull) allowNull(draft);
  return draft;
}

function oneOfValues(values: readonly unknown[], position: ZodPosition): Draft {
  const types = new Set(values.map(typeOf));
  const [type] = types;
  if (types.size === 1 && type !== 'number') return { type: type as string, enum: [...values] };
  const [texts, numbers] = [values.filter((value) => typeof value === 'string'), values.filter(isNumber)];
  if (texts.length === 0 && numbers.length === values.length) return { type: 'number', ...allowedValues(numbers) };
  if (!types.has('number') && !types.has('boolean')) {
    return { [extension(position.dialect, 'int-or-string')]: true, ...allowedValues(texts), ...allowedValues(numbers) };
  }
  reportLoss(position, 'the type of each value');
  return { ...anyValue(position), enum: [...values] };
}

/** A constraint on strings that does not affect numbers, or vice versa. */
export function allowedValues(values: readonly unknown[]): Draft {
  if (!values.every(isNumber))
    return { pattern: `^(?:${values.map((value) => literalPattern(String(value))).join('|')})$` };
  return {
    anyOf: values.map((value) => (Number.isInteger(value) ? { minimum: value, maximum: value } : { enum: [value] })),
  };
}

function isNumber(value: unknown): value is number {
  return typeof value === 'number';
}

function typeOf(value: unknown): string {
  return typeof value === 'number' && Number.isInteger(value) ? 'integer' : typeof value;
}

const NUMBER_CHECKS = ['number_format', 'greater_than', 'less_than', 'multiple_of'];

interface Format {
  readonly type: 'integer' | 'number';
  readonly format?: string;
  readonly least?: number;
  readonly most?: number;
}

const NUMBER_FORMATS: Readonly<Record<string, Format>> = {
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

/** The schema of a number. */
export function numberSchema(checks: readonly CheckDef[], position: ZodPosition): Draft {
  reportUnsupportedChecks(checks, NUMBER_CHECKS, position);
  const formats = checks
    .flatMap(({ check, format = '' }) => (check === 'number_format' ? [NUMBER_FORMATS[format] ?? []] : []))
    .flat();
  const isInteger = formats.some(({ type }) => type === 'integer');
  const format = formats.find(({ type }) => !isInteger || type === 'integer')?.format;
  const lowest = narrowestBound(checks, formats, { isInteger, isLow: true }, position);
  const highest = narrowestBound(checks, formats, { isInteger, isLow: false }, position);
  return {
    type: isInteger ? 'integer' : 'number',
    ...(format === undefined ? {} : { format }),
    ...(lowest === undefined ? {} : { minimum: lowest.value, ...(lowest.inclusive ? {} : { exclusiveMinimum: true }) }),
    ...(highest === undefined
      ? {}
      : { maximum: highest.value, ...(highest.inclusive ? {} : { exclusiveMaximum: true }) }),
    ...factorConstraints(checks, position),
  };
}

interface BoundSide {
  readonly isInteger: boolean;
  readonly isLow: boolean;
}

/** The strictest of the lower or upper bounds of the checks and formats. */
function narrowestBound(
  checks: readonly CheckDef[],
  formats: readonly Format[],
  side: BoundSide,
  position: ZodPosition,
): Bound | undefined {
  const given = checks.flatMap(({ check, value, inclusive = false }) =>
    check === (side.isLow ? 'greater_than' : 'less_than') && typeof value === 'number' ? [{ value, inclusive }] : [],
  );
  const ofFormats = formats.flatMap(({ least, most }) => (side.isLow ? least : most) ?? []);
  return [...given, ...ofFormats.map((value) => ({ value, inclusive: true }))]
    .map((bound) => effectiveBound(bound, side, position))
    .reduce<Bound | undefined>((a, b) => (a === undefined || isNarrower(b, a, side.isLow ? 1 : -1) ? b : a), undefined);
}

function isNarrower(one: Bound, other: Bound, direction: 1 | -1): boolean {
  const difference = (one.value - other.value) * direction;
  return difference > 0 || (difference === 0 && !one.inclusive);
}

/** Returns the bound in a form that has the same effect in the validator. */
function effectiveBound({ value, inclusive }: Bound, { isInteger, isLow }: BoundSide, position: ZodPosition): Bound {
  if (Number.isInteger(value)) {
    if (!isInteger || inclusive) return { value, inclusive };
    return { value: isLow ? value + 1 : value - 1, inclusive: true };
  }
  if (isInteger) return { value: isLow ? Math.ceil(value) : Math.floor(value), inclusive: true };
  // Integers are compared with the truncated bound, which is looser towards zero; away from zero an exclusive bound
  // would be too strict.
  if (!inclusive || isLow === value > 0) reportLoss(position, `the exact bound ${value}`);
  return { value, inclusive: true };
}

/** Several factors need `allOf`. A fractional factor would reject every integer. */
function factorConstraints(checks: readonly CheckDef[], position: ZodPosition): Draft {
  const factors = checks.flatMap(({ check, value }) => (check === 'multiple_of' ? [Number(value)] : []));
  const [first, ...others] = factors.filter((value) => Number.isInteger(value) && value > 0);
  const unsupported = factors.filter((value) => !Number.isInteger(value) || value <= 0);
  for (const value of unsupported) reportLoss(position, `multiples of ${value}`);
  if (first === undefined) return {};
  return { multipleOf: first, ...(others.length === 0 ? {} : { allOf: others.map((multipleOf) => ({ multipleOf })) }) };
}
