/**
 * Parses the values of query parameters like the reference server.
 */

import { quote } from '../text/go/go-text.js';
import { parseTime, TimeError } from '../text/time/time.js';
import { translateError } from '../util/catch-error.js';
import { errors } from './errors.js';

/** Parses a boolean: everything except `0` and `false` is true, including the empty value. */
export function readSwitch(text: string): boolean {
  return !/^(?:0|false)$/i.test(text);
}

/** Parses a 64-bit integer. Throws a StatusError (BadRequest). */
export function readInteger(text: string): number {
  const fault = (why: string) => errors.badRequest(`strconv.ParseInt: parsing ${quote(text)}: ${why}`);
  if (!/^[+-]?[0-9]+$/.test(text)) throw fault('invalid syntax');
  const integer = BigInt(text.replace(/^\+/, ''));
  if (BigInt.asIntN(64, integer) !== integer) throw fault('value out of range');
  return Number(integer);
}

/** The canonical text of a time; undefined for an empty value. Throws a StatusError (BadRequest). */
export function readTimeValue(text: string): string | undefined {
  // Old clients send the JSON null.
  if (text === '' || text === 'null') return undefined;
  return translateError(
    TimeError,
    () => parseTime(text),
    ({ message }) => errors.badRequest(message),
  );
}
