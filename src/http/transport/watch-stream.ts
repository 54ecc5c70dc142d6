/**
 * Reads a watch from a response body: one JSON event per line. It reads only on demand, so a slow reader applies back
 * pressure to the server.
 *
 * How it ends:
 *
 *   the body ends between two lines, or a read times out    done, as after the server's own timeout
 *   the body ends inside a line, or the connection breaks   `next` rejects with ServiceUnavailable
 *   a line is not an event                                  `next` rejects with InternalError
 *   an ERROR event                                          it is returned, then done
 *   close                                                   done, also for a pending `next`
 *
 * A reflector resumes from the last resourceVersion it received, so an end between two lines loses nothing. A truncated
 * event is an error, because the server considers it delivered.
 */
import type { StatusError } from '../../meta/errors.js';
import type { Status } from '../../meta/status.js';
import type { ServerWatchEvent, WatchStream } from '../../protocol/watch-event.js';
import { JsonSyntaxError, parseJson } from '../../text/json/parse-json.js';
import { onAbort } from '../../util/abort.js';
import type { Undo } from '../../util/clock.js';
import { deepFreeze, isRecord } from '../../util/json.js';
import { brokenResponseError, isStatus, isTimeout, undecodableEventError } from './response-errors.js';

/** The reference client's limit, longer than any object that a server accepts. */
export const MAX_LINE = 16 * 1024 * 1024;

/** A line longer than {@link MAX_LINE} characters. */
class LineTooLongError extends Error {
  override readonly name = 'LineTooLongError';
}

class EventLines {
  readonly #decoder = new TextDecoder();
  /** The text of the last chunk; {@link #at} is the read position. */
  #chunk = '';
  #at = 0;
  /** The beginning of an incomplete line. */
  #partialLine = '';

  /** Adds a chunk. Call it only when {@link next} returned undefined. */
  push(bytes: Uint8Array): void {
    this.#chunk = this.#decoder.decode(bytes, { stream: true });
    this.#at = 0;
  }

  /** The next complete line that is not blank; undefined when another chunk is needed. Throws LineTooLongError. */
  next(): string | undefined {
    for (let end = this.#chunk.indexOf('\n', this.#at); end >= 0; end = this.#chunk.indexOf('\n', this.#at)) {
      const line = this.#partialLine + this.#chunk.slice(this.#at, end);
      this.#partialLine = '';
      this.#at = end + 1;
      if (line.length > MAX_LINE) throw lineTooLongError();
      if (line.trim() !== '') return line;
    }
    this.#partialLine += this.#chunk.slice(this.#at);
    this.#chunk = '';
    this.#at = 0;
    if (this.#partialLine.length > MAX_LINE) throw lineTooLongError();
    return undefined;
  }

  /** The text after the last line end when the body ended; returned once. */
  rest(): string {
    const rest = this.#partialLine + this.#decoder.decode();
    this.#partialLine = '';
    return rest;
  }
}

type Next = IteratorResult<ServerWatchEvent, undefined>;

const DONE: IteratorReturnResult<undefined> = Object.freeze({ done: true, value: undefined });

/** A watch over the body of a response. */
export class HttpWatchStream implements WatchStream {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  readonly #lines = new EventLines();
  #offSignal: Undo = () => undefined;
  #ended = false;
  /** Reads run one after another, even when several are requested at once. */
  #lastRead: Promise<unknown> = Promise.resolve();

  /** `body` is null for a response without a body. The signal closes the stream. */
  constructor(body: ReadableStream<Uint8Array> | null, signal?: AbortSignal) {
    this.#reader = body?.getReader();
    this.#offSignal = onAbort(signal, () => this.close());
  }

  next(): Promise<Next> {
    const next = this.#lastRead.then(() => this.#read());
    // The caller gets the error; the next read finds the stream ended.
    this.#lastRead = next.catch(() => undefined);
    return next;
  }

  close(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#offSignal();
    // Cancelling a body that has already failed rejects; the error was already reported.
    this.#reader?.cancel().catch(() => undefined);
  }

  async *[Symbol.asyncIterator](): AsyncIterator<ServerWatchEvent, undefined> {
    try {
      for (let next = await this.next(); next.done !== true; next = await this.next()) yield next.value;
    } finally {
      this.close();
    }
  }

  async #read(): Promise<Next> {
    try {
      const line = await this.#line();
      if (line === undefined || this.#ended) return this.#done();
      const value = decodeEvent(line);
      if (value.type === 'ERROR') this.close();
      return { done: false, value };
    } catch (error) {
      if (this.#ended) return DONE;
      this.close();
      throw error;
    }
  }

  /** The next line; undefined at the end of the body. */
  async #line(): Promise<string | undefined> {
    for (;;) {
      const line = this.#ended ? undefined : this.#nextLine();
      if (line !== undefined || this.#ended || this.#reader === undefined) return line;
      const chunk = await this.#chunk(this.#reader);
      if (this.#ended) return undefined;
      if (chunk === undefined) return this.#last();
      this.#lines.push(chunk);
    }
  }

  #nextLine(): string | undefined {
    try {
      return this.#lines.next();
    } catch (error) {
      throw error instanceof LineTooLongError ? undecodableEventError(error.message, error) : error;
    }
  }

  /** The next bytes; undefined at the end. */
  async #chunk(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<Uint8Array | undefined> {
    try {
      const { done, value } = await reader.read();
      return done ? undefined : value;
    } catch (error) {
      // Node ends a response that is idle for some minutes, which is normal for a watch.
      if (isTimeout(error)) return undefined;
      throw brokenResponseError(error);
    }
  }

  /** The unterminated last line: nothing, a complete event, or part of one. */
  #last(): string | undefined {
    const rest = this.#lines.rest();
    if (rest.trim() === '') return undefined;
    try {
      parseJson(rest);
    } catch (error) {
      if (error instanceof JsonSyntaxError) throw brokenResponseError(new Error('unexpected EOF', { cause: error }));
      throw error;
    }
    return rest;
  }

  #done(): IteratorReturnResult<undefined> {
    this.close();
    return DONE;
  }
}

const CHANGE_TYPES: ReadonlySet<unknown> = new Set(['ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK']);

/** Throws StatusError InternalError. */
function decodeEvent(line: string): ServerWatchEvent {
  const event = parseEvent(line);
  const { type, object } = event;
  if (type === 'ERROR')
    return { type, object: isStatus(object) ? deepFreeze(object) : errorEventWithoutStatus(object) };
  if (!CHANGE_TYPES.has(type)) throw undecodableEventError(`invalid watch event type: ${String(type)}`);
  if (!isRecord(object) || !isRecord(object['metadata'])) throw undecodableEventError('an event without an object');
  // Beyond the type, the server is trusted, as with any transport.
  return deepFreeze({ type, object }) as unknown as ServerWatchEvent;
}

function parseEvent(line: string): { readonly type?: unknown; readonly object?: unknown } {
  try {
    const { value } = parseJson(line);
    if (isRecord(value)) return value;
  } catch (error) {
    if (error instanceof JsonSyntaxError) throw undecodableEventError(error.message, error);
    throw error;
  }
  throw undecodableEventError('a line that is not an object');
}

/** The Status for an ERROR event that carries something else. */
function errorEventWithoutStatus(object: unknown): Status {
  const failure: StatusError = undecodableEventError(
    `an ERROR event without a Status: ${isRecord(object) ? 'another object' : typeof object}`,
  );
  return deepFreeze(failure.status);
}

function lineTooLongError(): LineTooLongError {
  return new LineTooLongError('object to decode was longer than maximum allowed size');
}
