/** Ids that are the same in every run. */
import { sequentialIds } from 'orchplane/testing';
import { describe, expect, test } from 'vitest';

describe('sequentialIds', () => {
  test('counts uids up', () => {
    const ids = sequentialIds();
    expect(ids.uid()).toBe('00000000-0000-4000-8000-000000000001');
    expect(ids.uid()).toBe('00000000-0000-4000-8000-000000000002');
  });

  test('generates uids in the format of UUID version 4', () => {
    expect(sequentialIds().uid()).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  });

  test('counts suffixes up in the alphabet of generated names', () => {
    const ids = sequentialIds();
    expect([ids.suffix(5), ids.suffix(5), ids.suffix(5)]).toEqual(['bbbbb', 'bbbbc', 'bbbbd']);
  });

  test('generates thousands of different suffixes', () => {
    const ids = sequentialIds();
    const made = Array.from({ length: 2_000 }, () => ids.suffix(5));
    expect(new Set(made).size).toBe(2_000);
    for (const suffix of made) expect(suffix).toMatch(/^[bcdfghjklmnpqrstvwxz2456789]{5}$/);
  });

  test('generates the same distinct random numbers in every run', () => {
    const [ids, others] = [sequentialIds(), sequentialIds()];
    const numbers = Array.from({ length: 1000 }, () => ids.random());
    expect(numbers[0]).toBe(0.5);
    expect(new Set(numbers).size).toBe(1000);
    expect(numbers.every((number) => number >= 0 && number < 1)).toBe(true);
    expect(Array.from({ length: 1000 }, () => others.random())).toEqual(numbers);
  });

  test('keeps two generators independent', () => {
    const [left, right] = [sequentialIds(), sequentialIds()];
    left.uid();
    expect(right.uid()).toBe('00000000-0000-4000-8000-000000000001');
  });
});
