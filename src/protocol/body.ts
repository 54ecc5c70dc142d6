/**
 * The body of a request: bytes that are parsed only when the server gets there, because a bad option must be
 * reported before a bad body.
 */
import type { GroupVersionKind } from '../meta/gvk.js';
import { copyUnvalidated, type ParsedBody, printJson } from '../util/json.js';

export type { DuplicateKeys, ParsedBody } from '../util/json.js';

export interface RequestBody {
  /**
   * Parses, at most once in effect. Throws {@link BodyError} when the bytes are no document at all. `expected` helps
   * encodings that cannot be read without knowing the type, where the document does not say it.
   */
  read(expected?: GroupVersionKind): ParsedBody;
  /**
   * What the document claims to be, asked for before the document itself. Only encodings that find the type by a look of
   * its own, and have words of its own when that fails, give one. Throws {@link BodyError}.
   */
  typeMeta?(): TypeMeta | undefined;
  /** A short look at the body for messages: `<empty>`, the first 30 bytes of an object, or the hex of other bytes. */
  summary(): string;
  /** The document as it was written; text only. */
  text?(): string | undefined;
  /**
   * The same body, cut loose from its sender's memory. Called before anything is waited for; absent on bodies that
   * share no memory.
   */
  detach?(): RequestBody;
  /** Keys that a document repeats, each in a line of its own (`line 7: key "k" already set in map`); YAML only. */
  repeatedKeys?(): readonly string[];
}

/** The type that a document claims, in its own words; empty where it says nothing. */
export interface TypeMeta {
  readonly apiVersion: string;
  readonly kind: string;
}

/** A body that is not a document: broken JSON, an empty body. The server words the Status around its message. */
export class BodyError extends Error {
  override readonly name = 'BodyError';
  /** The message is all there is to say: the document was not even reached. */
  readonly isWhole: boolean;

  constructor(message: string, { isWhole = false }: { readonly isWhole?: boolean } = {}) {
    super(message);
    this.isWhole = isWhole;
  }
}

/** How many bytes of a body a message shows. */
export const SUMMARY_LENGTH = 30;

/** A body that is already a value, as the local client has it. */
export function valueBody(value: unknown): RequestBody {
  return {
    read: () => ({ value }),
    summary: () => summarize(printJson(value)),
    detach: () => valueBody(copyUnvalidated(value)),
  };
}

/** The first bytes of a document that begins with `{`, with a mark when it was cut. */
export function summarize(text: string): string {
  return text.length > SUMMARY_LENGTH ? `${text.slice(0, SUMMARY_LENGTH)} ...` : text;
}
