/**
 * Converts enums and literals, and zod types without a JSON value.
 */
import type { Draft, Place } from './context.js';
import { allowNull, anything, extension, lose } from './context.js';
import { literalPattern } from './pattern.js';

/** The schema that accepts no value; unions omit it. With `nullable` it accepts only null. */
export const NOTHING: Draft = Object.freeze({ enum: [] });

/** True for types whose values cannot occur in a document. */
export function isNothing(type: string): boolean {
  return NOTHINGS.has(type);
}

const NOTHINGS: ReadonlySet<string> = new Set([
  'never',
  'undefined',
  'void',
  'date',
  'bigint',
  'symbol',
  'nan',
  'map',
  'set',
  'function',
  'promise',
  'file',
]);

/**
 * The schema of a set of allowed values. Null makes it nullable, undefined makes it optional.
 *
 * An `enum` is only exact together with a type: without one the validator converts values (1.5 matches 1, and 97
 * matches `a`). Values of several types are therefore expressed by other constraints.
 */
export function enumSchema(values: readonly unknown[], place: Place): Draft {
  const allowed = [...new Set(values)].filter((value) => ['string', 'number', 'boolean'].includes(typeof value));
  const hasNull = values.includes(null);
  if (allowed.length === 0) return hasNull ? { ...NOTHING, nullable: true } : { ...NOTHING };
  const draft = oneOfValues(allowed, place);
  if (hasNull) allowNull(draft);
  return draft;
}

function oneOfValues(values: readonly unknown[], place: Place): Draft {
  const types = new Set(values.map(typeOf));
  const [type] = types;
  if (types.size === 1 && type !== 'number') return { type: type as string, enum: [...values] };
  const [texts, numbers] = [values.filter((value) => typeof value === 'string'), values.filter(isNumber)];
  if (texts.length === 0 && numbers.length === values.length) return { type: 'number', ...listed(numbers) };
  if (!types.has('number') && !types.has('boolean')) {
    return { [extension(place.dialect, 'int-or-string')]: true, ...listed(texts), ...listed(numbers) };
  }
  lose(place, 'of which type each value is');
  return { ...anything(place), enum: [...values] };
}

/** A constraint on strings that does not affect numbers, or vice versa. */
export function listed(values: readonly unknown[]): Draft {
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
