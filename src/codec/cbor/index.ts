/**
 * CBOR, the entry `orchplane/codec/cbor`. What it reads and refuses is what the reference server does, limits included:
 * 64 levels, 1024 elements of an array, 1024 entries of a map.
 */
import { BodyError, type RequestBody, SUMMARY_LENGTH, type TypeMeta } from '../../protocol/body.js';
import type { ParsedBody } from '../../util/json.js';
import { decodeUtf8 } from '../../util/utf8.js';
import type { Codec } from '../codec.js';
import { decodeMap } from './decode.js';
import { encodeDocument, encodeEvent } from './encode.js';
import { CborFault, NotWellFormed } from './fault.js';
import { decodeTypeMeta } from './type-meta.js';
import { requireWellFormed } from './well-formed.js';

/**
 * The codec to give a handler besides those it has.
 *
 * @example
 * createFetchHandler(cluster, { codecs: [cbor] })
 */
export const cbor: Codec = {
  mediaType: () => 'application/cbor',
  gate: 'CBORServingAndStorage',
  carries: 'all kinds',
  stream: {
    mediaType: () => 'application/cbor-seq',
    contentType: () => 'application/cbor-seq',
    encode: encodeEvent,
  },
  body: cborBody,
  encode: encodeDocument,
};

/** A request body of CBOR bytes, which must stay as they are until it was read. */
function cborBody(bytes: Uint8Array): RequestBody {
  let parsed: ParsedBody | undefined;
  return {
    read() {
      parsed ??= parse(bytes);
      return parsed;
    },
    typeMeta: () => parseTypeMeta(bytes),
    summary: () => summary(bytes),
  };
}

function parse(bytes: Uint8Array): ParsedBody {
  return { value: orBodyError(bytes, decodeMap) };
}

function parseTypeMeta(bytes: Uint8Array): TypeMeta {
  return orBodyError(bytes, decodeTypeMeta);
}

function orBodyError<Value>(bytes: Uint8Array, decode: (bytes: Uint8Array) => Value | CborFault): Value {
  try {
    requireWellFormed(bytes);
  } catch (error) {
    if (error instanceof NotWellFormed) throw new BodyError(error.message);
    throw error;
  }
  const decoded = decode(bytes);
  if (decoded instanceof CborFault) throw new BodyError(decoded.message);
  return decoded;
}

/** A short look at a body for messages; it may well be JSON that was sent under the wrong name. */
function summary(bytes: Uint8Array): string {
  if (bytes.length === 0) return '<empty>';
  const shown = bytes.subarray(0, SUMMARY_LENGTH);
  const mark = bytes.length > SUMMARY_LENGTH ? ' ...' : '';
  const isText = bytes[0] === 0x7b;
  return (isText ? decodeUtf8(shown) : Array.from(shown, (byte) => byte.toString(16).padStart(2, '0')).join('')) + mark;
}
