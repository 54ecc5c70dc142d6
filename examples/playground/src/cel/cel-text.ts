/**
 * Formats CEL values and the names of their types.
 */
import {
  CelBytes,
  CelDuration,
  CelList,
  CelMap,
  CelObject,
  CelOpaque,
  CelOptional,
  CelTimestamp,
  CelTypeValue,
  CelUint,
  type CelValue,
} from '../../../../src/cel/index.js';

const MAX_ITEMS = 200;

export function celText(value: CelValue): string {
  if (value === null || typeof value === 'boolean' || typeof value === 'bigint') return String(value);
  if (typeof value === 'number') return Number.isInteger(value) ? value.toFixed(1) : String(value);
  if (typeof value === 'string') return JSON.stringify(value);
  if (value instanceof CelUint) return `${value.value}u`;
  if (value instanceof CelBytes)
    return `b"${[...value.bytes].map((byte) => `\\x${byte.toString(16).padStart(2, '0')}`).join('')}"`;
  if (value instanceof CelTimestamp) return `timestamp("${new Date(Number(value.nanos / 1_000_000n)).toISOString()}")`;
  if (value instanceof CelDuration) return `duration("${Number(value.nanos) / 1e9}s")`;
  if (value instanceof CelOptional)
    return value.value === undefined ? 'optional.none()' : `optional.of(${celText(value.value)})`;
  if (value instanceof CelList) {
    const shown = Array.from({ length: Math.min(value.size, MAX_ITEMS) }, (_, index) => celText(value.at(index)));
    return `[${shown.join(', ')}${value.size > MAX_ITEMS ? ', …' : ''}]`;
  }
  if (value instanceof CelMap) {
    const shown = [...value.keys()]
      .slice(0, MAX_ITEMS)
      .map((key) => `${celText(key)}: ${celText(value.get(key) ?? null)}`);
    return `{${shown.join(', ')}${value.size > MAX_ITEMS ? ', …' : ''}}`;
  }
  if (value instanceof CelObject) {
    return `${value.typeName}{${value
      .fieldNames()
      .map((name) => `${name}: ${celText(value.get(name) ?? null)}`)
      .join(', ')}}`;
  }
  return value instanceof CelTypeValue ? nameOf(value.type) : typeText(value);
}

export function typeText(value: CelValue): string {
  if (value === null) return 'null';
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'bigint') return 'int';
  if (typeof value === 'number') return 'double';
  if (typeof value === 'string') return 'string';
  if (value instanceof CelUint) return 'uint';
  if (value instanceof CelBytes) return 'bytes';
  if (value instanceof CelTimestamp) return 'timestamp';
  if (value instanceof CelDuration) return 'duration';
  if (value instanceof CelList) return 'list';
  if (value instanceof CelMap) return 'map';
  if (value instanceof CelObject) return value.typeName;
  return value instanceof CelOpaque ? nameOf(value.type) : 'type';
}

function nameOf(type: { readonly kind: string }): string {
  return 'name' in type && typeof type.name === 'string' ? type.name : type.kind;
}
