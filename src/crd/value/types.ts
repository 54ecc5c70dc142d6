/**
 * `type` validation. With a format the message names the format, and a list is accepted where a formatted string is
 * expected, as in the reference server.
 */
import { quote } from '../../text/go/go-text.js';
import type { JsonKind } from './json-kind.js';
import { floatOf } from './json-kind.js';
import type { Run } from './run.js';

export interface TypeRule {
  /** More than one for int-or-string. */
  readonly types: readonly string[];
  readonly format: string;
  readonly nullable: boolean;
}

/** The reference server's name for the format of a value that is not a string. */
const FORMAT_OF: Partial<Record<JsonKind, string>> = { integer: 'int64', number: 'float64' };

/** Returns whether the value has an allowed type; adds a finding otherwise. */
export function checkType({ types, format, nullable }: TypeRule, kind: JsonKind, value: unknown, run: Run): boolean {
  if (kind === 'null') return types.length === 0 || nullable || refuseType(types.join(','), kind, run);
  const fits =
    types.includes(kind) ||
    (kind === 'integer' && types.includes('number')) ||
    (kind === 'number' && types.includes('integer') && isAlmostInteger(floatOf(value)));
  if (fits) return true;
  if (format !== '') {
    const isListOrText = kind === 'string' || kind === 'array';
    const found = FORMAT_OF[kind] ?? '';
    if (!isListOrText && found !== format) return refuseType(format, found, run);
    if (isListOrText && !types.includes('number') && !types.includes('integer')) return true;
  }
  return refuseType(types.join(','), kind, run);
}

function refuseType(wanted: string, found: string, run: Run): false {
  const text = run.worded(`must be of type ${wanted}: ${quote(found)}`);
  run.add({ rule: 'type', name: run.name, value: found, text });
  return false;
}

const EPSILON = 1e-9;

/**
 * True for integers of up to 53 bits, and for floats so close above a positive integer that they are rounding errors.
 */
export function isAlmostInteger(value: number): boolean {
  if (!(Math.abs(value) <= Number.MAX_SAFE_INTEGER)) return false;
  if (Number.isInteger(value)) return true;
  const below = Math.trunc(value);
  return below > 0 && (value - below) / (value + below) < EPSILON;
}
