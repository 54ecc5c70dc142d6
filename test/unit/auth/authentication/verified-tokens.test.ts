/** The cache of verified tokens and its size limit. */
import { expect, test } from 'vitest';
import { VerifiedTokens } from '../../../../src/auth/tokens/account-tokens.js';

test('evicts the least recently used tokens beyond the size limit', () => {
  const known = new VerifiedTokens<number>();
  const token = (index: number) => `${index}`.padStart(10_000, 'x');
  for (let index = 0; index < 100; index++) known.add(token(index), index);
  expect(known.size).toBe(100);
  expect(known.get(token(0))).toBe(0);
  known.add(token(100), 100);
  expect([known.size, known.get(token(0)), known.get(token(1)), known.get(token(2))]).toEqual([100, 0, undefined, 2]);
  for (let index = 200; index < 5_000; index++) known.add(token(index), index);
  expect(known.size).toBe(100);
});

test('counts a repeated token once', () => {
  const known = new VerifiedTokens<string>();
  for (let index = 0; index < 1_000; index++) known.add('x'.repeat(10_000), `${index}`);
  expect([known.size, known.get('x'.repeat(10_000))]).toEqual([1, '999']);
});
