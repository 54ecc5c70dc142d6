/**
 * The message of a thrown value, which need not be an Error.
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

/** The lines of a text as one. */
export function onOneLine(text: string): string {
  const lines = text.split('\n').map((line) => line.trim());
  return lines.join(' ');
}
