/**
 * The look that the reference server takes at a document before it knows its type: only `apiVersion` and `kind` are
 * read, everything else is passed over, and what is wrong with it is not seen yet.
 */
import type { TypeMeta } from '../../protocol/body.js';
import { type Decoder, Decoder as DocumentDecoder } from './decode.js';
import { BYTES, CborFault, type MajorType, NEGATIVE, TEXT, TYPE_NAMES, TypeFault } from './fault.js';

/** The type that a well-formed document claims; empty where it says nothing. */
export function decodeTypeMeta(bytes: Uint8Array): TypeMeta | CborFault {
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

/** A key, told apart from others by type and value; without an id when it is none, or when nobody can tell. */
type Key =
  | { readonly id: string; readonly printed: string }
  | { readonly fault: CborFault; readonly id: string; readonly printed: string }
  | { readonly fault: CborFault; readonly id?: undefined };

/** Keys that are no text match nothing; integers are let pass all the same. */
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
