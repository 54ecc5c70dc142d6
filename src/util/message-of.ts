/**
 * The message of a thrown value, which need not be an Error.
 */
export function messageOf(error: unknown): string {
  try {
    return error instanceof Error ? String(error.message) : String(error);
  } catch {
    // An object without a prototype, or one whose `toString` or `message` throws.
    return `something that cannot be printed (${typeof error})`;
  }
}

/** Prints values. One of them may not be printable, and programs may replace the console by one that throws. */
export function printError(...values: readonly unknown[]): void {
  try {
    console.error(...values);
  } catch {
    try {
      console.error(values.map(messageOf).join(' '));
    } catch {
      // The queue of a controller reports its errors here: one that was thrown would end the process instead of a retry.
    }
  }
}

/** The lines of a text as one. */
export function onOneLine(text: string): string {
  const lines = text.split('\n').map((line) => line.trim());
  return lines.join(' ');
}
