/** Warning headers. */
import { expect, test } from 'vitest';
import { warningHeaders } from '../../../src/http/respond.js';

test('quotes warning texts, drops duplicates and keeps the order', () => {
  expect(warningHeaders(['unknown field "a\\b"', 'second', 'second', ''])).toEqual([
    '299 - "unknown field \\"a\\\\b\\""',
    '299 - "second"',
  ]);
});

test('drops a warning with control characters', () => {
  expect(warningHeaders(['a\nb', 'c'])).toEqual(['299 - "c"']);
});

test('sends non-ASCII characters of a warning as their UTF-8 bytes', () => {
  const [header] = warningHeaders(['é€']);
  expect(new Headers({ warning: header ?? '' }).get('warning')).toBe('299 - "\u00c3\u00a9\u00e2\u0082\u00ac"');
});

test('truncates all warnings when they are too long together, and drops the rest at the limit', () => {
  const long = (count: number) => Array.from({ length: count }, (_, index) => `${index}`.padEnd(300, 'x'));
  expect(warningHeaders(long(13)).map((header) => header.length)).toEqual(Array(13).fill(300 + 8));
  const cut = warningHeaders(long(40));
  expect(cut).toHaveLength(16);
  expect(cut.map((header) => header.length)).toEqual(Array(16).fill(256 + 8));
});
