/** Regular expressions of schemas. */
import { expect, test } from 'vitest';
import { re2Matches, re2Problem } from '../../../src/meta/re2.js';

test.each<[string, string]>([
  ['(', 'missing closing ): `(`'],
  ['a)', 'unexpected ): `a)`'],
  ['[', 'missing closing ]: `[`'],
  ['x[a', 'missing closing ]: `[a`'],
  ['(?=x)y', 'invalid or unsupported Perl syntax: `(?=`'],
  ['^(?!a)', 'invalid or unsupported Perl syntax: `(?!`'],
  ['(?<=a)', 'invalid or unsupported Perl syntax: `(?<=`'],
  ['(?<n', 'invalid named capture: `(?<n`'],
  ['(?P<a b>x)', 'invalid named capture: `(?P<a b>`'],
  ['*a', 'missing argument to repetition operator: `*`'],
  ['a|+', 'missing argument to repetition operator: `+`'],
  ['a**', 'invalid nested repetition operator: `**`'],
  ['a{1001}', 'invalid repeat count: `{1001}`'],
  ['a{2,1}', 'invalid repeat count: `{2,1}`'],
  ['[z-a]', 'invalid character class range: `z-a`'],
  ['[[:nope:]]', 'invalid character class range: `[:nope:]`'],
  ['\\pX', 'invalid character class range: `\\pX`'],
  ['a\\', 'trailing backslash at end of expression: ``'],
  ['\\y', 'invalid escape sequence: `\\y`'],
  ['\\1', 'invalid escape sequence: `\\1`'],
])('%s is none', (pattern, why) => {
  expect(re2Problem(pattern)).toBe(`error parsing regexp: ${why}`);
  expect(re2Matches(pattern, 'a')).toBe(false);
});

test.each<[string, string, boolean]>([
  ['^[a-z]+$', 'abc', true],
  ['^[a-z]+$', 'aBc', false],
  ['(?i)^abc$', 'ABC', true],
  ['^(?P<name>a|b){2,3}?$', 'ab', true],
  ['\\Aab\\z', 'ab', true],
  ['^[[:alpha:]_]+[[:^digit:]]$', 'ab_x', true],
  ['^\\Qa.b\\E$', 'a.b', true],
  ['^\\Qa.b\\E$', 'axb', false],
  ['^\\x41\\x{42}\\103$', 'ABC', true],
  ['^\\p{Greek}\\pL$', 'αβ', true],
  ['^[\\d\\-.]{3}$', '1-.', true],
  ['^[]a]+$', ']a', true],
  ['^a{,2}$', 'a{,2}', true],
  ['x/y{z}', 'x/y{z}', true],
  ['^*a', 'ba', true],
  ['', 'anything', true],
])('%s on %s: %s', (pattern, text, outcome) => {
  expect(re2Problem(pattern)).toBeUndefined();
  expect(re2Matches(pattern, text)).toBe(outcome);
});
