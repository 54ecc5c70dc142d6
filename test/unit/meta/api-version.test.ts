/** API version order: the vectors of the reference implementation and unusual names. */
import { describe, expect, test } from 'vitest';
import { compareVersions, parseVersion } from '../../../src/meta/gvk.js';
import { readVectors } from '../../vectors/read.js';

describe('version order vectors in version-order.json', () => {
  const order = readVectors('version-order') as string[];
  const pairs = order.flatMap((first, index) => order.slice(index + 1).map((second) => [first, second] as const));

  test.each(pairs)('orders %s before %s', (first, second) => {
    // v1 and v01 have the same number and compare as equal.
    const tie = [first, second].join() === 'v1,v01';
    expect(Math.sign(compareVersions(first, second))).toBe(tie ? 0 : -1);
    expect(Math.sign(compareVersions(second, first))).toBe(tie ? 0 : 1);
  });
});

test('orders stable, beta and alpha versions, and then other names', () => {
  const versions = ['foo', 'v1alpha1', 'v1', 'v2beta1', 'v11', 'bar', 'v2', 'v1beta10', 'v1beta9'];
  expect(versions.sort(compareVersions)).toEqual([
    'v11',
    'v2',
    'v1',
    'v2beta1',
    'v1beta10',
    'v1beta9',
    'v1alpha1',
    'bar',
    'foo',
  ]);
});

test('parses the parts of a version', () => {
  expect(parseVersion('v12beta3')).toEqual({ major: 12n, maturity: 'beta', minor: 3n });
  expect(parseVersion('v1')?.maturity).toBe('stable');
  expect(parseVersion('v1alpha1')?.maturity).toBe('alpha');
  for (const odd of [
    '1',
    'v',
    'v1beta',
    'v1gamma1',
    'v1.2',
    'V1',
    'v1 ',
    `v${'9'.repeat(30)}`,
    `v${'9'.repeat(5000)}`,
  ]) {
    expect(parseVersion(odd), odd).toBeUndefined();
  }
});
