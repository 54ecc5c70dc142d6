/**
 * Decodes scalar values, and values with a decoder of their own, with the error messages of the reference server's
 * decoder; zero values of scalars.
 */
import { Quantity } from '../meta/quantity.js';
import { isCanonicalTime, parseMicroTime, parseTime, ZERO_TIME } from '../text/time/time.js';
import { canonicalBase64, encodeBase64 } from '../util/base64.js';
import { cloneJson, NumberText } from '../util/json.js';
import { messageOf } from '../util/message-of.js';
import type { AnyNode, ScalarNode } from './schema-node.js';

/** The document cannot be decoded as an object of the kind. The message is that of the reference server's decoder. */
export class DecodeError extends Error {
  override readonly name = 'DecodeError';
  /** For a value of the wrong type: what it is, and the type. */
  mismatch?: { readonly what: string; readonly goType: string };
  /** Set if the decoding ends here: the error takes precedence over values of the wrong type before it. */
  aborts = false;
}

/** The path of a value for messages: the enclosing struct, the field, and the parent. Undefined at the top. */
export interface FieldPosition {
  readonly goName: string;
  readonly name: string;
  readonly above: FieldPosition | undefined;
}

/** Copies an arbitrary value, or decodes it if its type has its own decoder. Errors of that one name only this field. */
export function decodeAny(
  { decode, schema }: AnyNode,
  raw: unknown,
  position: FieldPosition | undefined,
  depth: number,
): unknown {
  if (decode === undefined) return cloneJson(raw, depth);
  try {
    return decode(raw, depth, schema);
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    const { mismatch } = error;
    const shown = mismatch === undefined ? error : mismatchAt(position, mismatch);
    shown.aborts = true;
    throw shown;
  }
}

/** `given` is the original value if it was not a plain value. */
export function decodeScalar(
  node: ScalarNode,
  raw: unknown,
  position: FieldPosition | undefined,
  given: unknown,
): unknown {
  switch (node.scalar) {
    case 'string':
      if (typeof raw !== 'string') throw typeError(raw, position, node.goType);
      return raw;
    case 'boolean':
      if (typeof raw !== 'boolean') throw typeError(raw, position, node.goType);
      return raw;
    case 'int32':
    case 'int64':
      return decodeInteger(node, raw, position, given);
    case 'number':
      if (typeof raw !== 'number' && typeof raw !== 'bigint') throw typeError(raw, position, node.goType);
      return Number(raw);
    case 'bytes':
      if (Array.isArray(raw)) return encodeBase64(decodeByteList(raw, position));
      if (typeof raw !== 'string') throw typeError(raw, position, node.goType);
      return parseScalar(() => canonicalBase64(raw));
    case 'time':
    case 'microTime':
      // Types such as Time have their own decoder, so the error names the type of their text form.
      if (typeof raw !== 'string') throw typeError(raw, position, 'string');
      return decodeTime(node.scalar, raw);
    case 'quantity':
      // A quantity keeps its spelling: `1e3` stays `1e3`.
      return parseScalar(() => Quantity.parse(String(given instanceof NumberText ? given : raw).trim()).toString());
    case 'intOrString':
      if (typeof raw === 'string') return raw;
      return decodeInteger({ ...node, scalar: 'int32', goType: 'int32' }, raw, position, given);
    case 'duration':
      if (typeof raw !== 'string') throw typeError(raw, position, 'string');
      return raw;
  }
}

/**
 * Fast path: returns a scalar that is on the wire exactly as given. Undefined for everything that needs `decodeScalar`:
 * another type, an empty value, an invalid value.
 */
export function plainScalar({ scalar }: ScalarNode, value: unknown): string | number | boolean | undefined {
  switch (scalar) {
    case 'string':
      return typeof value === 'string' && value !== '' ? value : undefined;
    case 'boolean':
      return value === true ? value : undefined;
    case 'int32':
      return typeof value === 'number' && value !== 0 && value === (value | 0) ? value : undefined;
    case 'int64':
      return Number.isSafeInteger(value) && value !== 0 ? (value as number) : undefined;
    case 'time':
      return typeof value === 'string' && isCanonicalTime(value) ? value : undefined;
    default:
      return undefined;
  }
}

function decodeTime(scalar: 'time' | 'microTime', raw: string): string | null {
  try {
    const text = scalar === 'time' ? parseTime(raw) : parseMicroTime(raw);
    return text.startsWith(ZERO_SECOND) ? null : text;
  } catch (error) {
    throw toDecodeError(error);
  }
}

/** Bytes as a list of numbers, which the decoder accepts as well as base64. Libraries of Rust send patches in this form. */
function decodeByteList(list: readonly unknown[], position: FieldPosition | undefined): Uint8Array {
  return Uint8Array.from(list, (each) => {
    if (each === null) return 0;
    if (typeof each === 'number' && Number.isInteger(each) && each >= 0 && each <= 255) return each;
    const literal = each instanceof NumberText ? each.text : jsonType(each) === 'number' ? String(each) : '';
    throw typeError(each, position, 'uint8', literal);
  });
}

const ZERO_SECOND = ZERO_TIME.slice(0, -1);

const INT32_LIMIT = 2 ** 31;
const INT64_LIMIT = 2 ** 63;

function decodeInteger(
  node: ScalarNode,
  raw: unknown,
  position: FieldPosition | undefined,
  given: unknown,
): number | bigint {
  if (typeof raw !== 'number' && typeof raw !== 'bigint') throw typeError(raw, position, node.goType);
  // A number with a point or an exponent is not an integer, whatever its value.
  if (given instanceof NumberText) throw typeError(raw, position, node.goType, given.text);
  if (typeof raw === 'number' && !Number.isInteger(raw)) throw typeError(raw, position, node.goType, String(raw));
  // Numbers and bigints compare exactly.
  const limit = node.scalar === 'int32' ? INT32_LIMIT : INT64_LIMIT;
  if (raw >= limit || raw < -limit) throw typeError(raw, position, node.goType, String(raw));
  return raw;
}

/** Runs a parser and converts its error to a DecodeError. */
function parseScalar(parse: () => string): string {
  try {
    return parse();
  } catch (error) {
    throw toDecodeError(error);
  }
}

function toDecodeError(error: unknown): DecodeError {
  return new DecodeError(messageOf(error), { cause: error });
}

/** The error for a value of the wrong type. */
export function typeError(
  raw: unknown,
  position: FieldPosition | undefined,
  goType: string,
  literal = '',
): DecodeError {
  const what = literal === '' ? jsonType(raw) : `number ${literal}`;
  return mismatchAt(position, { what, goType });
}

function mismatchAt(position: FieldPosition | undefined, mismatch: NonNullable<DecodeError['mismatch']>): DecodeError {
  const where = position === undefined ? 'value' : `struct field ${position.goName}.${pathTo(position)}`;
  const { what, goType } = mismatch;
  const error = new DecodeError(`json: cannot unmarshal ${what} into Go ${where} of type ${goType}`);
  error.mismatch = mismatch;
  return error;
}

/** The field names from the top. */
function pathTo({ name, above }: FieldPosition): string {
  return above === undefined ? name : `${pathTo(above)}.${name}`;
}

/** The decoder's name for the type of a JSON value. */
export function jsonType(raw: unknown): string {
  if (raw === null) return 'null';
  if (raw instanceof NumberText) return 'number';
  if (Array.isArray(raw)) return 'array';
  if (typeof raw === 'boolean') return 'bool';
  return typeof raw === 'bigint' ? 'number' : typeof raw;
}

/** The zero values of scalars on the wire. */
export const ZERO_VALUES: Readonly<Record<ScalarNode['scalar'], unknown>> = {
  string: '',
  int32: 0,
  int64: 0,
  number: 0,
  boolean: false,
  bytes: '',
  time: null,
  microTime: null,
  quantity: '0',
  intOrString: 0,
  duration: '0s',
};

/** Reports whether `omitempty` omits a value. */
export function isEmpty(value: unknown): boolean {
  if (value === '' || value === 0 || value === false || value === null) return true;
  if (Array.isArray(value)) return value.length === 0;
  if (typeof value !== 'object') return false;
  for (const _key in value) return false;
  return true;
}
