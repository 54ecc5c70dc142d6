/**
 * Comparing versions of objects. They are decimal numbers without leading zeros, of any length.
 */

/** Whether version `a` is `b` or came after it. */
export function isNewerOrSame(a: string, b: string): boolean {
  return a.length === b.length ? a >= b : a.length > b.length;
}
