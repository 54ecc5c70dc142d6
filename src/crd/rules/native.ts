/**
 * The plain values behind those that expressions see. Lists of the reference server keep what is joined to them in its
 * plain form and read it by their own schema again; sets and lists by key compare plain values. Some values of
 * expressions have no JSON behind them (a time, a list written in the expression): they stand here as {@link Foreign}.
 */
import type { CelValue } from '../../cel/values.js';
import { CelBytes, CelDuration, CelTimestamp, CelUint } from '../../cel/values.js';
import { isRecord } from '../../util/json.js';

/** Something that no JSON of a schema is read from. */
export class Foreign {
  constructor(readonly value: CelValue) {}
}

/** True for an object of JSON. */
export function isPlainRecord(plain: unknown): plain is Record<string, unknown> {
  return isRecord(plain) && !(plain instanceof Foreign);
}

/** Values that were read from JSON still have it. */
export function plainOf(value: CelValue): unknown {
  if (typeof value === 'string' || typeof value === 'boolean' || typeof value === 'bigint' || value === null)
    return value;
  // A whole double is not the integer that it would look like in JSON.
  if (typeof value === 'number') return Number.isInteger(value) ? new Foreign(value) : value;
  return 'raw' in value ? value.raw : new Foreign(value);
}

/**
 * A text that is the same for the same plain scalars, with integers and doubles apart. Undefined for what cannot be
 * compared in this way: lists, maps and bytes.
 */
export function scalarKey(plain: unknown): string | undefined {
  if (plain instanceof Foreign) return foreignKey(plain.value);
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

function foreignKey(value: CelValue): string | undefined {
  if (typeof value === 'number') return `d${value}`;
  if (value instanceof CelUint) return `u${value.value}`;
  if (value instanceof CelTimestamp) return `t${value.nanos}`;
  if (value instanceof CelDuration) return `p${value.nanos}`;
  return undefined;
}

/** What the reference server calls the type of a plain value. */
export function plainTypeName(plain: unknown): string {
  if (plain instanceof Foreign) return foreignTypeName(plain.value);
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

function foreignTypeName(value: CelValue): string {
  if (typeof value === 'number') return 'float64';
  if (value instanceof CelTimestamp) return 'time.Time';
  if (value instanceof CelDuration) return 'time.Duration';
  if (value instanceof CelBytes) return '[]uint8';
  return value instanceof CelUint ? 'uint64' : 'ref.Val';
}
