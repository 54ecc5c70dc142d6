/** Time zones: names such as `Europe/Berlin`, and distances to UTC such as `-02:30`. */
import { quote } from '../../text/go/go-text.js';
import { spend } from '../effort.js';
import { Failure } from '../failure.js';

/** Seconds east of UTC at a moment (seconds since 1970). */
export function offsetIn(zone: string, seconds: number): number | Failure {
  const colon = zone.indexOf(':');
  if (colon < 0) return offsetOfName(zone, seconds);
  const hours = wholeNumber(zone.slice(0, colon));
  if (hours instanceof Failure) return hours;
  const minutes = wholeNumber(zone.slice(colon + 1));
  if (minutes instanceof Failure) return minutes;
  // The sign stands before the hours and counts for the minutes too.
  return (hours * 60 + (zone.startsWith('-') ? -minutes : minutes)) * 60;
}

const MAX_NUMBER = 2n ** 63n;

function wholeNumber(text: string): number | Failure {
  const problem = (what: string) => new Failure(`strconv.Atoi: parsing ${quote(text)}: ${what}`);
  if (!/^[+-]?[0-9]+$/.test(text)) return problem('invalid syntax');
  const value = BigInt(text.replace('+', ''));
  if (value >= MAX_NUMBER || value < -MAX_NUMBER) return problem('value out of range');
  return Number(value);
}

/** Asking for the time in a zone is slow. */
const LOOKUP = 6000;
const MAX_KEPT = 50;
const zones = new Map<string, Intl.DateTimeFormat | Failure>();

function offsetOfName(name: string, seconds: number): number | Failure {
  if (name === '' || name === 'UTC' || name === 'Local') return 0;
  spend(LOOKUP);
  let zone = zones.get(name);
  if (zone === undefined) {
    if (zones.size >= MAX_KEPT) zones.clear();
    zone = zoneOf(name);
    zones.set(name, zone);
  }
  return zone instanceof Failure ? zone : offsetAt(zone, seconds);
}

function zoneOf(name: string): Intl.DateTimeFormat | Failure {
  if (name.includes('..') || name.startsWith('/') || name.includes('\\')) {
    return new Failure('time: invalid location name');
  }
  const unknown = new Failure(`unknown time zone ${name}`);
  // Distances without a colon, and names in lower case, are zones to a browser only.
  if (!/^[A-Z]/.test(name)) return unknown;
  try {
    const zone = new Intl.DateTimeFormat('en-US', {
      timeZone: name,
      calendar: 'gregory',
      numberingSystem: 'latn',
      hourCycle: 'h23',
      era: 'short',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
    // Names are files to the reference: upper and lower case matter. Other names of the same zone cannot be compared.
    const { timeZone } = zone.resolvedOptions();
    return timeZone !== name && timeZone.toLowerCase() === name.toLowerCase() ? unknown : zone;
  } catch (error) {
    if (error instanceof RangeError) return unknown;
    throw error;
  }
}

function offsetAt(zone: Intl.DateTimeFormat, seconds: number): number {
  const part: Record<string, number> = {};
  let before = false;
  for (const { type, value } of zone.formatToParts(seconds * 1000)) {
    if (type === 'era') before = value.startsWith('B');
    else part[type] = Number(value);
  }
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = part;
  const local = new Date(0);
  local.setUTCFullYear(before ? 1 - year : year, month - 1, day);
  local.setUTCHours(hour, minute, second);
  return local.getTime() / 1000 - seconds;
}
