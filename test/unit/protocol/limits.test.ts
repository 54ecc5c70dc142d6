/** The limits of the time of a request and of the size of its values. */
import { expect, test } from 'vitest';
import { timedOut, timeLimitOf } from '../../../src/protocol/time-limit.js';
import { requireObjectLimits } from '../../../src/protocol/value-limits.js';

test.each(['get', 'list', 'watch'] as const)('a %s has a minute', (verb) => {
  expect(timeLimitOf({ verb })).toBe(60_000);
  expect(timedOut(verb).message).toContain('within the allotted timeout');
});

test.each(['create', 'update', 'patch', 'delete'] as const)('a %s has 34 seconds', (verb) => {
  expect(timeLimitOf({ verb })).toBe(34_000);
  expect(timeLimitOf({ verb, timeoutMs: 100 })).toBe(100);
});

test('the characters of keys count, wherever they are', () => {
  const key = 'k'.repeat(9 * 1024 * 1024);
  for (const value of [{ [key]: 1 }, { data: { [key]: 1 } }, { metadata: { labels: { [key]: null } } }]) {
    expect(() => requireObjectLimits(value)).toThrow('limit is 8388608 characters');
  }
  expect(() => requireObjectLimits({ data: { [key.slice(0, 1_000)]: 1 } })).not.toThrow();
});
