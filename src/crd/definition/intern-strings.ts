/**
 * Shares equal strings in large JSON values.
 *
 * A parser makes strings as slices of its input, and one slice keeps the whole input in memory. JavaScript engines replace
 * a string that becomes a property name by the only copy of its text (V8: an internalized string, which is not a slice). So
 * using each string as a property name once frees the input and all duplicates, without a table of our own.
 */

/** V8 copies shorter strings instead of slicing them. */
const MIN_SLICE_LENGTH = 13;

/** Shares the strings inside a JSON value. */
export function internStrings(value: unknown): void {
  internInside(value, {});
}

function internInside(value: unknown, names: Record<string, boolean>): void {
  if (typeof value === 'string') {
    if (value.length < MIN_SLICE_LENGTH) return;
    names[value] = true;
    // The object stays small; the engine keeps the string for as long as it is in use.
    delete names[value];
  } else if (Array.isArray(value)) {
    for (const item of value) internInside(item, names);
  } else if (typeof value === 'object' && value !== null) {
    for (const key in value) internInside((value as Record<string, unknown>)[key], names);
  }
}
