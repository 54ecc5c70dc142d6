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
])('%s is %s', (version, level) => {
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

describe('the runtime configuration', () => {
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
    // The most particular key wins, in whatever order they stand.
    ['storage.orch.io/v1beta1/things=false,api/all=true', [true, false, true]],
    ['api/all=false, batch/v1=true', [true, false, false]],
  ])('%j', (config, expected) => {
    expect(served(config, [STABLE, BETA, ALPHA])).toEqual(expected);
  });

  test.each(['a/b/c/d', 'api/gamma', '/v1', 'batch/v1=maybe', 'batch/v1=true=false'])('%j is refused', (config) => {
    expect(() => served(config, [])).toThrow('orchplane: runtimeConfig');
  });

  test.each(['foo', 'nonsense/v9', 'constructor', 'btach/v1=true'])(
    'a group that nobody knows is refused: %j',
    (config) => {
      expect(() => createCluster({ runtimeConfig: config })).toThrow('unknown api group');
    },
  );

  test('is understood in both spellings of a group, whatever the cluster speaks', async () => {
    const gates = { CoordinatedLeaderElection: true };
    for (const runtimeConfig of ['coordination.k8s.io/v1beta1', 'coordination.orch.io/v1beta1']) {
      for (const dialect of ['orch', 'kubernetes'] as const) {
        const cluster = createCluster({ runtimeConfig, dialect, featureGates: gates });
        expect((await cluster.api(LeaseCandidate).list()).items).toEqual([]);
      }
    }
  });

  test('may be an object', () => {
    const features = featureGates();
    const availability = new Availability({ runtimeConfig: { 'api/beta': true }, features, dialect: orchDialect });
    expect(availability.unavailable(BETA, 'by default')).toBeUndefined();
  });
});

describe('feature gates', () => {
  test('keep a kind off until they are on', () => {
    expect(served('', [GATED])).toEqual([false]);
    expect(served('', [GATED], { MutatingAdmissionPolicy: true })).toEqual([true]);
    expect(served('', [GATED], { AllAlpha: true })).toEqual([true]);
    expect(served('', [GATED], { AllAlpha: true, MutatingAdmissionPolicy: false })).toEqual([false]);
  });

  test('must be known, and those of finished features stay on', () => {
    expect(() => createCluster({ featureGates: { Nonsense: true } })).toThrow('unrecognized feature gate: Nonsense');
    expect(() => createCluster({ featureGates: { SidecarContainers: false } })).toThrow('locked to true');
  });

  test('have no members but their own', () => {
    expect(featureGates().enabled('constructor')).toBe(false);
    expect(() => featureGates({ constructor: true } as never)).toThrow('unrecognized');
  });
});

describe('a cluster', () => {
  test('tells a client in this process why a kind is off', async () => {
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

  test('serves a kind that it was given by name, whatever its level', async () => {
    const cluster = createCluster({ kinds: [LeaseCandidate] });
    expect((await cluster.api(LeaseCandidate).list()).items).toEqual([]);
  });

  test('does not serve what was switched off, even when it is installed', async () => {
    const cluster = createCluster({ kinds: [ConfigMap], runtimeConfig: 'v1/configmaps=false' });
    await expect(cluster.api(ConfigMap).list()).rejects.toThrow('switched off');
    expect(cluster.fork().resolve({ group: '', version: 'v1', resource: 'configmaps' })).toBeUndefined();
  });

  test('of the small entry has nothing but namespaces and what it is given', async () => {
    const cluster = createBareCluster({ kinds: [ConfigMap] });
    expect((await cluster.api(Namespace).list()).items).toHaveLength(4);
    await cluster.api(ConfigMap).create({ metadata: { name: 'a' } });
    await expect(cluster.api(Role).list()).rejects.toThrow('is not installed');
  });
});
