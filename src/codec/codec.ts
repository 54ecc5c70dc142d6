/**
 * The contract of this folder: an encoding that clients and server exchange. What a codec is called on the wire comes
 * from here, so messages that list the encodings change by themselves when one is added to `index.ts`.
 */
import type { Dialect } from '../meta/dialect.js';
import type { RequestBody } from '../protocol/body.js';

export interface Codec {
  /** The media type in Accept and Content-Type: `application/json`. */
  mediaType(dialect: Dialect): string;
  /** How messages name its stream of events; absent: no watches in this encoding. */
  streamType?(dialect: Dialect): string;
  /** Wraps the bytes of a request; they are parsed when the server asks for the document. */
  body(bytes: Uint8Array): RequestBody;
}
