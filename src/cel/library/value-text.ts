/** Values as texts, as `string(x)` has them. */
import { formatDouble } from '../numbers.js';
import { runtimeTypeName } from '../runtime-type.js';
import { durationText } from '../standard/conversions.js';
import { formatTimestamp } from '../standard/time-text.js';
import { CelDuration, CelTimestamp, CelTypeValue, CelUint, type CelValue } from '../values.js';

/** Undefined for what has no text: lists, maps, null, values of libraries. Bytes, whose text may be none, neither. */
export function valueText(value: CelValue): string | undefined {
  if (typeof value === 'number') return formatDouble(value);
  if (typeof value !== 'object') return String(value);
  if (value instanceof CelUint) return String(value.value);
  if (value instanceof CelTimestamp) return formatTimestamp(value);
  if (value instanceof CelDuration) return durationText(value);
  return value instanceof CelTypeValue ? runtimeTypeName(value.type) : undefined;
}
