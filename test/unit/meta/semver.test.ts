/** Semantic versions: parsing and order. */
import { expect, test } from 'vitest';
import { compareSemver, parseSemver, ZERO_VERSION } from '../../../src/meta/semver.js';

function version(text: string) {
  const parsed = parseSemver(text);
  if (parsed === undefined) throw new Error(`${text} is no version`);
  return parsed;
}

test('parses the parts of a semantic version', () => {
  expect(parseSemver('1.33.0-alpha.1.0a+build.007')).toEqual({
    major: 1n,
    minor: 33n,
    patch: 0n,
    prerelease: ['alpha', 1n, '0a'],
    build: ['build', '007'],
  });
  expect(parseSemver('18446744073709551615.0.0')?.major).toBe(2n ** 64n - 1n);
  expect(parseSemver('0.0.0')).toEqual(ZERO_VERSION);
});

test.each([
  '',
  'x',
  '1.33',
  'v1.33.0',
  '1.33.0 ',
  '1.33.0.0',
  '01.2.3',
  '1.02.3',
  '1.2.03',
  '-1.2.3',
  '1.2.3-',
  '1.2.3+',
  '1.2.3-a..b',
  '1.2.3-01',
  '1.2.3-a_b',
  '1.2.3+a+b',
  '1.2.3-é',
  '18446744073709551616.0.0',
  '1.2.3-18446744073709551616',
])('rejects the version %j', (text) => {
  expect(parseSemver(text)).toBeUndefined();
});

test('orders versions from oldest to newest', () => {
  const ordered = [
    '0.0.0-0',
    '0.0.0',
    '1.0.0-1',
    '1.0.0-2',
    '1.0.0-10',
    '1.0.0-A',
    '1.0.0-alpha',
    '1.0.0-alpha.1',
    '1.0.0-alpha.beta',
    '1.0.0-beta',
    '1.0.0',
    '1.0.1',
    '1.9.0',
    '1.10.0',
    '2.0.0',
    '18446744073709551615.0.0',
  ].map(version);
  for (const [i, left] of ordered.entries()) {
    for (const [j, right] of ordered.entries()) expect(compareSemver(left, right)).toBe(Math.sign(i - j));
  }
});

test('ignores build metadata in the order of versions', () => {
  expect(compareSemver(version('1.0.0+a'), version('1.0.0+b'))).toBe(0);
});
