/** Formats values: as cel-go prints them in messages (`printValue`) and as `string(x)` converts them (`valueText`). */
import { formatDuration } from '../../text/time/duration.js';
import { itemsOf } from '../evaluate/views.js';
import { formatDouble } from '../numbers.js';
import { durationText } from '../standard/conversions.js';
import { formatTimestamp } from '../standard/time.js';
import { type CelType, typeName } from '../types.js';
import {
  CelBytes,
  CelDuration,
  CelList,
  CelMap,
  CelObject,
  CelOptional,
  CelTimestamp,
  CelTypeValue,
  CelUint,
  type CelValue,
} from '../values.js';

/** Formats a value as cel-go does in error messages. */
export function printValue(value: CelValue): string {
  // cel-go's null is an enum constant, printed as its number.
  if (value === null) return '0';
  if (typeof value === 'number') return formatDouble(value);
  if (typeof value !== 'object') return String(value);
  if (value instanceof CelUint) return String(value.value);
  if (value instanceof CelBytes) return `[${value.bytes.join(' ')}]`;
  if (value instanceof CelTimestamp) return printTime(value);
  if (value instanceof CelDuration) return formatDuration(value.nanos);
  if (value instanceof CelList) return `[${itemsOf(value).map(printValue).join(', ')}]`;
  if (value instanceof CelMap) return printMap([...value.keys()].map((key) => [key, value.get(key) ?? null]));
  if (value instanceof CelObject) return printMap(value.fieldNames().map((name) => [name, value.get(name) ?? null]));
  if (value instanceof CelTypeValue) return printType(value.type);
  if (!(value instanceof CelOptional)) return typeName(value.type);
  return value.value === undefined ? 'optional.none()' : `optional(${printValue(value.value)})`;
}

function printMap(entries: readonly (readonly [CelValue, CelValue])[]): string {
  return `{${entries.map(([key, value]) => `${printValue(key)}: ${printValue(value)}`).join(', ')}}`;
}

/** `2020-01-02 03:04:05.5 +0000 UTC`; Go prints the number twice for zones without a name. */
function printTime(time: CelTimestamp): string {
  const [, date, clock, zone = ''] = /^(.*)T([^Z+-]*)(.*)$/.exec(formatTimestamp(time)) ?? [];
  const number = zone.replace(':', '');
  return `${date} ${clock} ${zone === 'Z' ? '+0000 UTC' : `${number} ${number}`}`;
}

/** Lists and maps are printed without type parameters. */
function printType(type: CelType): string {
  return type.kind === 'list' || type.kind === 'map' ? `${type.kind}()` : typeName(type);
}

/**
 * Formats a value as `string(x)` does. Undefined for lists, maps, null, bytes (which may not be UTF-8) and opaque
 * values.
 */
export function valueText(value: CelValue): string | undefined {
  if (typeof value === 'number') return formatDouble(value);
  if (typeof value !== 'object') return String(value);
  if (value instanceof CelUint) return String(value.value);
  if (value instanceof CelTimestamp) return formatTimestamp(value);
  if (value instanceof CelDuration) return durationText(value);
  return value instanceof CelTypeValue ? typeName(value.type) : undefined;
}
