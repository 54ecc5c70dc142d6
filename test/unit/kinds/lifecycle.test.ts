/** Deprecated versions: the warning, the audit annotation and the metric come from the same lifecycle. */
import { describe, expect, test } from 'vitest';
import { ComponentStatus } from '../../../src/kinds/core/v1/component-status.js';
import { ConfigMap } from '../../../src/kinds/core/v1/config-map.js';
import { Endpoints } from '../../../src/kinds/core/v1/endpoints.js';
import { builtInKinds } from '../../../src/kinds/index.js';
import type { Kind } from '../../../src/kinds/kind.js';
import { compareReleases, deprecationOf, type Lifecycle, parseRelease } from '../../../src/kinds/lifecycle.js';
import { VolumeAttributesClassV1alpha1 } from '../../../src/kinds/storage/v1beta1/volume-attributes-class.js';
import { StorageVersionMigration } from '../../../src/kinds/storagemigration/v1alpha1/storage-version-migration.js';
import { kubernetesDialect, orchDialect } from '../../../src/meta/dialect.js';

const asKind = (kind: unknown): Kind => kind as Kind;
const made = (lifecycle: Lifecycle | undefined, deprecation?: Kind['deprecation']): Kind =>
  asKind({
    group: 'batch',
    version: 'v1beta1',
    kind: 'CronJob',
    ...(lifecycle === undefined ? {} : { lifecycle }),
    ...(deprecation === undefined ? {} : { deprecation }),
  });

describe('the deprecation of a kind', () => {
  // The warning comes first, because a test name with a whole kind would be too long.
  test.each<[string, string, Kind]>([
    ['v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice', '', asKind(Endpoints)],
    ['v1 ComponentStatus is deprecated in v1.19+', '', asKind(ComponentStatus)],
    [
      'storagemigration.k8s.io/v1alpha1 StorageVersionMigration is deprecated in v1.33+, unavailable in v1.36+',
      '1.36',
      asKind(StorageVersionMigration),
    ],
    [
      'storage.k8s.io/v1alpha1 VolumeAttributesClass is deprecated in v1.32+, unavailable in v1.35+',
      '1.35',
      asKind(VolumeAttributesClassV1alpha1),
    ],
    [
      'batch/v1beta1 CronJob is deprecated in v1.21+, unavailable in v1.25+; use batch/v1 CronJob',
      '1.25',
      made({ deprecatedIn: '1.21', removedIn: '1.25', replacement: { apiVersion: 'batch/v1', kind: 'CronJob' } }),
    ],
  ])('has the warning %s', (warning, removedRelease, kind) => {
    expect(deprecationOf(kind, kubernetesDialect)).toEqual({ warning, removedRelease });
  });

  test('uses the names of the dialect', () => {
    expect(deprecationOf(asKind(Endpoints), orchDialect)?.warning).toContain('use discovery.orch.io/v1 EndpointSlice');
  });

  test('reports no deprecation before its release', () => {
    expect(deprecationOf(asKind(Endpoints), orchDialect, '1.32')).toBeUndefined();
    expect(deprecationOf(asKind(Endpoints), orchDialect, '1.34')).toBeDefined();
    expect(deprecationOf(made({ introducedIn: '1.8' }), orchDialect)).toBeUndefined();
    expect(deprecationOf(asKind(ConfigMap), orchDialect)).toBeUndefined();
  });

  test('has no removal release for a deprecation with a custom text', () => {
    expect(
      deprecationOf(
        made(undefined, () => 'use v2'),
        orchDialect,
        '1.20',
      ),
    ).toEqual({
      warning: 'use v2',
      removedRelease: '',
    });
  });

  test('matches the warning of the kind for the reference release', () => {
    for (const kind of builtInKinds) {
      const { warning } = deprecationOf(kind, orchDialect) ?? {};
      expect(kind.deprecation?.(orchDialect)).toBe(warning);
    }
  });

  test('has introduction, deprecation and removal in order', () => {
    for (const { lifecycle = {} } of builtInKinds) {
      const { introducedIn = '0.0', deprecatedIn = '99.0', removedIn = '99.0' } = lifecycle;
      expect(compareReleases(introducedIn, deprecatedIn)).toBeLessThan(0);
      expect(compareReleases(deprecatedIn, removedIn)).toBeLessThanOrEqual(0);
    }
  });
});

describe('release numbers', () => {
  test.each([
    ['1.9', '1.10', -1],
    ['1.33', '1.33', 0],
    ['2.0', '1.99', 1],
  ])('compares the release %s with %s as %i', (left, right, sign) => {
    expect(Math.sign(compareReleases(left, right))).toBe(sign);
  });

  test.each(['', '1', 'v1.33', '1.33.0', '1.033', '1.-1', '1.1e3', ' 1.3'])(
    'rejects the invalid release %j',
    (text) => {
      expect(parseRelease(text)).toBeUndefined();
      expect(() => compareReleases(text, '1.33')).toThrow(TypeError);
    },
  );
});
