/**
 * The body of a response → a watch: one JSON event per line, read when somebody asks for the next one. Nothing is read
 * ahead, so a slow reader slows the server down and not this process.
 *
 * How it ends:
 *
 *   the body ends between two lines, or nothing came for long   done, as after the server's own timeout
 *   the body ends inside a line, or the connection breaks        `next` rejects with ServiceUnavailable
 *   a line is no event                                           `next` rejects with InternalError
 *   an ERROR event                                               it is given, then done
 *   close                                                        done, also for a `next` that waits
 *
 * Whoever follows a collection goes on from the last version that came, so an end between two lines loses nothing; an
 * event that was cut off is told, because the one who sent it thinks that it has arrived.
 */
import type { StatusError } from '../../meta/errors.js';
import type { Status } from '../../meta/status.js';
import type { WatchStream, WireEvent } from '../../protocol/watch-event.js';
import { JsonSyntaxError, parseJson } from '../../text/json/parse-json.js';
import { onAbort } from '../../util/abort.js';
import type { Undo } from '../../util/clock.js';
import { deepFreeze, isRecord } from '../../util/json.js';
import { brokenOff, isStatus, isTimeout, undecodable } from './response-errors.js';

/** Longer than any object that a server accepts, and short enough to hold: what the reference client reads at most. */
export const MAX_LINE = 16 * 1024 * 1024;

/** A line that does not end within {@link MAX_LINE} characters. */
class LineTooLongError extends Error {
  override readonly name = 'LineTooLongError';
}

class EventLines {
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

type Next = IteratorResult<WireEvent, undefined>;

const DONE: IteratorReturnResult<undefined> = Object.freeze({ done: true, value: undefined });

export class HttpWatchStream implements WatchStream {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  readonly #lines = new EventLines();
  #offSignal: Undo = () => undefined;
  #ended = false;
  /** Reads come one after another, also when they are asked for at once. */
  #turn: Promise<unknown> = Promise.resolve();

  /** `body` is null for a response that ended with its head. The signal closes the stream. */
  constructor(body: ReadableStream<Uint8Array> | null, signal?: AbortSignal) {
    this.#reader = body?.getReader();
    this.#offSignal = onAbort(signal, () => this.close());
  }

  next(): Promise<Next> {
    const next = this.#turn.then(() => this.#read());
    // Whoever asked is told of a failure; the reader after it finds the stream ended.
    this.#turn = next.catch(() => undefined);
    return next;
  }

  close(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#offSignal();
    // A body that has failed already cannot be cancelled, and nobody waits for it any more.
    this.#reader?.cancel().catch(() => undefined);
  }

  async *[Symbol.asyncIterator](): AsyncIterator<WireEvent, undefined> {
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
      throw error instanceof LineTooLongError ? undecodable(error.message, error) : error;
    }
  }

  /** The next bytes; undefined when there are no more. */
  async #chunk(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<Uint8Array | undefined> {
    try {
      const { done, value } = await reader.read();
      return done ? undefined : value;
    } catch (error) {
      // Node ends a response on which nothing has come for some minutes; on a quiet watch nothing does.
      if (isTimeout(error)) return undefined;
      throw brokenOff(error);
    }
  }

  /** What a server left unfinished: nothing, a whole event without its line end, or a part of one. */
  #last(): string | undefined {
    const rest = this.#lines.rest();
    if (rest.trim() === '') return undefined;
    try {
      parseJson(rest);
    } catch (error) {
      if (error instanceof JsonSyntaxError) throw brokenOff(new Error('unexpected EOF', { cause: error }));
      throw error;
    }
    return rest;
  }

  #done(): IteratorReturnResult<undefined> {
    this.close();
    return DONE;
  }
}

const CHANGES: ReadonlySet<unknown> = new Set(['ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK']);

/** Throws StatusError InternalError. */
function decodeEvent(line: string): WireEvent {
  const event = parseEvent(line);
  const { type, object } = event;
  if (type === 'ERROR') return { type, object: isStatus(object) ? deepFreeze(object) : unknownFailure(object) };
  if (!CHANGES.has(type)) throw undecodable(`invalid watch event type: ${String(type)}`);
  if (!isRecord(object) || !isRecord(object['metadata'])) throw undecodable('an event without an object');
  // Of the parts beyond the type the server is trusted, as over any transport.
  return deepFreeze({ type, object }) as unknown as WireEvent;
}

function parseEvent(line: string): { readonly type?: unknown; readonly object?: unknown } {
  try {
    const { value } = parseJson(line);
    if (isRecord(value)) return value;
  } catch (error) {
    if (error instanceof JsonSyntaxError) throw undecodable(error.message, error);
    throw error;
  }
  throw undecodable('a line that is no object');
}

/** An ERROR event is told as a Status, also when it brought something else. */
function unknownFailure(object: unknown): Status {
  const failure: StatusError = undecodable(
    `an ERROR event without a Status: ${isRecord(object) ? 'another object' : typeof object}`,
  );
  return deepFreeze(failure.status);
}

function tooLong(): LineTooLongError {
  return new LineTooLongError('object to decode was longer than maximum allowed size');
}
