/**
 * Ages as kubectl prints them, and the time of an Event.
 */
import { textAt } from './json.js';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

export function ageText(milliseconds: number): string {
  if (!Number.isFinite(milliseconds)) return '<unknown>';
  if (milliseconds < 2 * MINUTE) return `${Math.max(0, Math.floor(milliseconds / SECOND))}s`;
  if (milliseconds < 10 * MINUTE) return two(milliseconds, MINUTE, 'm', SECOND, 's');
  if (milliseconds < 3 * HOUR) return `${Math.floor(milliseconds / MINUTE)}m`;
  if (milliseconds < 8 * HOUR) return two(milliseconds, HOUR, 'h', MINUTE, 'm');
  if (milliseconds < 2 * DAY) return `${Math.floor(milliseconds / HOUR)}h`;
  if (milliseconds < 8 * DAY) return two(milliseconds, DAY, 'd', HOUR, 'h');
  return `${Math.floor(milliseconds / DAY)}d`;
}

/** The time of an Event's last occurrence, in milliseconds. */
export function timeOf(event: unknown): number {
  const time =
    textAt(event, 'series', 'lastObservedTime') ||
    textAt(event, 'lastTimestamp') ||
    textAt(event, 'eventTime') ||
    textAt(event, 'metadata', 'creationTimestamp');
  return Date.parse(time);
}

function two(milliseconds: number, large: number, name: string, small: number, smallName: string): string {
  const rest = Math.floor((milliseconds % large) / small);
  const whole = `${Math.floor(milliseconds / large)}${name}`;
  return rest === 0 ? whole : `${whole}${rest}${smallName}`;
}
