/**
 * Durations as flags take them: `90s`, `1m30s`.
 */
import { LineError } from './split-words.js';

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/** Parses the value of a flag. Throws a LineError with kubectl's message. */
export function millisecondsOf(text: string, flag: string): number {
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)(ms|[smh])/g)];
  if (text !== '0' && parts.map(([part]) => part).join('') !== text) {
    throw new LineError(`error: invalid argument "${text}" for "--${flag}" flag: time: invalid duration "${text}"`);
  }
  return parts.reduce((sum, [, count, unit = '']) => sum + Number(count) * (UNITS[unit] ?? 0), 0);
}
