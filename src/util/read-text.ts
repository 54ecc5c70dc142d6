/**
 * Reads the bodies of responses with a limit: another server decides how long they are.
 */

/** Undefined if the body is too large; the rest is not read. */
export async function readText({ body }: Response, maxLength: number): Promise<string | undefined> {
  if (body === null) return '';
  const decoder = new TextDecoder();
  let text = '';
  let length = 0;
  const reader: ReadableStreamDefaultReader<Uint8Array> = body.getReader();
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    length += part.value.length;
    if (length > maxLength) {
      await reader.cancel();
      return undefined;
    }
    text += decoder.decode(part.value, { stream: true });
  }
  return text + decoder.decode();
}
