/** The settings of memoryStorage and their limits. */
import { describe, expect, test } from 'vitest';
import { memoryStorage } from '../../../src/storage/memory-storage.js';

describe('memoryStorage', () => {
  test('keeps ten thousand events for five minutes in 128 MiB by default', () => {
    expect(memoryStorage()).toEqual({
      maxEvents: 10_000,
      maxAgeMs: 300_000,
      maxBytes: 128 * 1024 * 1024,
      continueTokenMs: 300_000,
      maxObjectBytes: 1_572_864,
    });
  });

  test('uses the given settings', () => {
    const settings = memoryStorage({ history: 1, historyMs: 0, historyBytes: 3, continueMs: 7, maxObjectBytes: 9 });
    expect(settings).toEqual({ maxEvents: 1, maxAgeMs: 0, maxBytes: 3, continueTokenMs: 7, maxObjectBytes: 9 });
  });

  test.each([
    [{ history: 0 }, 'orchplane: memoryStorage: history must be at least 1, got 0'],
    [{ history: Number.NaN }, 'orchplane: memoryStorage: history must be at least 1, got NaN'],
    [{ historyMs: -1 }, 'orchplane: memoryStorage: historyMs must be at least 0, got -1'],
    [{ historyBytes: -1 }, 'orchplane: memoryStorage: historyBytes must be at least 0, got -1'],
    [{ continueMs: -1 }, 'orchplane: memoryStorage: continueMs must be at least 0, got -1'],
    [{ maxObjectBytes: -1 }, 'orchplane: memoryStorage: maxObjectBytes must be at least 0, got -1'],
  ])('rejects the settings %o', (options, message) => {
    expect(() => memoryStorage(options)).toThrow(new RangeError(message));
  });
});
