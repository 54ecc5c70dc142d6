/** Formats values unambiguously for the cases of library-cases.jsonl. */
import { itemsOf } from '../../../src/cel/evaluate/views.js';
import { typeName } from '../../../src/cel/types.js';
import {
  CelBytes,
  CelDuration,
  CelList,
  CelMap,
  CelOptional,
  CelTimestamp,
  CelTypeValue,
  CelUint,
  type CelValue,
} from '../../../src/cel/values.js';

/** Formats a value: `1`, `1u`, `1.0`, `"text"`, `[1, 2]`. Map entries are sorted by text. */
export function show(value: CelValue): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (typeof value === 'number') return showDouble(value);
  if (value === null || typeof value !== 'object') return String(value);
  if (value instanceof CelUint) return `${value.value}u`;
  if (value instanceof CelBytes) return `bytes(${value.bytes.join(' ')})`;
  if (value instanceof CelDuration) return `duration(${value.nanos})`;
  if (value instanceof CelTimestamp) return `timestamp(${value.nanos})`;
  if (value instanceof CelTypeValue) return `type(${typeName(value.type)})`;
  if (value instanceof CelList) return `[${itemsOf(value).map(show).join(', ')}]`;
  if (value instanceof CelMap) {
    const entries = [...value.keys()].map((key) => `${show(key)}: ${show(value.get(key) ?? null)}`);
    return `{${entries.sort().join(', ')}}`;
  }
  if (value instanceof CelOptional) return value.value === undefined ? 'none' : `optional(${show(value.value)})`;
  return 'unknown';
}

function showDouble(value: number): string {
  if (Object.is(value, -0)) return '-0.0';
  return Number.isInteger(value) && Math.abs(value) < 1e21 ? value.toFixed(1) : String(value);
}
