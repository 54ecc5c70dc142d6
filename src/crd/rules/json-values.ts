/**
 * The JSON values behind CEL values. Lists of the reference server keep appended values as JSON and convert them by their
 * own schema; sets and maps compare JSON. CEL values that have no JSON form (a timestamp, a list
 * literal) are represented by {@link NonJsonValue}.
 */
import { CelBytes, CelDuration, CelTimestamp, CelUint, type CelValue } from '../../cel/index.js';
import { isRecord } from '../../util/json.js';

/** A CEL value that was not read from JSON. */
export class NonJsonValue {
  constructor(readonly value: CelValue) {}
}

/** True for a JSON object. */
export function isJsonRecord(json: unknown): json is Record<string, unknown> {
  return isRecord(json) && !(json instanceof NonJsonValue);
}

/** The JSON behind a CEL value. Values that were read from JSON keep their JSON. */
export function jsonOf(value: CelValue): unknown {
  if (typeof value === 'string' || typeof value === 'boolean' || typeof value === 'bigint' || value === null)
    return value;
  // A whole double must not become an integer.
  if (typeof value === 'number') return Number.isInteger(value) ? new NonJsonValue(value) : value;
  return 'raw' in value ? value.raw : new NonJsonValue(value);
}

/**
 * Returns equal strings for equal scalars, with integers and doubles distinct. Undefined for lists, maps and
 * bytes, which have no key.
 */
export function scalarKey(json: unknown): string | undefined {
  if (json instanceof NonJsonValue) return nonJsonKey(json.value);
  switch (typeof json) {
    case 'string':
      return `s${json}`;
    case 'number':
      return Number.isSafeInteger(json) ? `i${json}` : `d${json}`;
    case 'bigint':
      return `i${json}`;
    case 'boolean':
      return `b${json}`;
    default:
      return json === null || json === undefined ? 'n' : undefined;
  }
}

function nonJsonKey(value: CelValue): string | undefined {
  if (typeof value === 'number') return `d${value}`;
  if (value instanceof CelUint) return `u${value.value}`;
  if (value instanceof CelTimestamp) return `t${value.nanos}`;
  if (value instanceof CelDuration) return `p${value.nanos}`;
  return undefined;
}

/** The reference server's (Go) name for the type of a JSON value. */
export function jsonTypeName(json: unknown): string {
  if (json instanceof NonJsonValue) return nonJsonTypeName(json.value);
  if (Array.isArray(json)) return '[]interface {}';
  if (isRecord(json)) return 'map[string]interface {}';
  switch (typeof json) {
    case 'string':
      return 'string';
    case 'boolean':
      return 'bool';
    case 'bigint':
      return BigInt.asIntN(64, json) === json ? 'int64' : 'float64';
    default:
      return Number.isSafeInteger(json) ? 'int64' : 'float64';
  }
}

function nonJsonTypeName(value: CelValue): string {
  if (typeof value === 'number') return 'float64';
  if (value instanceof CelTimestamp) return 'time.Time';
  if (value instanceof CelDuration) return 'time.Duration';
  if (value instanceof CelBytes) return '[]uint8';
  return value instanceof CelUint ? 'uint64' : 'ref.Val';
}
