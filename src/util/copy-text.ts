/** Copies of texts. */

/** JavaScript engines copy shorter parts of a text themselves. */
const MIN_SHARED_LENGTH = 13;

/**
 * The same text in memory of its own. What `slice` returns shares the memory of the whole text, which may be a body of
 * three megabytes, and keeps it as long as it is referenced.
 */
export function copyText(text: string): string {
  return text.length < MIN_SHARED_LENGTH ? text : (JSON.parse(JSON.stringify(text)) as string);
}
