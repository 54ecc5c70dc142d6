/** Regular expression search, compared with Go's regexp package. */
import { describe, expect, test } from 'vitest';
import { re2FindAll, re2Matches } from '../../../src/text/re2/index.js';
import fc from '../../property/seeded.js';

describe('leftmost-first matches', () => {
  test.each<[pattern: string, text: string, found: readonly string[]]>([
    ['a|ab', 'abab', ['a', 'a']],
    ['ab|a', 'abab', ['ab', 'ab']],
    ['(a|ab)(c|bcd)?', 'abcd', ['abcd']],
    ['a+', 'aaa', ['aaa']],
    ['a+?', 'aaa', ['a', 'a', 'a']],
    ['(?U)a+', 'aaa', ['a', 'a', 'a']],
    ['(?U)a+?', 'aaa', ['aaa']],
    ['a{2,3}', 'aaaaa', ['aaa', 'aa']],
    ['a{2,3}?', 'aaaaa', ['aa', 'aa']],
    ['(?:a|aa)(?:a|b)', 'aab', ['aa']],
    ['.*?b', 'aab ab', ['aab', ' ab']],
    ['(|a)+', 'aaa', ['', '', '', '']],
    ['(?:|a)*', 'aaa', ['', '', '', '']],
    ['(?:a*)*', 'baac', ['', 'aa', '']],
    ['(?:([^a]|a)*?){2,}.|(?:)|\\w', 'aé\nc A', ['a', 'é', '\nc', ' ', 'A']],
    ['(?i)(?:(.)*?(?mU)\\B)+', '1c😀 ', ['1', '😀', '']],
  ])('%j in %j', (pattern, text, found) => {
    expect(re2FindAll(pattern, text)).toEqual(found);
  });
});

describe('empty matches', () => {
  test.each<[pattern: string, text: string, found: readonly string[]]>([
    ['', 'é😀', ['', '', '']],
    // No empty match directly after another match.
    ['a*', 'baac', ['', 'aa', '']],
    ['x*', '😀', ['', '']],
    ['\\b', 'ab c', ['', '', '', '']],
    ['$', 'a\nb', ['']],
    ['(?m)$', 'a\nb', ['', '']],
    ['^', 'aa', ['']],
    ['a|$', 'ba', ['a']],
  ])('%j in %j', (pattern, text, found) => {
    expect(re2FindAll(pattern, text)).toEqual(found);
  });
});

test('re2FindAll returns at most the requested number of matches', () => {
  expect(re2FindAll('[0-9]', '1 2 3', { limit: 2 })).toEqual(['1', '2']);
  expect(re2FindAll('[0-9]', '1 2 3', { limit: 0 })).toEqual([]);
});

test('re2FindAll returns nothing for an invalid pattern', () => {
  expect(re2FindAll('(', '(')).toEqual([]);
});

test('re2FindAll reports its steps to the caller', () => {
  let steps = 0;
  re2FindAll('a*b|a', 'a'.repeat(100), { onSteps: (more) => (steps += more) });
  expect(steps).toBeGreaterThan(100 * 50);
});

test('re2FindAll finds a match if and only if re2Matches is true', () => {
  const pattern = fc
    .array(fc.constantFrom('a', 'b', '.', '(?:a|b)', '[^a]', '^', '$', '\\b', '*?', '+', '?', '|'), { maxLength: 8 })
    .map((parts) => parts.join('').replace(/[*+?]+(?=[*+?])/g, ''));
  const text = fc.array(fc.constantFrom('a', 'b', 'c', '\n', '😀'), { maxLength: 8 }).map((parts) => parts.join(''));
  fc.assert(
    fc.property(pattern, text, (expression, searched) => {
      expect(re2FindAll(expression, searched, { limit: 1 }).length > 0).toBe(re2Matches(expression, searched));
    }),
  );
});
