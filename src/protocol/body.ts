/**
 * The body of a request. It is parsed only when the server needs it, because invalid options are reported before an
 * invalid body.
 */
import type { GroupVersionKind } from '../meta/gvk.js';
import { copyUnvalidated, type ParsedBody, printJson } from '../util/json.js';

export type { ParsedBody } from '../util/json.js';

export interface RequestBody {
  /**
   * Parses the body; the result is cached. Throws {@link BodyError} when the bytes are not a document. `expected` is the
   * type for encodings that cannot be decoded without one, if the document does not state it.
   */
  read(expected?: GroupVersionKind): ParsedBody;
  /**
   * The type that the document states, read before the document. Present only for encodings that decode the type in a
   * separate pass with its own error messages. Throws {@link BodyError}.
   */
  typeMeta?(): TypeMeta | undefined;
  /** The encoding does not tell zero values and empty lists from absent ones. */
  omitsZeroValues?(): boolean;
  /** A summary for messages: `<empty>`, the first 30 bytes of an object, or the hex digits of other bytes. */
  summary(): string;
  /** The document as it was sent; text encodings only. */
  text?(): string | undefined;
  /**
   * A copy that shares no memory with the sender. Called before the server waits for anything; absent on bodies that share
   * no memory.
   */
  detach?(): RequestBody;
  /** A message for each duplicate key (`line 7: key "k" already set in map`); YAML only. */
  repeatedKeys?(): readonly string[];
}

/** The type that a document states; empty strings where it states none. */
export interface TypeMeta {
  readonly apiVersion: string;
  readonly kind: string;
}

/** Thrown for a body that is not a document: invalid JSON, an empty body. The server builds the Status message from it. */
export class BodyError extends Error {
  override readonly name = 'BodyError';
  /** The message is complete: the server adds no prefix to it. */
  readonly isWhole: boolean;

  constructor(message: string, { isWhole = false }: { readonly isWhole?: boolean } = {}) {
    super(message);
    this.isWhole = isWhole;
  }
}

/** The number of body bytes in a summary. */
export const SUMMARY_LENGTH = 30;

/** A body that is already a value, for the local client. */
export function valueBody(value: unknown): RequestBody {
  return {
    read: () => ({ value }),
    summary: () => summarize(printJson(value)),
    detach: () => valueBody(copyUnvalidated(value)),
  };
}

/** The start of a JSON object, with ` ...` if it was cut. */
export function summarize(text: string): string {
  return text.length > SUMMARY_LENGTH ? `${text.slice(0, SUMMARY_LENGTH)} ...` : text;
}
