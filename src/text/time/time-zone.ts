/**
 * IANA time zones: valid names and UTC offsets. Offsets from Intl are cached per six hours, because Intl is slow and
 * schedules query offsets often.
 */
import { formatTime, twoDigits } from './time.js';

/** The UTC offset of a zone in milliseconds at a time. */
export type Offsets = (ms: number) => number;

/**
 * Whether the IANA database has a zone with exactly this name. JavaScript engines accept more: any case, offsets, own
 * zones; Go loads one file per zone, so the exact name counts.
 */
export function isTimeZone(name: string): boolean {
  if (namedZones.has(name)) return true;
  if (!ZONE_NAME.test(name) || !isSpelledAsIana(name) || !isKnownToEngine(name)) return false;
  namedZones.add(name);
  return true;
}

/** Cache of valid names; the database bounds its size. */
const namedZones = new Set<string>();

function isKnownToEngine(name: string): boolean {
  try {
    offsetsIn(name);
    return true;
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}

/** Throws a RangeError for a zone the engine does not know. */
export function offsetsIn(zone: string): Offsets {
  if (isUtc(zone)) return () => 0;
  const known = zones.get(zone);
  if (known !== undefined) return known;
  const offsets = cached(wallOffsets(zone));
  zones.set(zone, offsets);
  return offsets;
}

/** Formats a time as RFC 3339 in a zone: `2026-03-08T03:00:00-04:00`, with `Z` in UTC. */
export function formatInZone(ms: number, zone: string): string {
  const offset = offsetsIn(zone)(ms);
  const wall = formatTime(ms + offset);
  if (offset === 0) return wall;
  const minutes = Math.floor(Math.abs(offset) / MINUTE);
  return `${wall.slice(0, -1)}${offset < 0 ? '-' : '+'}${twoDigits(Math.floor(minutes / 60))}:${twoDigits(minutes % 60)}`;
}

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

const ZONE_NAME = /^[A-Za-z0-9._+][-A-Za-z0-9._+]{0,13}(?:\/[A-Za-z0-9._+][-A-Za-z0-9._+]{0,13})*$/;

function isUtc(name: string): boolean {
  return name === 'UTC' || name === 'Factory';
}

/** All names without an area; engines also accept abbreviations such as `JST` that the database lacks. */
const NAMES_WITHOUT_AREA = new Set(
  (
    'CET CST6CDT Cuba EET EST EST5EDT Egypt Eire Factory GB GB-Eire GMT GMT+0 GMT-0 GMT0 Greenwich HST Hongkong Iceland ' +
    'Iran Israel Jamaica Japan Kwajalein Libya MET MST MST7MDT NZ NZ-CHAT Navajo PRC PST8PDT Poland Portugal ROC ROK ' +
    'Singapore Turkey UCT UTC Universal W-SU WET Zulu'
  ).split(' '),
);
/** Words in zone names with irregular capitalization. */
const IRREGULAR_WORDS: ReadonlyMap<string, string> = new Map(
  'of es au ACT NSW LHI US IN GMT UTC UCT McMurdo DumontDUrville EasterIsland DeNoronha BajaNorte BajaSur ComodRivadavia'
    .split(' ')
    .map((word) => [word.toLowerCase(), word]),
);

/** Whether a name has the capitalization of the database. Engines ignore case and may not reveal the canonical name. */
function isSpelledAsIana(name: string): boolean {
  if (!name.includes('/')) return NAMES_WITHOUT_AREA.has(name);
  const capital = (word: string) => word.charAt(0).toUpperCase() + word.slice(1);
  // The database has dropped this name, engines have not.
  if (name === 'US/Pacific-New') return false;
  return name === name.toLowerCase().replace(/[a-z]+/g, (word) => IRREGULAR_WORDS.get(word) ?? capital(word));
}

// In `en-US` these options produce month, day, year, hour, minute and second, all numeric.
const DATE = { year: 'numeric', month: 'numeric', day: 'numeric' } as const;
const TIME = { hour: 'numeric', minute: 'numeric', second: 'numeric', hourCycle: 'h23' } as const;

/** Cached offset functions; the database bounds their number. */
const zones = new Map<string, Offsets>();

/** Throws a RangeError for a zone the engine does not know. */
function wallOffsets(zone: string): Offsets {
  const wall = new Intl.DateTimeFormat('en-US', { ...DATE, ...TIME, timeZone: zone });
  return (ms) => {
    const [month = 1, day = 1, year = 1970, hour = 0, minute = 0, second = 0] = (
      wall.format(ms).match(/\d+/g) ?? []
    ).map(Number);
    return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(ms / SECOND) * SECOND;
  };
}

/** A period in which the offset changes at most once: no zone has ever changed twice within hours. */
const SPAN = 6 * 60 * MINUTE;
/** About seven years. */
const MAX_SPANS = 10_000;

interface Span {
  readonly offset: number;
  /** When the offset changes, and to what; Infinity if it does not. */
  readonly changesAt: number;
  readonly offsetAfter: number;
}

function cached(offsets: Offsets): Offsets {
  const spans = new Map<number, Span>();
  return (ms) => {
    const index = Math.floor(ms / SPAN);
    let span = spans.get(index);
    if (span === undefined) {
      if (spans.size >= MAX_SPANS) spans.clear();
      span = spanAt(index * SPAN, offsets);
      spans.set(index, span);
    }
    return ms < span.changesAt ? span.offset : span.offsetAfter;
  };
}

function spanAt(start: number, offsets: Offsets): Span {
  const offset = offsets(start);
  const offsetAfter = offsets(start + SPAN);
  if (offset === offsetAfter) return { offset, changesAt: Infinity, offsetAfter };
  // The first second with the new offset is in (before, after].
  let before = start;
  let after = start + SPAN;
  while (after - before > SECOND) {
    const middle = Math.floor((before + after) / 2 / SECOND) * SECOND;
    if (offsets(middle) === offset) before = middle;
    else after = middle;
  }
  return { offset, changesAt: after, offsetAfter };
}
