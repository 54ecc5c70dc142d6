/**
 * Validation rules of single fields: counts, ports, values from a list, immutable fields.
 */
import { childPath, type FieldError, invalid, notSupported } from '../../meta/field-error.js';
import { deepEqual } from '../../util/json.js';

/** Most counts must not be negative. An absent count is valid. */
export function nonNegative(path: string, value: number | undefined): FieldError[] {
  return value === undefined || value >= 0 ? [] : [invalid(path, value, 'must be greater than or equal to 0')];
}

/** Requires that none of these fields is negative. */
export function nonNegativeFields<Key extends string>(
  path: string,
  values: { readonly [Name in Key]?: number | undefined },
  names: readonly Key[],
): FieldError[] {
  return names.flatMap((name) => nonNegative(childPath(path, name), values[name]));
}

/** The range of port numbers; 0 is invalid. */
export function portNumberProblems(path: string, port: number): FieldError[] {
  return port >= 1 && port <= 65535 ? [] : [invalid(path, port, 'must be between 1 and 65535, inclusive')];
}

/** The indexes of values that occur earlier in the list, too. */
export function repeatedIndexes(values: readonly unknown[]): ReadonlySet<number> {
  const seen = new Set<unknown>();
  const repeated = new Set<number>();
  for (const [index, value] of values.entries()) {
    if (seen.has(value)) repeated.add(index);
    seen.add(value);
  }
  return repeated;
}

/** Requires a value from a list. */
export function valueErrors(path: string, value: string, supported: readonly string[]): FieldError[] {
  return supported.includes(value) ? [] : [notSupported(path, value, supported)];
}

/** Requires a value from a list, or none. An empty value is not absent. */
export function optionalValueErrors(
  path: string,
  value: string | undefined,
  supported: readonly string[],
): FieldError[] {
  return value === undefined ? [] : valueErrors(path, value, supported);
}

/** Requires that an update does not change a value; `print` returns the value in the message. */
export function immutableErrors(
  path: string,
  next: unknown,
  live: unknown,
  print: () => unknown = () => next,
): FieldError[] {
  return deepEqual(next, live) ? [] : [invalid(path, print(), 'field is immutable')];
}
