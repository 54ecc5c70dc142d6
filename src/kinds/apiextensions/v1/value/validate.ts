/**
 * Values judged by a schema, in the words in which the reference server's validator does it. The name of a value is
 * its path from the top (`spec.replicas`); errors stand at that name below `base`.
 */
import type { FieldError } from '../../../../meta/field-error.js';
import { childPath, fieldError, invalid, keyPath, required, tooLong, tooMany } from '../../../../meta/field-error.js';
import { quote } from '../../../../meta/go-text.js';
import { re2Matches } from '../../../../meta/re2.js';
import { isRecord } from '../../../../util/json.js';
import type { SchemaView } from '../schema/schema-view.js';
import { Enums } from './enums.js';
import { hasFormat } from './formats.js';

interface Place {
  readonly base: string;
  readonly name: string;
  readonly enums: Enums;
}

/** What is wrong with a value. */
export function valueErrors(schema: SchemaView, value: unknown, base: string): FieldError[] {
  return nodeErrors(schema, value, { base, name: '', enums: new Enums() });
}

function nodeErrors(schema: SchemaView, value: unknown, place: Place): FieldError[] {
  if (value === null) return [...typeErrors(schema, value, place), ...enumErrors(schema, value, place)];
  const found = [...typeErrors(schema, value, place), ...junctorErrors(schema, value, place)];
  if (typeof value === 'string') found.push(...stringErrors(schema, value, place));
  if (typeof value === 'number' || typeof value === 'bigint') found.push(...numberErrors(schema, value, place));
  if (Array.isArray(value)) found.push(...listErrors(schema, value, place));
  found.push(...enumErrors(schema, value, place));
  if (isRecord(value)) found.push(...objectErrors(schema, value, place));
  return found;
}

function fieldOf({ base, name }: Place): string {
  return name === '' ? base : childPath(base, name);
}

function worded({ name }: Place, text: string): string {
  return `${name} in body ${text}`;
}

function inside(place: Place, key: string): Place {
  return { ...place, name: childPath(place.name, key) };
}

function jsonTypeOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'bigint') return 'integer';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value;
}

const FORMAT_OF_TYPE: Readonly<Record<string, string>> = { integer: 'int64', number: 'double' };

function typeErrors(schema: SchemaView, value: unknown, place: Place): FieldError[] {
  const { type, raw } = schema;
  if (type === '') return [];
  const actual = jsonTypeOf(value);
  if (value === null) return raw.nullable === true ? [] : [typeError(place, type, actual)];
  const { format = '' } = raw;
  const fits = type === actual || (actual === 'integer' && type === 'number');
  if (typeof value !== 'string' && !Array.isArray(value) && format !== '' && !fits) {
    const actualFormat = FORMAT_OF_TYPE[actual] ?? '';
    // A number that is no integer is told so by its type; anything else by the format it should have.
    if (type !== 'integer' && type !== 'number' && actualFormat !== format) {
      return [typeError(place, format, actualFormat)];
    }
  }
  if (type !== 'number' && type !== 'integer' && format !== '' && (typeof value === 'string' || Array.isArray(value))) {
    return [];
  }
  return fits ? [] : [typeError(place, type, actual)];
}

function typeError(place: Place, wanted: string, actual: string): FieldError {
  const detail = worded(place, `must be of type ${wanted}: ${quote(actual)}`);
  return fieldError('typeInvalid', fieldOf(place), { value: actual, detail });
}

function junctorErrors(schema: SchemaView, value: unknown, place: Place): FieldError[] {
  const { anyOf, oneOf, allOf, not } = schema;
  const found: FieldError[] = [];
  const refuse = (text: string) => found.push(invalid(place.base, '', `${quote(place.name)} ${text}`));
  const results = (schemas: readonly SchemaView[]) => schemas.map((one) => nodeErrors(one, value, place));
  const any = results(anyOf);
  if (anyOf.length > 0 && any.every((errors) => errors.length > 0)) {
    refuse('must validate at least one schema (anyOf)');
    found.push(...(any[0] ?? []));
  }
  const one = results(oneOf);
  const valid = one.filter((errors) => errors.length === 0).length;
  if (oneOf.length > 0 && valid !== 1) {
    const count = valid === 0 ? 'Found none valid' : `Found ${valid} valid alternatives`;
    refuse(`must validate one and only one schema (oneOf). ${count}`);
    if (valid === 0) found.push(...(one[0] ?? []));
  }
  const all = results(allOf);
  found.push(...all.flat());
  const failed = all.filter((errors) => errors.length > 0).length;
  if (failed > 0) refuse(`must validate all the schemas (allOf)${failed === all.length ? '. None validated' : ''}`);
  if (not !== undefined && nodeErrors(not, value, place).length === 0) refuse('must not validate the schema (not)');
  return found;
}

function stringErrors({ raw }: SchemaView, value: string, place: Place): FieldError[] {
  const { maxLength, minLength, pattern = '', format = '' } = raw;
  const field = fieldOf(place);
  const length = [...value].length;
  const found: FieldError[] = [];
  // The first rule that is broken ends it, but for the format.
  if (maxLength !== undefined && length > maxLength) found.push(tooLong(field, maxLength));
  else if (minLength !== undefined && length < minLength) {
    found.push(invalid(field, value, worded(place, `should be at least ${minLength} chars long`)));
  } else if (pattern !== '' && !re2Matches(pattern, value)) {
    found.push(invalid(field, value, worded(place, `should match '${pattern}'`)));
  }
  if (format !== '' && hasFormat(format, value) === false) {
    const detail = worded(place, `must be of type ${format}: ${quote(value)}`);
    found.push(fieldError('typeInvalid', field, { value, detail }));
  }
  return found;
}

function numberErrors({ raw }: SchemaView, value: number | bigint, place: Place): FieldError[] {
  const field = fieldOf(place);
  const found: FieldError[] = [];
  const isInteger = jsonTypeOf(value) === 'integer';
  // Integers are compared as integers, which cuts the fraction off a bound.
  const bound = (given: number) => (isInteger ? Math.trunc(given) : given);
  const refuse = (text: string) => found.push(invalid(field, value, worded(place, text)));
  const { multipleOf, maximum, minimum, exclusiveMaximum = false, exclusiveMinimum = false } = raw;
  if (multipleOf !== undefined) {
    const factor = bound(multipleOf);
    if (factor <= 0) {
      found.push(invalid(field, value, `factor MultipleOf declared for ${place.name} must be positive: ${factor}`));
    } else if (!isMultiple(Number(value), factor)) refuse(`should be a multiple of ${factor}`);
  }
  if (maximum !== undefined && (exclusiveMaximum ? value >= bound(maximum) : value > bound(maximum))) {
    refuse(`should be less than ${exclusiveMaximum ? '' : 'or equal to '}${bound(maximum)}`);
  }
  if (minimum !== undefined && (exclusiveMinimum ? value <= bound(minimum) : value < bound(minimum))) {
    refuse(`should be greater than ${exclusiveMinimum ? '' : 'or equal to '}${bound(minimum)}`);
  }
  return found;
}

function isMultiple(value: number, factor: number): boolean {
  return Number.isInteger(value / factor);
}

function listErrors({ raw, items }: SchemaView, value: readonly unknown[], place: Place): FieldError[] {
  const { minItems, maxItems } = raw;
  const found =
    items === undefined
      ? []
      : value.flatMap((item, index) => nodeErrors(items, item, { ...place, name: keyPath(place.name, index) }));
  if (minItems !== undefined && value.length < minItems) {
    found.push(invalid(fieldOf(place), value.length, worded(place, `should have at least ${minItems} items`)));
  }
  if (maxItems !== undefined && value.length > maxItems) found.push(tooMany(fieldOf(place), value.length, maxItems));
  return found;
}

function enumErrors({ raw }: SchemaView, value: unknown, place: Place): FieldError[] {
  return raw.enum === undefined ? [] : place.enums.errors(raw.enum, value, fieldOf(place));
}

function objectErrors(schema: SchemaView, value: Record<string, unknown>, place: Place): FieldError[] {
  const { raw, properties, additionalProperties: additional } = schema;
  const { minProperties, maxProperties } = raw;
  const keys = Object.keys(value).sort();
  if (minProperties !== undefined && keys.length < minProperties) {
    const detail = worded(place, `should have at least ${minProperties} properties`);
    return [invalid(fieldOf(place), keys.length, detail)];
  }
  if (maxProperties !== undefined && keys.length > maxProperties) {
    return [tooMany(fieldOf(place), keys.length, maxProperties)];
  }
  const found: FieldError[] = [];
  for (const key of keys) {
    if (properties.has(key) || additional === undefined || additional === true) continue;
    if (typeof additional === 'object') found.push(...nodeErrors(additional, value[key], inside(place, key)));
    else found.push(invalid(fieldOf(place), '', `${place.name}.${key} in body is a forbidden property`));
  }
  for (const [key, property] of properties) {
    if (Object.hasOwn(value, key)) found.push(...nodeErrors(property, value[key], inside(place, key)));
  }
  const missing = (raw.required ?? []).filter((key) => !Object.hasOwn(value, key));
  return [...found, ...missing.map((key) => required(fieldOf(inside(place, key))))];
}
