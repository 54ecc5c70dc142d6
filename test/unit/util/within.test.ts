import { expect, test } from 'vitest';
import { within } from '../../../src/util/within.js';

test('returns the value of a promise that settles in time', async () => {
  expect(await within(1_000, Promise.resolve(1))).toBe(1);
  await expect(within(1_000, Promise.reject(new Error('no')))).rejects.toThrow('no');
});

test('returns undefined for a promise that takes longer', async () => {
  expect(await within(0, new Promise(() => undefined))).toBeUndefined();
  expect(await within(-5, new Promise(() => undefined))).toBeUndefined();
});
