/**
 * What a JSON value is to the reference server, which tells integers from other numbers by how they were written: `3`
 * is an integer, `3.0` and what is beyond 64 bits are not.
 */
import { verbatim } from '../../text/go/go-text.js';
import { goSyntax } from '../../text/go/go-value.js';
import { NumberText } from '../../util/json.js';

export type JsonKind = 'null' | 'boolean' | 'integer' | 'number' | 'string' | 'array' | 'object';

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

/** The value of a number that is no integer, as the 64 bits it is held in. */
export function floatOf(value: unknown): number {
  return value instanceof NumberText ? value.toJSON() : Number(value);
}

/** A value as it stands in `Invalid value: <here>: …`. */
export function shownValue(value: unknown): unknown {
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

/** The shortest digits that say the same number; with an exponent below 1e-4 and from 1e6 on. */
export function printFloat(value: number): string {
  const [digits = '', exponent = '0'] = value.toExponential().split('e');
  const power = Number(exponent);
  if (power >= -4 && power < 6) return Object.is(value, -0) ? '-0' : String(value);
  return `${digits}e${power < 0 ? '-' : '+'}${String(Math.abs(power)).padStart(2, '0')}`;
}
