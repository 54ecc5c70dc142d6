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

/** The steps of an encoding. The result may consist of consecutive parts. */
export type EncodingSteps = Generator<undefined, Encoded | readonly string[]>;

const STEP_LENGTH = 64 * 1024;

/** The encodings of frozen objects are cached. */
export function isFrozenObject(item: unknown): item is object {
  return typeof item === 'object' && item !== null && Object.isFrozen(item);
}

/** Encodes items with a function that returns the length of the result, in steps of about {@link STEP_LENGTH}. */
export function* encodeEach<Item>(
  items: readonly Item[],
  encode: (item: Item, index: number) => number,
): Generator<undefined, void> {
  let length = 0;
  for (let index = 0; index < items.length; index++) {
    length += encode(items[index] as Item, index);
    if (length < STEP_LENGTH) continue;
    length = 0;
    yield;
  }
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
  /** The same in steps, so that other requests are answered while a long list is encoded. Optional. */
  encodeSteps?(document: Document, options: EncodeOptions): EncodingSteps;
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
