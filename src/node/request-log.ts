/**
 * One line for each request: when, what, how it went, how much, how long, who.
 */
import { systemClock } from '../util/clock.js';
import type { Exchanged } from './listener.js';

/** Beyond this many characters a user agent says nothing more to a reader. */
const AGENT_LENGTH = 40;

/** `12:03:31.250 GET /api/v1/pods?limit=500 200 1234B 0.8ms kubectl/v1.33.0`. A client that left early: `…ms cut`. */
export function logLine(exchanged: Exchanged): string {
  const { method, target, status, bytes, userAgent, startedAt, cut } = exchanged;
  const ms = Number(process.hrtime.bigint() - startedAt) / 1e6;
  const time = new Date(systemClock.now()).toISOString().slice(11, 23);
  const agent = printable(userAgent.split(' ', 1)[0] ?? '').slice(0, AGENT_LENGTH);
  const parts = [
    time,
    method,
    printable(target),
    status === 0 ? '-' : String(status),
    `${bytes}B`,
    `${ms.toFixed(1)}ms`,
  ];
  return [...parts, ...(cut ? ['cut'] : []), ...(agent === '' ? [] : [agent])].join(' ');
}

/** A client must not be able to write to the terminal of whoever reads the log. */
function printable(text: string): string {
  return text.replace(/[^\x21-\x7e]/g, '?');
}
