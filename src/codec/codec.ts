/**
 * The interface of a codec: an encoding of requests and responses.
 */
import type { Dialect } from '../meta/dialect.js';
import { type RequestBody, SUMMARY_LENGTH } from '../protocol/body.js';
import { decodeUtf8, toHex } from '../util/bytes.js';

/** Encoded data: text for text encodings, else bytes. */
export type Encoded = string | Uint8Array;

/** A document with a type: an object, a list, a Status, a table, a discovery document. */
export interface Document {
  readonly apiVersion?: string;
  readonly kind?: string;
}

export interface EncodeOptions {
  readonly dialect: Dialect;
  /** Indents the output, if the encoding supports it. */
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
  /** The feature gate that enables the codec. */
  readonly gate?: string;
  /** The kinds that it can encode: all, or only those whose types are built in. */
  readonly carries: 'all kinds' | 'built-in kinds';
  /** Whether tables can be encoded; the reference server serves them only in text encodings. */
  readonly tables?: boolean;
  /** The encoding of watches; absent if they are not supported. */
  readonly stream?: StreamCodec;
  /** Wraps the bytes of a request; they are parsed when the server needs the document. */
  body(bytes: Uint8Array, dialect: Dialect): RequestBody;
  /**
   * Encodes a response. Frozen objects and list items are shared between responses, so their encodings are cached by
   * identity.
   */
  encode(document: Document, options: EncodeOptions): Encoded;
  /**
   * Encodes a response in consecutive parts, so that a long list can be sent while it is encoded. Optional.
   */
  encodeParts?(document: Document, options: EncodeOptions): readonly string[];
}

export interface StreamCodec {
  /** The media type in messages: `application/json;stream=watch`. */
  mediaType(dialect: Dialect): string;
  /** The Content-Type of the response. */
  contentType(dialect: Dialect): string;
  /** Encodes one event including its framing. */
  encode(event: EventDocument, dialect: Dialect): Encoded;
  /** The number of bytes before each event that only frame it; absent: none. A WebSocket message has its own framing. */
  readonly framingBytes?: number;
}

/** `<empty>`, or the first bytes: as text if they look like JSON that was sent with the wrong content type. */
export function bytesSummary(bytes: Uint8Array): string {
  if (bytes.length === 0) return '<empty>';
  const shown = bytes.subarray(0, SUMMARY_LENGTH);
  return (bytes[0] === 0x7b ? decodeUtf8(shown) : toHex(shown)) + (bytes.length > SUMMARY_LENGTH ? ' ...' : '');
}
