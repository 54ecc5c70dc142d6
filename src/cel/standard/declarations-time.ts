/** The functions that take times and durations apart; see `declarations.ts`. */
import type { FunctionDeclaration, Overload } from '../library.js';
import { DURATION, INT, STRING, TIMESTAMP } from '../types.js';

export const TIME_DECLARATIONS: readonly FunctionDeclaration[] = [
  { name: 'getFullYear', overloads: ofTimestamp('year') },
  { name: 'getMonth', overloads: ofTimestamp('month') },
  { name: 'getDayOfYear', overloads: ofTimestamp('day_of_year') },
  { name: 'getDayOfMonth', overloads: ofTimestamp('day_of_month') },
  { name: 'getDate', overloads: ofTimestamp('day_of_month_1_based') },
  { name: 'getDayOfWeek', overloads: ofTimestamp('day_of_week') },
  { name: 'getHours', overloads: [...ofTimestamp('hours'), ofDuration('hours')] },
  { name: 'getMinutes', overloads: [...ofTimestamp('minutes'), ofDuration('minutes')] },
  // The id with a time zone breaks the pattern.
  {
    name: 'getSeconds',
    overloads: [...ofTimestamp('seconds', 'timestamp_to_seconds_tz'), ofDuration('seconds')],
  },
  { name: 'getMilliseconds', overloads: [...ofTimestamp('milliseconds'), ofDuration('milliseconds')] },
];

function ofTimestamp(part: string, withZone = `timestamp_to_${part}_with_tz`): readonly Overload[] {
  return [
    { id: `timestamp_to_${part}`, member: true, params: [TIMESTAMP], result: INT },
    { id: withZone, member: true, params: [TIMESTAMP, STRING], result: INT },
  ];
}

function ofDuration(part: string): Overload {
  return { id: `duration_to_${part}`, member: true, params: [DURATION], result: INT };
}
