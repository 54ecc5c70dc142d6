/**
 * Values of query parameters, as the reference server reads them into the fields of its options.
 */

import { quote } from '../text/go/go-text.js';
import { parseTime, TimeError } from '../text/time/time.js';
import { errors } from './errors.js';

/** Anything but `0` and `false` is true, the empty value too. */
export function readSwitch(text: string): boolean {
  return !/^(?:0|false)$/i.test(text);
}

/** Throws a StatusError (BadRequest). */
export function readInteger(text: string): number {
  const fault = (why: string) => errors.badRequest(`strconv.ParseInt: parsing ${quote(text)}: ${why}`);
  if (!/^[+-]?[0-9]+$/.test(text)) throw fault('invalid syntax');
  const integer = BigInt(text.replace(/^\+/, ''));
  if (BigInt.asIntN(64, integer) !== integer) throw fault('value out of range');
  return Number(integer);
}

/** The canonical text of a time; undefined for none. Throws a StatusError (BadRequest). */
export function readTimeValue(text: string): string | undefined {
  // Clients of old wrote what JSON has for no time.
  if (text === '' || text === 'null') return undefined;
  try {
    return parseTime(text);
  } catch (error) {
    if (error instanceof TimeError) throw errors.badRequest(error.message);
    throw error;
  }
}
