/**
 * JSON types as the reference server distinguishes them: `3` is an integer; `3.0` and numbers outside of the int64
 * range are not.
 */
import { verbatim } from '../../text/go/go-text.js';
import { goSyntax } from '../../text/go/go-value.js';
import { NumberText } from '../../util/json.js';

/** A JSON type, with integers distinct from other numbers. */
export type JsonKind = 'null' | 'boolean' | 'integer' | 'number' | 'string' | 'array' | 'object';

/** Returns the JSON type of a value. */
export function jsonKind(value: unknown): JsonKind {
  switch (typeof value) {
    case 'string':
      return 'string';
    case 'boolean':
      return 'boolean';
    case 'number':
      return Number.isSafeInteger(value) ? 'integer' : 'number';
    case 'bigint':
      return BigInt.asIntN(64, value) === value ? 'integer' : 'number';
    default:
      if (value === null || value === undefined) return 'null';
      if (Array.isArray(value)) return 'array';
      return value instanceof NumberText ? 'number' : 'object';
  }
}

/** A non-integer number as float64. */
export function floatOf(value: unknown): number {
  return value instanceof NumberText ? value.toJSON() : Number(value);
}

/** A value as printed in `Invalid value: <here>: …`. */
export function printableValue(value: unknown): unknown {
  switch (jsonKind(value)) {
    case 'number':
      return verbatim(printFloat(floatOf(value)));
    case 'array':
    case 'object':
      return verbatim(goSyntax(value));
    default:
      return value;
  }
}

/** Prints the shortest representation, with an exponent below 1e-4 and from 1e6 on (as Go's %v). */
export function printFloat(value: number): string {
  const [digits = '', exponent = '0'] = value.toExponential().split('e');
  const power = Number(exponent);
  if (power >= -4 && power < 6) return Object.is(value, -0) ? '-0' : String(value);
  return `${digits}e${power < 0 ? '-' : '+'}${String(Math.abs(power)).padStart(2, '0')}`;
}
