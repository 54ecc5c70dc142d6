/**
 * orchplane/codec/cbor: the CBOR codec. It accepts and rejects the same documents as the reference server, with the same
 * limits: 64 levels, 1024 elements of an array, 1024 entries of a map.
 */
import { BodyError, type RequestBody, type TypeMeta } from '../../protocol/body.js';
import type { ParsedBody } from '../../util/json.js';
import { bytesSummary, type Codec } from '../codec.js';
import { type Decoder, Decoder as DocumentDecoder, decodeMap } from './decode.js';
import { encodeDocument, encodeEvent, encodeSteps } from './encode.js';
import { BYTES, CborFault, type MajorType, NEGATIVE, NotWellFormed, TEXT, TYPE_NAMES, TypeFault } from './head.js';
import { requireWellFormed } from './well-formed.js';

/**
 * The CBOR codec, to be passed to an HTTP handler.
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
  encodeSteps,
};

/** A request body of CBOR bytes. The bytes must not change until it was read. */
function cborBody(bytes: Uint8Array): RequestBody {
  let parsed: ParsedBody | undefined;
  return {
    read() {
      parsed ??= { value: orBodyError(bytes, decodeMap) };
      return parsed;
    },
    typeMeta: () => orBodyError(bytes, decodeTypeMeta),
    summary: () => bytesSummary(bytes),
  };
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

/**
 * Reads only `apiVersion` and `kind` of a well-formed document and skips everything else, like the reference server before
 * it knows the type. Missing values are empty strings.
 */
function decodeTypeMeta(bytes: Uint8Array): TypeMeta | CborFault {
  const found = new DocumentDecoder(bytes).into({
    goType: 'v1.TypeMeta',
    map: readFields,
    noArray: ' (cannot decode CBOR array to struct without toarray option)',
  });
  return found ?? { apiVersion: '', kind: '' };
}

function readFields(decoder: Decoder): TypeMeta | CborFault {
  const fields = { apiVersion: '', kind: '' };
  const seen = new Set<string>();
  let fault: CborFault | undefined;
  const entries = decoder.entries();
  for (let index = 0; entries.hasNext(); index++) {
    const key = readKey(decoder, decoder.nextType());
    if ('fault' in key) fault ??= key.fault;
    if (key.id === undefined) {
      decoder.skip();
      continue;
    }
    const isRepeated = seen.has(key.id);
    seen.add(key.id);
    if (isRepeated) {
      decoder.skip();
      return decoder.repeatedKey(key.printed, { index, entries });
    }
    if (key.id !== 'string kind' && key.id !== 'string apiVersion') {
      decoder.skip();
      continue;
    }
    const field = key.printed as keyof typeof fields;
    const value = decoder.text();
    if (value instanceof CborFault)
      fault ??= value instanceof TypeFault ? value.inField(`v1.TypeMeta.${field}`) : value;
    else fields[field] = value ?? '';
  }
  return fault ?? fields;
}

/** A map key, identified by type and value. It has no id if it is invalid or not comparable. */
type Key =
  | { readonly id: string; readonly printed: string }
  | { readonly fault: CborFault; readonly id: string; readonly printed: string }
  | { readonly fault: CborFault; readonly id?: undefined };

/** Only text keys match a field; integer keys are accepted without effect, other types are errors. */
function readKey(decoder: Decoder, type: MajorType): Key {
  if (type === TEXT || type === BYTES) {
    const text = decoder.fieldName();
    return text instanceof CborFault ? { fault: text } : { id: `string ${text}`, printed: text };
  }
  if (type <= NEGATIVE) {
    const number = decoder.fieldNumber();
    return number instanceof CborFault ? { fault: number } : { id: `integer ${number}`, printed: String(number) };
  }
  const value = decoder.value();
  const note = ` (map key is of type ${TYPE_NAMES[type]} and cannot be used to match struct field name)`;
  const fault = new TypeFault(type, 'string', note);
  const isComparable = !(value instanceof CborFault) && (typeof value !== 'object' || value === null);
  if (!isComparable) return { fault };
  return { fault, id: `${typeof value} ${value}`, printed: value === null ? '<nil>' : String(value) };
}
