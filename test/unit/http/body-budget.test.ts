/** The budget of the large bodies that are processed at the same time. */
import { expect, test } from 'vitest';
import { BodyBudget, type BodyShare } from '../../../src/http/body-budget.js';

const MEBIBYTE = 1024 * 1024;

/** Whether the share is granted now. */
async function isGranted(share: BodyShare | undefined): Promise<boolean> {
  if (share === undefined || share.granted === undefined) return true;
  const later = new Promise<boolean>((resolve) => setTimeout(() => resolve(false)));
  return Promise.race([share.granted.then(() => true), later]);
}

test('small bodies need no share', () => {
  const budget = new BodyBudget();
  const shares = Array.from({ length: 100 }, () => budget.share(255 * 1024));
  expect(shares.every((share) => share === undefined)).toBe(true);
});

test('a large body waits until others are released, in order of arrival', async () => {
  const budget = new BodyBudget();
  const [first, second, third, fourth] = Array.from({ length: 4 }, () => budget.share(3 * MEBIBYTE));
  expect(await isGranted(second)).toBe(true);
  expect(await isGranted(third)).toBe(false);
  // It would fit after the first release, but the third came before it.
  first?.release();
  expect(await isGranted(third)).toBe(true);
  expect(await isGranted(fourth)).toBe(false);
  second?.release();
  expect(await isGranted(fourth)).toBe(true);
});

test('a request that stops waiting does not use the budget', async () => {
  const budget = new BodyBudget();
  const [first, , third, fourth] = Array.from({ length: 4 }, () => budget.share(3 * MEBIBYTE));
  third?.release();
  first?.release();
  expect(await isGranted(third)).toBe(false);
  expect(await isGranted(fourth)).toBe(true);
});

test('a body that is larger than the budget is processed alone', async () => {
  const budget = new BodyBudget();
  const huge = budget.share(50 * MEBIBYTE);
  expect(await isGranted(huge)).toBe(true);
  const next = budget.share(MEBIBYTE);
  expect(await isGranted(next)).toBe(false);
  huge?.release();
  expect(await isGranted(next)).toBe(true);
});
