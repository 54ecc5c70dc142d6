/**
 * What a failure says. Anything can be thrown, and not everything that is has a message.
 */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
