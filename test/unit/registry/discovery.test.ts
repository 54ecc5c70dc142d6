/** What a cluster says about the resources it serves. */
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

describe('groups', () => {
  test('the core group has its own document', () => {
    expect(coreVersions(kinds, 'cluster.local')).toEqual({
      kind: 'APIVersions',
      versions: ['v1'],
      serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress: 'cluster.local' }],
    });
  });

  test('others are listed in an order of their own, without the core group', () => {
    const { groups } = groupList(kubernetes, kubernetesDialect) as { groups: { name: string }[] };
    const names = groups.map(({ name }) => name);
    expect(names.slice(0, 3)).toEqual(['apiregistration.k8s.io', 'apps', 'events.k8s.io']);
    expect(names).not.toContain('');
  });

  test('of users come last, by name', () => {
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

  test('prefer their most stable and highest version', () => {
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

describe('resources', () => {
  test('are sorted with what is below them, and say where other kinds come from', () => {
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

  test('the core group’s list does not say its own version', () => {
    expect(Object.keys(resourceList(kinds, { group: '', version: 'v1' }) ?? {})).toEqual([
      'kind',
      'groupVersion',
      'resources',
    ]);
    expect(resourceList(kinds, { group: '', version: 'v2' })).toBeUndefined();
  });

  test('versions that are stored as one have one hash, which no dialect changes', () => {
    const hash = (list: object | undefined) =>
      (list as { resources: { name: string; storageVersionHash?: string }[] }).resources[0]?.storageVersionHash;
    const both = ['v1', 'v2'].map((version) => hash(resourceList(kinds, { group: 'autoscaling', version })));
    expect(both).toEqual(['qwQve8ut294=', 'qwQve8ut294=']);
    expect(hash(resourceList(kubernetes, { group: 'coordination.k8s.io', version: 'v1' }))).toBe('gqkMMb/YqFM=');
    expect(hash(resourceList(kinds, { group: 'coordination.orch.io', version: 'v1' }))).toBe('gqkMMb/YqFM=');
  });
});

describe('everything at once', () => {
  test('names the kinds of a version without repeating it', () => {
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

  test('the core group has no name', () => {
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

describe('facts about served resources', () => {
  const all = everything();
  const facts = readVectors('resources') as readonly Fact[];

  test.each(facts.map((fact) => [`${fact.group}/${fact.version} ${fact.resource}`, fact] as const))(
    'agree on %s',
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
