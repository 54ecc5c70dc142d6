/**
 * Bytes in chunks → lines. Chunks end anywhere: inside a line, inside a character. Lines are cut off a chunk when they
 * are asked for, so what is held is one chunk and the line that runs across its beginning.
 */

/** Longer than any object that a server accepts, and short enough to hold: what the reference client reads at most. */
export const MAX_LINE = 16 * 1024 * 1024;

/** A line that does not end within {@link MAX_LINE} characters. */
export class LineTooLongError extends Error {
  override readonly name = 'LineTooLongError';
}

export class EventLines {
  readonly #decoder = new TextDecoder();
  /** The text of the last chunk, from {@link #at} on still to be read. */
  #chunk = '';
  #at = 0;
  /** The beginning of a line whose end has not come yet. */
  #begun = '';

  /** Takes over a chunk. Only when {@link next} has nothing left. */
  push(bytes: Uint8Array): void {
    this.#chunk = this.#decoder.decode(bytes, { stream: true });
    this.#at = 0;
  }

  /** The next whole line that is not blank; undefined when another chunk is needed. Throws LineTooLongError. */
  next(): string | undefined {
    for (let end = this.#chunk.indexOf('\n', this.#at); end >= 0; end = this.#chunk.indexOf('\n', this.#at)) {
      const line = this.#begun + this.#chunk.slice(this.#at, end);
      this.#begun = '';
      this.#at = end + 1;
      if (line.length > MAX_LINE) throw tooLong();
      if (line.trim() !== '') return line;
    }
    this.#begun += this.#chunk.slice(this.#at);
    this.#chunk = '';
    this.#at = 0;
    if (this.#begun.length > MAX_LINE) throw tooLong();
    return undefined;
  }

  /** What stood behind the last line end when the bytes ended; it is given once. */
  rest(): string {
    const rest = this.#begun + this.#decoder.decode();
    this.#begun = '';
    return rest;
  }
}

function tooLong(): LineTooLongError {
  return new LineTooLongError('object to decode was longer than maximum allowed size');
}
