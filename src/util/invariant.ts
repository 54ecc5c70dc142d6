/**
 * Assertions for conditions that only a bug in the library can violate. A failure is a plain Error, never a Status (over
 * HTTP it becomes a 500).
 */

/** Throws unless the condition holds; narrows the type. */
export function invariant(condition: unknown, what: string): asserts condition {
  if (!condition) throw new Error(`orchplane: broken invariant: ${what}`);
}

/** Ends a `switch` over a union: compiles only while every case is handled. */
export function unreachable(value: never): never {
  throw new Error(`orchplane: unhandled case: ${String(value)}`);
}
