/** Discovery documents: groups, resources and aggregated discovery. */
import { createCluster } from 'orchplane';
import { defineKind } from 'orchplane/core';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { kubernetesDialect, orchDialect } from '../../../src/meta/dialect.js';
import {
  coreVersions,
  discoveryList,
  groupDocument,
  groupList,
  resourceList,
} from '../../../src/registry/discovery.js';
import { readVectors } from '../../vectors/read.js';

const kinds = createCluster().kinds();
const kubernetes = createCluster({ dialect: 'kubernetes' }).kinds();

describe('discovery of groups', () => {
  test('returns a separate document for the core group', () => {
    expect(coreVersions(kinds, 'cluster.local')).toEqual({
      kind: 'APIVersions',
      versions: ['v1'],
      serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress: 'cluster.local' }],
    });
  });

  test('lists the other groups in the order of the reference server', () => {
    const { groups } = groupList(kubernetes, kubernetesDialect) as { groups: { name: string }[] };
    const names = groups.map(({ name }) => name);
    expect(names.slice(0, 3)).toEqual(['apiregistration.k8s.io', 'apps', 'events.k8s.io']);
    expect(names).not.toContain('');
  });

  test('lists user-defined groups last, by name', () => {
    const cluster = createCluster();
    for (const group of ['zoo.example.com', 'art.example.com']) {
      cluster.install(
        defineKind({
          apiVersion: `${group}/v1`,
          kind: 'Thing',
          scope: 'Namespaced',
          names: { plural: 'things' },
          body: { spec: z.object({}) },
        }),
      );
    }
    const { groups } = groupList(cluster.kinds(), orchDialect) as { groups: { name: string }[] };
    expect(groups.map(({ name }) => name).slice(-2)).toEqual(['art.example.com', 'zoo.example.com']);
  });

  test('prefers the most stable and highest version of a group', () => {
    expect(groupDocument(kinds, 'autoscaling')).toEqual({
      kind: 'APIGroup',
      apiVersion: 'v1',
      name: 'autoscaling',
      versions: [
        { groupVersion: 'autoscaling/v2', version: 'v2' },
        { groupVersion: 'autoscaling/v1', version: 'v1' },
      ],
      preferredVersion: { groupVersion: 'autoscaling/v2', version: 'v2' },
    });
    expect(groupDocument(kinds, 'nope.example.com')).toBeUndefined();
  });
});

describe('discovery of resources', () => {
  test('sorts resources with their subresources and names the group of other kinds', () => {
    const list = resourceList(kinds, { group: 'apps', version: 'v1' }) as { resources: { name: string }[] };
    const names = list.resources.map(({ name }) => name);
    expect(names).toEqual([...names].sort());
    expect(list.resources.find(({ name }) => name === 'deployments/scale')).toEqual({
      name: 'deployments/scale',
      singularName: '',
      namespaced: true,
      group: 'autoscaling',
      version: 'v1',
      kind: 'Scale',
      verbs: ['get', 'patch', 'update'],
    });
  });

  test('omits the apiVersion in the list of the core group', () => {
    expect(Object.keys(resourceList(kinds, { group: '', version: 'v1' }) ?? {})).toEqual([
      'kind',
      'groupVersion',
      'resources',
    ]);
    expect(resourceList(kinds, { group: '', version: 'v2' })).toBeUndefined();
  });

  test('returns the same storage version hash for versions with one storage version in both dialects', () => {
    const hash = (list: object | undefined) =>
      (list as { resources: { name: string; storageVersionHash?: string }[] }).resources[0]?.storageVersionHash;
    const both = ['v1', 'v2'].map((version) => hash(resourceList(kinds, { group: 'autoscaling', version })));
    expect(both).toEqual(['qwQve8ut294=', 'qwQve8ut294=']);
    expect(hash(resourceList(kubernetes, { group: 'coordination.k8s.io', version: 'v1' }))).toBe('gqkMMb/YqFM=');
    expect(hash(resourceList(kinds, { group: 'coordination.orch.io', version: 'v1' }))).toBe('gqkMMb/YqFM=');
  });
});

describe('aggregated discovery', () => {
  test('omits the version in the kinds of a version', () => {
    const list = discoveryList(kubernetes, kubernetesDialect, 'apis') as unknown as {
      apiVersion: string;
      items: { metadata: { name?: string }; versions: { resources: { resource: string }[] }[] }[];
    };
    expect(list.apiVersion).toBe('apidiscovery.k8s.io/v2');
    const apps = list.items.find(({ metadata }) => metadata.name === 'apps');
    expect(apps?.versions[0]?.resources.find(({ resource }) => resource === 'deployments')).toMatchObject({
      responseKind: { group: '', version: '', kind: 'Deployment' },
      scope: 'Namespaced',
      singularResource: 'deployment',
      shortNames: ['deploy'],
      subresources: [
        { subresource: 'scale', responseKind: { group: 'autoscaling', version: 'v1', kind: 'Scale' } },
        { subresource: 'status', responseKind: { group: '', version: '', kind: 'Deployment' } },
      ],
    });
  });

  test('omits the name of the core group', () => {
    const { items } = discoveryList(kinds, orchDialect, 'api');
    expect(items).toHaveLength(1);
    expect(items[0]?.metadata).toEqual({ creationTimestamp: null });
  });
});

interface Fact {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly kind: string;
  readonly singular: string;
  readonly scope: string;
  readonly verbs: readonly string[];
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  readonly subresources?: readonly {
    readonly name: string;
    readonly kind: string;
    readonly verbs: readonly string[];
  }[];
}

describe('discovery and reference facts', () => {
  const all = everything();
  const facts = readVectors('resources') as readonly Fact[];

  test.each(facts.map((fact) => [`${fact.group}/${fact.version} ${fact.resource}`, fact] as const))(
    'matches the facts about %s',
    (_name, fact) => {
      const list = resourceList(all, { group: fact.group, version: fact.version }) as {
        resources: { name: string; kind: string; singularName: string; namespaced: boolean; verbs: string[] }[];
      };
      const main = list.resources.find(({ name }) => name === fact.resource);
      expect(main).toMatchObject({
        kind: fact.kind,
        singularName: fact.singular,
        namespaced: fact.scope === 'Namespaced',
        verbs: fact.verbs,
        ...(fact.shortNames === undefined ? {} : { shortNames: fact.shortNames }),
        ...(fact.categories === undefined ? {} : { categories: fact.categories }),
      });
      const below = list.resources
        .filter(({ name }) => name.startsWith(`${fact.resource}/`))
        .map(({ name, kind, verbs }) => ({ name: name.slice(fact.resource.length + 1), kind, verbs }));
      expect(below).toEqual((fact.subresources ?? []).map(({ name, kind, verbs }) => ({ name, kind, verbs })));
    },
  );
});

function everything() {
  const featureGates = {
    AllBeta: true,
    ClusterTrustBundle: true,
    StorageVersionMigrator: true,
    DynamicResourceAllocation: true,
  };
  return createCluster({ runtimeConfig: 'api/all=true', featureGates }).kinds();
}
