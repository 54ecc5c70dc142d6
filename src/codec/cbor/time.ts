/**
 * Converts tagged times to RFC 3339 text: tag 0 (text) to the canonical form with its time zone, tag 1 (seconds) to UTC.
 */

import { formatTime, TimeError, timeToMs } from '../../text/time/time.js';
import { trimRight } from '../../util/trim.js';
import { CborFault } from './head.js';

/** The content of tag 0. */
export function timeFromText(text: string): string | CborFault {
  try {
    timeToMs(text);
  } catch (error) {
    if (error instanceof TimeError) return new CborFault(`cbor: cannot set ${text} for time.Time: ${error.message}`);
    throw error;
  }
  const [, date = '', hour = '', rest = '', fraction = '', sign = '', zoneHour = '', zoneMinute = ''] =
    /^(.{10}T)(\d{1,2})(:\d\d:\d\d)(?:[.,](\d+))?(?:Z|([-+])(\d\d):(\d\d))$/.exec(text) ?? [];
  const digits = trimRight(fraction.slice(0, 9), '0');
  const minutes = Number(zoneHour) * 60 + Number(zoneMinute);
  if (minutes >= 24 * 60) return unprintable('timezone hour outside of range [0,23]');
  const zone = minutes === 0 ? 'Z' : `${sign}${twoDigits(Math.floor(minutes / 60))}:${twoDigits(minutes % 60)}`;
  return `${date}${hour.padStart(2, '0')}${rest}${digits === '' ? '' : `.${digits}`}${zone}`;
}

/** The content of tag 1: seconds since the epoch. */
export function timeFromSeconds(seconds: number): string | CborFault {
  const whole = Math.trunc(seconds);
  // Truncated to nanoseconds towards zero; negative before the epoch.
  const nanos = Math.trunc((seconds - whole) * 1e9);
  const second = nanos < 0 ? whole - 1 : whole;
  if (second < FIRST_SECOND || second > LAST_SECOND) return unprintable('year outside of range [0,9999]');
  const fraction = String(nanos < 0 ? nanos + 1e9 : nanos).padStart(9, '0');
  const digits = trimRight(fraction, '0');
  return `${formatTime(second * 1000).slice(0, -1)}${digits === '' ? '' : `.${digits}`}Z`;
}

/** The first second of year 0 and the last of year 9999. */
const FIRST_SECOND = -62_167_219_200;
const LAST_SECOND = 253_402_300_799;

function unprintable(why: string): CborFault {
  return new CborFault(
    `cbor: decoded time cannot be represented in RFC3339 format with sub-second precision: Time.MarshalText: ${why}`,
  );
}

function twoDigits(value: number): string {
  return String(value).padStart(2, '0');
}
