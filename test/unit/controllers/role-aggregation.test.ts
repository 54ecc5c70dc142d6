/** ClusterRole aggregation controller: rules collected from other roles. */
import { clusterRoleAggregation, controllers } from 'orchplane/controllers';
import { ClusterRole } from 'orchplane/kinds';
import { type TestCluster, testCluster } from 'orchplane/testing';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { rulesOf } from '../../../src/kinds/rbac/role-rules.js';
import type { ApiObject } from '../../../src/meta/object.js';

let cluster: TestCluster;
beforeEach(async () => {
  cluster = testCluster({ controllers: controllers([clusterRoleAggregation()]) });
  await cluster.settle();
});
afterEach(async () => {
  await cluster.close();
});

const rule = (resource: string) => ({ apiGroups: [''], resources: [resource], verbs: ['get'] });
const role = (name: string, labels: Record<string, string>, ...resources: string[]) =>
  cluster.api(ClusterRole).create({ metadata: { name, labels }, rules: resources.map(rule) });
const createAggregatedRole = (name: string, ...labels: Record<string, string>[]) =>
  cluster.api(ClusterRole).create({
    metadata: { name },
    aggregationRule: { clusterRoleSelectors: labels.map((matchLabels) => ({ matchLabels })) },
  });
const resourcesOf = async (name: string) => {
  await cluster.settle();
  return (await cluster.api(ClusterRole).get(name)).rules?.flatMap(({ resources }) => resources ?? []);
};

test('collects the rules of matching roles by selector and name without duplicates', async () => {
  await role('z', { a: '1' }, 'pods');
  await role('b', { a: '1' }, 'secrets', 'pods');
  await role('a', { b: '1' }, 'nodes', 'secrets');
  await createAggregatedRole('all', { a: '1' }, { b: '1' });
  expect(await resourcesOf('all')).toEqual(['secrets', 'pods', 'nodes']);
});

test('follows created, changed and deleted roles', async () => {
  await createAggregatedRole('all', { a: '1' });
  await role('one', { a: '1' }, 'pods');
  expect(await resourcesOf('all')).toEqual(['pods']);
  await cluster.api(ClusterRole).edit('one', (draft) => {
    draft.rules = [rule('events')];
  });
  expect(await resourcesOf('all')).toEqual(['events']);
  await cluster.api(ClusterRole).edit('one', (draft) => {
    draft.metadata.labels = {};
  });
  expect(await resourcesOf('all')).toEqual(undefined);
  await cluster.api(ClusterRole).edit('one', (draft) => {
    draft.metadata.labels = { a: '1' };
  });
  expect(await resourcesOf('all')).toEqual(['events']);
  await cluster.api(ClusterRole).delete('one');
  expect(await resourcesOf('all')).toEqual(undefined);
});

test('writes the rules with server-side apply over changes of other clients', async () => {
  await role('one', { a: '1' }, 'pods');
  await createAggregatedRole('all', { a: '1' });
  await cluster.settle();
  await cluster.api(ClusterRole).edit('all', (draft) => {
    draft.rules = [rule('nodes')];
  });
  expect(await resourcesOf('all')).toEqual(['pods']);
  const { metadata } = await cluster.api(ClusterRole).get('all');
  const owners = metadata.managedFields?.map(({ manager, operation, fieldsV1 }) => ({ manager, operation, fieldsV1 }));
  expect(owners).toContainEqual({
    manager: 'clusterrole-aggregation-controller',
    operation: 'Apply',
    fieldsV1: { 'f:rules': {} },
  });
});

test('keeps the rules when the aggregation rule is removed', async () => {
  await role('one', { a: '1' }, 'pods');
  await createAggregatedRole('all', { a: '1' });
  await cluster.settle();
  await cluster.api(ClusterRole).edit('all', (draft) => {
    delete draft.aggregationRule;
  });
  await cluster.api(ClusterRole).delete('one');
  expect(await resourcesOf('all')).toEqual(['pods']);
});

test('settles when aggregated roles select each other', async () => {
  const labelled = (name: string, own: string, other: string) =>
    cluster.api(ClusterRole).create({
      metadata: { name, labels: { [own]: '1' } },
      aggregationRule: { clusterRoleSelectors: [{ matchLabels: { [other]: '1' } }, { matchLabels: { leaf: '1' } }] },
    });
  await labelled('left', 'left', 'right');
  await labelled('right', 'right', 'left');
  await role('leaf', { leaf: '1' }, 'pods');
  expect(await resourcesOf('left')).toEqual(['pods']);
  expect(await resourcesOf('right')).toEqual(['pods']);
});

test('writes no role when nothing changes', async () => {
  await role('one', { a: '1' }, 'pods');
  await createAggregatedRole('all', { a: '1' });
  await cluster.settle();
  const { resourceVersion } = (await cluster.api(ClusterRole).get('all')).metadata;
  await cluster.api(ClusterRole).edit('one', (draft) => {
    draft.metadata.annotations = { seen: 'yes' };
  });
  await role('other', { c: '1' }, 'secrets');
  await cluster.settle();
  expect((await cluster.api(ClusterRole).get('all')).metadata.resourceVersion).toBe(resourceVersion);
});

test('stores the same rules for bootstrap roles as the authorizer computes', async () => {
  const { items } = await cluster.api(ClusterRole).list();
  const roles = items as unknown as readonly ApiObject[];
  for (const name of ['admin', 'edit', 'view']) {
    const stored = items.find(({ metadata }) => metadata.name === name);
    expect(stored?.rules?.length).toBeGreaterThan(0);
    const sortedTexts = (rules: readonly unknown[]) => rules.map((one) => JSON.stringify(one)).sort();
    expect(sortedTexts(stored?.rules ?? [])).toEqual(sortedTexts(rulesOf(stored as unknown as ApiObject, () => roles)));
  }
});
