/**
 * What a failure says. Anything can be thrown: not everything has a message, and some things have no words at all.
 */
export function messageOf(error: unknown): string {
  if (error instanceof Error) return error.message;
  try {
    return String(error);
  } catch {
    // An object without a prototype, or one whose `toString` throws.
    return `something that cannot be printed (${typeof error})`;
  }
}
