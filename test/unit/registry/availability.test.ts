/** Which versions of which kinds are served. spec: Levels, Groups and paths */
import { createCluster, StatusError } from 'orchplane';
import { createCluster as createBareCluster } from 'orchplane/core';
import { ConfigMap, LeaseCandidate, Namespace, Role } from 'orchplane/kinds';
import { describe, expect, test } from 'vitest';
import { featureGates } from '../../../src/kinds/feature-gates.js';
import type { Kind } from '../../../src/kinds/kind.js';
import { orchDialect } from '../../../src/meta/dialect.js';
import { Availability, stabilityOf } from '../../../src/registry/availability.js';

test.each([
  ['v1', 'ga'],
  ['v2', 'ga'],
  ['v1beta1', 'beta'],
  ['v2alpha3', 'alpha'],
  ['v1beta', 'ga'],
])('classifies the version %s as %s', (version, level) => {
  expect(stabilityOf(version)).toBe(level);
});

function kind(group: string, version: string, plural = 'things', gate?: string): Kind {
  return {
    group,
    version,
    kind: 'Thing',
    names: { plural },
    ...(gate === undefined ? {} : { gate }),
  } as unknown as Kind;
}

const STABLE = kind('batch', 'v1');
const BETA = kind('storage.orch.io', 'v1beta1');
const ALPHA = kind('storage.orch.io', 'v1alpha1');
const GATED = kind('batch', 'v1', 'things', 'MutatingAdmissionPolicy');

function served(runtimeConfig: string, kinds: readonly Kind[], gates = {}): boolean[] {
  const availability = new Availability({ runtimeConfig, features: featureGates(gates), dialect: orchDialect });
  return kinds.map((candidate) => availability.unavailable(candidate, 'by default') === undefined);
}

describe('runtimeConfig', () => {
  test.each([
    ['', [true, false, false]],
    ['api/all', [true, true, true]],
    ['api/all=true', [true, true, true]],
    ['api/all=false', [false, false, false]],
    ['api/beta=true', [true, true, false]],
    ['api/alpha', [true, false, true]],
    ['api/ga=false', [false, false, false]],
    ['batch/v1=false', [false, false, false]],
    ['storage.orch.io/v1beta1', [true, true, false]],
    ['storage.orch.io/v1beta1/things', [true, true, false]],
    ['storage.orch.io/v1beta1/others', [true, false, false]],
    // The most specific key wins in any order.
    ['storage.orch.io/v1beta1/things=false,api/all=true', [true, false, true]],
    ['api/all=false, batch/v1=true', [true, false, false]],
  ])('enables kinds by the configuration %j', (config, expected) => {
    expect(served(config, [STABLE, BETA, ALPHA])).toEqual(expected);
  });

  test.each(['a/b/c/d', 'api/gamma', '/v1', 'batch/v1=maybe', 'batch/v1=true=false'])(
    'rejects the configuration %j',
    (config) => {
      expect(() => served(config, [])).toThrow('orchplane: runtimeConfig');
    },
  );

  test.each(['foo', 'nonsense/v9', 'constructor', 'btach/v1=true'])('rejects the unknown group in %j', (config) => {
    expect(() => createCluster({ runtimeConfig: config })).toThrow('unknown api group');
  });

  test('accepts both spellings of a group in any dialect', async () => {
    const gates = { CoordinatedLeaderElection: true };
    for (const runtimeConfig of ['coordination.k8s.io/v1beta1', 'coordination.orch.io/v1beta1']) {
      for (const dialect of ['orch', 'kubernetes'] as const) {
        const cluster = createCluster({ runtimeConfig, dialect, featureGates: gates });
        expect((await cluster.api(LeaseCandidate).list()).items).toEqual([]);
      }
    }
  });

  test('accepts an object as runtimeConfig', () => {
    const features = featureGates();
    const availability = new Availability({ runtimeConfig: { 'api/beta': true }, features, dialect: orchDialect });
    expect(availability.unavailable(BETA, 'by default')).toBeUndefined();
  });
});

describe('feature gates of kinds', () => {
  test('serves a gated kind only with its feature gate', () => {
    expect(served('', [GATED])).toEqual([false]);
    expect(served('', [GATED], { MutatingAdmissionPolicy: true })).toEqual([true]);
    expect(served('', [GATED], { AllAlpha: true })).toEqual([true]);
    expect(served('', [GATED], { AllAlpha: true, MutatingAdmissionPolicy: false })).toEqual([false]);
  });

  test('rejects unknown gates and disabling a locked gate', () => {
    expect(() => createCluster({ featureGates: { Nonsense: true } })).toThrow('unrecognized feature gate: Nonsense');
    expect(() => createCluster({ featureGates: { SidecarContainers: false } })).toThrow('locked to true');
  });

  test('does not treat inherited property names as gates', () => {
    expect(featureGates().enabled('constructor')).toBe(false);
    expect(() => featureGates({ constructor: true } as never)).toThrow('unrecognized');
  });
});

describe('availability of kinds in a cluster', () => {
  test('reports why a kind is not served to an in-process client', async () => {
    const cluster = createCluster();
    const error: unknown = await cluster
      .api(LeaseCandidate)
      .list()
      .catch((failure: unknown) => failure);
    expect(StatusError.is(error, 'NotFound')).toBe(true);
    expect((error as Error).message).toContain(
      "LeaseCandidate in coordination.orch.io/v1beta1 is beta and off by default (runtimeConfig: 'coordination.orch.io/v1beta1=true')",
    );
  });

  test('serves a kind of any stability that is given explicitly', async () => {
    const cluster = createCluster({ kinds: [LeaseCandidate] });
    expect((await cluster.api(LeaseCandidate).list()).items).toEqual([]);
  });

  test('does not serve an installed kind that runtimeConfig disables', async () => {
    const cluster = createCluster({ kinds: [ConfigMap], runtimeConfig: 'v1/configmaps=false' });
    await expect(cluster.api(ConfigMap).list()).rejects.toThrow('switched off');
    expect(cluster.fork().resolve({ group: '', version: 'v1', resource: 'configmaps' })).toBeUndefined();
  });

  test('serves only namespaces and the given kinds from the small entry point', async () => {
    const cluster = createBareCluster({ kinds: [ConfigMap] });
    expect((await cluster.api(Namespace).list()).items).toHaveLength(4);
    await cluster.api(ConfigMap).create({ metadata: { name: 'a' } });
    await expect(cluster.api(Role).list()).rejects.toThrow('is not installed');
  });
});
