/** String formats, compared with the reference server's validator for valid and nearly valid strings. */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { formatTest } from '../../../../src/crd/value/formats.js';
import { cpuTimer } from '../../../fixtures/cpu-time.js';

type Cases = Readonly<Record<string, { readonly good: readonly string[]; readonly bad: readonly string[] }>>;
const cases: Cases = JSON.parse(readFileSync(new URL('./cases/formats.json', import.meta.url), 'utf8'));

describe('string formats', () => {
  test.each(Object.entries(cases))(
    'accepts for the format %s the same strings as the reference server',
    (format, { good, bad }) => {
      const has = formatTest(format);
      expect(good.filter((text) => has?.(text) !== true)).toEqual([]);
      expect(bad.filter((text) => has?.(text) !== false)).toEqual([]);
      expect(good.length + bad.length).toBeGreaterThan(30);
    },
  );

  test('ignores dashes in format names', () => {
    expect(formatTest('date-time')).toBe(formatTest('datetime'));
  });

  test.each(['', 'int32', 'int64', 'double', 'something'])('ignores %j, which is not a string format', (format) => {
    expect(formatTest(format)).toBeUndefined();
  });

  test.each<[format: string, text: string, is: boolean]>([
    ['email', `${'('.repeat(5_000)}${')'.repeat(5_000)} a@b`, false],
    ['email', `a@b ${'('.repeat(5_000)}${')'.repeat(5_000)}`, true],
    ['hostname', `${'a-'.repeat(100_000)}!`, false],
    ['byte', `${'AAAA'.repeat(100_000)}=`, false],
    ['duration', '9'.repeat(10_000), false],
    ['uri', `/${'%20'.repeat(100_000)}%`, false],
  ])('checks a hostile %s in linear time', (format, text, is) => {
    const spentMs = cpuTimer();
    expect(formatTest(format)?.(text)).toBe(is);
    expect(spentMs()).toBeLessThan(2_000);
  });
});
