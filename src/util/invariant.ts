/**
 * For what can only be a bug of ours. A failed invariant is never shown to a client as a Status of its own making:
 * it surfaces as a plain error (and over HTTP as a 500).
 */

/** Throws unless the condition holds; narrows it for the compiler. */
export function invariant(condition: unknown, what: string): asserts condition {
  if (!condition) throw new Error(`orchplane: broken invariant: ${what}`);
}

/** Ends a `switch` over a union: compiles only while every case is handled. */
export function unreachable(value: never): never {
  throw new Error(`orchplane: unhandled case: ${String(value)}`);
}
