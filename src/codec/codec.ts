/**
 * The contract of this folder: an encoding that clients and server exchange. What a codec is called on the wire comes
 * from here, so messages that list the encodings change by themselves when a handler is given another one.
 */
import type { Dialect } from '../meta/dialect.js';
import type { RequestBody } from '../protocol/body.js';

/** What goes over the wire: text where the encoding is one, else bytes. */
export type Encoded = string | Uint8Array;

/** A document that says what it is: an object, a list, a Status, a table, a page of discovery. */
export interface Document {
  readonly apiVersion?: string;
  readonly kind?: string;
}

export interface EncodeOptions {
  readonly dialect: Dialect;
  /** Indented, where the encoding has such a thing. */
  readonly pretty: boolean;
}

/** One event of a watch. */
export interface EventDocument {
  readonly type: string;
  readonly object: Document;
}

export interface Codec {
  /** The media type in Accept and Content-Type: `application/json`. */
  mediaType(dialect: Dialect): string;
  /** Only clusters with this feature gate speak it. */
  readonly gate?: string;
  /** Which kinds it can carry: every one, or only those whose types it knows beforehand. */
  readonly carries: 'all kinds' | 'built-in kinds';
  /** Whether tables can be had in it; the reference server has them only where people can read them. */
  readonly tables?: boolean;
  /** Watches in this encoding; absent: there are none. */
  readonly stream?: StreamCodec;
  /** Wraps the bytes of a request; they are parsed when the server asks for the document. */
  body(bytes: Uint8Array, dialect: Dialect): RequestBody;
  /**
   * A whole answer. Parts that are frozen are shared between answers, so what was made of an object, or of an item of a
   * list, is kept by its identity and used again.
   */
  encode(document: Document, options: EncodeOptions): Encoded;
  /**
   * The same in parts to be put one behind the other, so that a long list can be sent while it is put together; absent:
   * only whole.
   */
  encodeParts?(document: Document, options: EncodeOptions): readonly string[];
}

export interface StreamCodec {
  /** How messages name it: `application/json;stream=watch`. */
  mediaType(dialect: Dialect): string;
  /** The Content-Type of the answer. */
  contentType(dialect: Dialect): string;
  /** One event with its frame. */
  encode(event: EventDocument, dialect: Dialect): Encoded;
}
