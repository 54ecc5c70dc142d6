/**
 * The body of a request: bytes that are parsed only when the server gets there, because a bad option must be
 * reported before a bad body.
 */
import { copyLoose, type ParsedBody, printJson } from '../util/json.js';

export type { DuplicateKeys, ParsedBody } from '../util/json.js';

export interface RequestBody {
  /** Parses, at most once in effect. Throws {@link BodyError} when the bytes are no document at all. */
  read(): ParsedBody;
  /** A short look at the body for messages: `<empty>`, the first 30 bytes of an object, or the hex of other bytes. */
  summary(): string;
  /**
   * The same body, cut loose from its sender's memory. Called before anything is waited for; absent on bodies that
   * share no memory.
   */
  detach?(): RequestBody;
  /** Keys that a document repeats, each in a line of its own (`line 7: key "k" already set in map`); YAML only. */
  repeatedKeys?(): readonly string[];
}

/** A body that is not a document: broken JSON, an empty body. The server words the Status around its message. */
export class BodyError extends Error {
  override readonly name = 'BodyError';
}

/** How many bytes of a body a message shows. */
export const SUMMARY_LENGTH = 30;

/** A body that is already a value, as the local client has it. */
export function valueBody(value: unknown): RequestBody {
  return {
    read: () => ({ value }),
    summary: () => summarize(printJson(value)),
    detach: () => valueBody(copyLoose(value)),
  };
}

/** The first bytes of a document that begins with `{`, with a mark when it was cut. */
export function summarize(text: string): string {
  return text.length > SUMMARY_LENGTH ? `${text.slice(0, SUMMARY_LENGTH)} ...` : text;
}
