/**
 * The plain JSON values behind CEL values. Lists of the reference server keep appended values in plain form and convert
 * them by their own schema; sets and maps compare plain values. CEL values that have no JSON form (a timestamp, a list
 * literal) are represented by {@link NonJsonValue}.
 */
import { CelBytes, CelDuration, CelTimestamp, CelUint, type CelValue } from '../../cel/index.js';
import { isRecord } from '../../util/json.js';

/** A CEL value that was not read from JSON. */
export class NonJsonValue {
  constructor(readonly value: CelValue) {}
}

/** True for a JSON object. */
export function isPlainRecord(plain: unknown): plain is Record<string, unknown> {
  return isRecord(plain) && !(plain instanceof NonJsonValue);
}

/** The plain form of a CEL value. Values that were read from JSON keep their JSON. */
export function plainValueOf(value: CelValue): unknown {
  if (typeof value === 'string' || typeof value === 'boolean' || typeof value === 'bigint' || value === null)
    return value;
  // A whole double must not become an integer.
  if (typeof value === 'number') return Number.isInteger(value) ? new NonJsonValue(value) : value;
  return 'raw' in value ? value.raw : new NonJsonValue(value);
}

/**
 * Returns equal strings for equal plain scalars, with integers and doubles distinct. Undefined for lists, maps and
 * bytes, which have no key.
 */
export function scalarKey(plain: unknown): string | undefined {
  if (plain instanceof NonJsonValue) return nonJsonKey(plain.value);
  switch (typeof plain) {
    case 'string':
      return `s${plain}`;
    case 'number':
      return Number.isSafeInteger(plain) ? `i${plain}` : `d${plain}`;
    case 'bigint':
      return `i${plain}`;
    case 'boolean':
      return `b${plain}`;
    default:
      return plain === null || plain === undefined ? 'n' : undefined;
  }
}

function nonJsonKey(value: CelValue): string | undefined {
  if (typeof value === 'number') return `d${value}`;
  if (value instanceof CelUint) return `u${value.value}`;
  if (value instanceof CelTimestamp) return `t${value.nanos}`;
  if (value instanceof CelDuration) return `p${value.nanos}`;
  return undefined;
}

/** The reference server's (Go) name for the type of a plain value. */
export function plainTypeName(plain: unknown): string {
  if (plain instanceof NonJsonValue) return nonJsonTypeName(plain.value);
  if (Array.isArray(plain)) return '[]interface {}';
  if (isRecord(plain)) return 'map[string]interface {}';
  switch (typeof plain) {
    case 'string':
      return 'string';
    case 'boolean':
      return 'bool';
    case 'bigint':
      return BigInt.asIntN(64, plain) === plain ? 'int64' : 'float64';
    default:
      return Number.isSafeInteger(plain) ? 'int64' : 'float64';
  }
}

function nonJsonTypeName(value: CelValue): string {
  if (typeof value === 'number') return 'float64';
  if (value instanceof CelTimestamp) return 'time.Time';
  if (value instanceof CelDuration) return 'time.Duration';
  if (value instanceof CelBytes) return '[]uint8';
  return value instanceof CelUint ? 'uint64' : 'ref.Val';
}
