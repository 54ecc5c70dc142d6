/**
 * Shapes of texts that named formats ask for. No pattern can match in more than one way, so a hostile text costs one
 * pass.
 */

export function isUuid(text: string): boolean {
  return /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i.test(text);
}

/** The empty text is none. */
export function isBase64(text: string): boolean {
  return text !== '' && text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text);
}

export function isDate(text: string): boolean {
  const [, year, month, day] = /^([0-9]{4})-([0-9]{2})-([0-9]{2})$/.exec(text) ?? [];
  if (year === undefined || month === undefined || day === undefined) return false;
  if (Number(month) < 1 || Number(month) > 12) return false;
  return Number(day) >= 1 && Number(day) <= daysOf(Number(year), Number(month));
}

function daysOf(year: number, month: number): number {
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  if (month === 2) return isLeap ? 29 : 28;
  return [4, 6, 9, 11].includes(month) ? 30 : 31;
}

/** A date, a `t`, and a time; what a second `t` begins is not looked at. Any character may stand before the fraction. */
export function isDateTime(text: string): boolean {
  const [date = '', time] = text.toLowerCase().split('t', 2);
  if (time === undefined || !isDate(date)) return false;
  const [, hour = '', minute = '', second = ''] =
    /^([0-9]{2}):([0-9]{2}):([0-9]{2})(?:[^\n][0-9]+)?(?:z|[+-][0-9]{2}:[0-9]{2})$/u.exec(time) ?? [];
  return hour !== '' && hour <= '23' && minute <= '59' && second <= '59';
}
