/**
 * Time zones of the IANA database: which names there are, and how far ahead of UTC each is at a time. What the platform
 * knows is asked once per quarter of a day and kept, for it answers in microseconds what a schedule asks all the time.
 */
import { formatTime, twoDigits } from './time.js';

/** Milliseconds that a zone is ahead of UTC at a time. */
export type Offsets = (ms: number) => number;

/**
 * Whether the IANA database has a zone of exactly that name. Engines take more than that: any case, offsets, zones of
 * their own; a server keeps one file per zone, so there the spelling counts.
 */
export function isTimeZone(name: string): boolean {
  if (namedZones.has(name)) return true;
  if (!ZONE_NAME.test(name) || !isSpelledAsIana(name) || !isKnown(name)) return false;
  namedZones.add(name);
  return true;
}

/** Those that were found to be names; the database bounds how many there can be. */
const namedZones = new Set<string>();

function isKnown(name: string): boolean {
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

/** A time as RFC 3339 prints it in a zone: `2026-03-08T03:00:00-04:00`, and with `Z` in UTC. */
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

/** The names without an area, all of them: engines also take abbreviations such as `JST` that the database lacks. */
const ALONE = new Set(
  (
    'CET CST6CDT Cuba EET EST EST5EDT Egypt Eire Factory GB GB-Eire GMT GMT+0 GMT-0 GMT0 Greenwich HST Hongkong Iceland ' +
    'Iran Israel Jamaica Japan Kwajalein Libya MET MST MST7MDT NZ NZ-CHAT Navajo PRC PST8PDT Poland Portugal ROC ROK ' +
    'Singapore Turkey UCT UTC Universal W-SU WET Zulu'
  ).split(' '),
);
/** Words inside names that are not simply capitalised. */
const ODD_WORDS: ReadonlyMap<string, string> = new Map(
  'of es au ACT NSW LHI US IN GMT UTC UCT McMurdo DumontDUrville EasterIsland DeNoronha BajaNorte BajaSur ComodRivadavia'
    .split(' ')
    .map((word) => [word.toLowerCase(), word]),
);

/** Whether a name is spelled as the database would. Engines fold case, and not all of them tell. */
function isSpelledAsIana(name: string): boolean {
  if (!name.includes('/')) return ALONE.has(name);
  const capital = (word: string) => word.charAt(0).toUpperCase() + word.slice(1);
  // The one name of an area that the database has dropped and engines have not.
  if (name === 'US/Pacific-New') return false;
  return name === name.toLowerCase().replace(/[a-z]+/g, (word) => ODD_WORDS.get(word) ?? capital(word));
}

// In this language and with these parts: month, day, year, hour, minute, second, all in digits.
const DATE = { year: 'numeric', month: 'numeric', day: 'numeric' } as const;
const TIME = { hour: 'numeric', minute: 'numeric', second: 'numeric', hourCycle: 'h23' } as const;

/** Each with what it remembers; the database bounds how many there can be. */
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

/** A span of time in which clocks change at most once: no zone has ever changed twice within hours. */
const SPAN = 6 * 60 * MINUTE;
/** Nearly seven years. */
const MAX_SPANS = 10_000;

interface Span {
  readonly offset: number;
  /** When another offset begins, and which; Infinity where none does. */
  readonly changesAt: number;
  readonly then: number;
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
    return ms < span.changesAt ? span.offset : span.then;
  };
}

function spanAt(start: number, offsets: Offsets): Span {
  const offset = offsets(start);
  const then = offsets(start + SPAN);
  if (offset === then) return { offset, changesAt: Infinity, then };
  // The first second with the new offset lies in (before, after].
  let before = start;
  let after = start + SPAN;
  while (after - before > SECOND) {
    const middle = Math.floor((before + after) / 2 / SECOND) * SECOND;
    if (offsets(middle) === offset) before = middle;
    else after = middle;
  }
  return { offset, changesAt: after, then };
}
