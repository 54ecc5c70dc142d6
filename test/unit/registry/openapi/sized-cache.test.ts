import { describe, expect, test } from 'vitest';
import { SizedCache } from '../../../../src/registry/openapi/sized-cache.js';

describe('SizedCache', () => {
  test('returns a value by the identity of its key', () => {
    const cache = new SizedCache<object, string>(10);
    const key = {};
    cache.set(key, 'value', 5);
    expect(cache.get(key)).toBe('value');
    expect(cache.get({})).toBeUndefined();
  });

  test('drops the value that was used least recently when the total exceeds the bound', () => {
    const cache = new SizedCache<object, string>(10);
    const [first, second, third] = [{}, {}, {}];
    cache.set(first, 'first', 4);
    cache.set(second, 'second', 4);
    cache.get(first);
    cache.set(third, 'third', 4);
    expect([first, second, third].map((key) => cache.get(key))).toEqual(['first', undefined, 'third']);
  });

  test('replaces a value and counts only its new size', () => {
    const cache = new SizedCache<object, string>(10);
    const [first, second] = [{}, {}];
    cache.set(first, 'large', 9);
    cache.set(first, 'small', 1);
    cache.set(second, 'second', 9);
    expect([first, second].map((key) => cache.get(key))).toEqual(['small', 'second']);
  });

  test('does not keep a value that is larger than the bound, and drops the value it replaces', () => {
    const cache = new SizedCache<object, string>(10);
    const [first, second] = [{}, {}];
    cache.set(first, 'first', 5);
    cache.set(second, 'small', 5);
    cache.set(second, 'huge', 11);
    expect([first, second].map((key) => cache.get(key))).toEqual(['first', undefined]);
  });
});
