/** What is remembered of tokens, and how much of it. */
import { expect, test } from 'vitest';
import { VerifiedTokens } from '../../../../src/auth/tokens/account-tokens.js';

test('what was used longest ago is forgotten first, and memory does not grow', () => {
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

test('the same token again takes no more room', () => {
  const known = new VerifiedTokens<string>();
  for (let index = 0; index < 1_000; index++) known.add('x'.repeat(10_000), `${index}`);
  expect([known.size, known.get('x'.repeat(10_000))]).toEqual([1, '999']);
});
