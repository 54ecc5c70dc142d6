/** ControllerRevision names and order, compared with a running reference server. */
import { describe, expect, test } from 'vitest';
import {
  inRevisionOrder,
  isSameData,
  revisionData,
  revisionHash,
  revisionName,
  type StoredRevision,
  templateOf,
} from '../../../src/controllers/workloads/revisions.js';

/** A template with the defaults of the server. */
const template = (image: string) => ({
  spec: {
    containers: [
      {
        name: 'c',
        image,
        resources: {},
        terminationMessagePath: '/dev/termination-log',
        terminationMessagePolicy: 'File',
        imagePullPolicy: 'IfNotPresent' as const,
      },
    ],
    restartPolicy: 'Always' as const,
    terminationGracePeriodSeconds: 30,
    dnsPolicy: 'ClusterFirst' as const,
    automountServiceAccountToken: false,
    securityContext: {},
    schedulerName: 'default-scheduler',
  },
  metadata: { labels: { app: 'x' }, creationTimestamp: null },
});

describe('revision hash', () => {
  test.each([
    { data: revisionData(template('i:1') as never), hash: '766d467744' },
    { data: revisionData(template('i:2') as never), hash: '5bf644f8b5' },
    { data: JSON.parse(String.raw`{"b":1,"a":"<é&>\u2028 \u0001\b\f\t\"\\/"}`), hash: '5cdf5896c6' },
    { data: { spec: { template: { x: [1, 2.5, 1e21], ключ: '日本', $patch: 'replace' } } }, hash: '7cc8d56976' },
  ])('computes the hash $hash of the reference server', ({ data, hash }) => {
    expect(revisionHash(data, 0)).toBe(hash);
  });

  test('computes different hashes for different collision counts', () => {
    const data = { a: 1 };
    expect(new Set([0, 1, 2].map((collisions) => revisionHash(data, collisions))).size).toBe(3);
  });

  test('truncates a long name before the hash', () => {
    expect(revisionName('a'.repeat(253), '766d467744')).toBe(`${'a'.repeat(223)}-766d467744`);
  });
});

describe('revision data', () => {
  test('stores a template and returns it', () => {
    const data = revisionData(template('i:1') as never);
    expect(templateOf({ data })).toEqual(template('i:1'));
    expect(templateOf({ data: { other: 1 } })).toBeUndefined();
    expect(templateOf({ data: undefined })).toBeUndefined();
  });

  test('equals the data of a template with another key order and is compared as text', () => {
    const { metadata, spec } = template('i:1');
    const turned = revisionData({ metadata, spec } as never);
    expect(isSameData(revisionData(template('i:1') as never), turned)).toBe(true);
    expect(isSameData({ a: 1, b: 2 }, { b: 2, a: 1 })).toBe(false);
    expect(isSameData({ a: [1, null] }, { a: [1, null] })).toBe(true);
    expect(isSameData([1], { 0: 1 })).toBe(false);
    expect(isSameData({ a: 1 }, { a: '1' })).toBe(false);
    expect(isSameData(5, 5n)).toBe(true);
  });
});

test('orders revisions by number, age and name', () => {
  const revision = (number: number, creationTimestamp: string, name: string) =>
    ({ revision: number, metadata: { name, creationTimestamp } }) as StoredRevision;
  const all = [
    revision(2, '2030-01-01T00:00:00Z', 'e'),
    revision(1, '2030-01-01T00:00:01Z', 'd'),
    revision(1, '2030-01-01T00:00:00Z', 'c'),
    revision(1, '2030-01-01T00:00:00Z', 'b'),
  ];
  expect(inRevisionOrder(all).map(({ metadata }) => metadata.name)).toEqual(['b', 'c', 'd', 'e']);
});
