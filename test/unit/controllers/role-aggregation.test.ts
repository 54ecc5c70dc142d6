/** The rules of roles that gather those of others. */
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
const gathering = (name: string, ...labels: Record<string, string>[]) =>
  cluster.api(ClusterRole).create({
    metadata: { name },
    aggregationRule: { clusterRoleSelectors: labels.map((matchLabels) => ({ matchLabels })) },
  });
const resourcesOf = async (name: string) => {
  await cluster.settle();
  return (await cluster.api(ClusterRole).get(name)).rules?.flatMap(({ resources }) => resources ?? []);
};

test('it has the rules of all that match, by selector and then by name, and none twice', async () => {
  await role('z', { a: '1' }, 'pods');
  await role('b', { a: '1' }, 'secrets', 'pods');
  await role('a', { b: '1' }, 'nodes', 'secrets');
  await gathering('all', { a: '1' }, { b: '1' });
  expect(await resourcesOf('all')).toEqual(['secrets', 'pods', 'nodes']);
});

test('what comes, changes and goes shows in it', async () => {
  await gathering('all', { a: '1' });
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

test('it is written by server-side apply, under a manager of its own, over what others wrote', async () => {
  await role('one', { a: '1' }, 'pods');
  await gathering('all', { a: '1' });
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

test('a role that stops to gather keeps what it had', async () => {
  await role('one', { a: '1' }, 'pods');
  await gathering('all', { a: '1' });
  await cluster.settle();
  await cluster.api(ClusterRole).edit('all', (draft) => {
    delete draft.aggregationRule;
  });
  await cluster.api(ClusterRole).delete('one');
  expect(await resourcesOf('all')).toEqual(['pods']);
});

test('roles that gather gatherers come to rest, even in a circle', async () => {
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

test('nothing is written when nothing changes', async () => {
  await role('one', { a: '1' }, 'pods');
  await gathering('all', { a: '1' });
  await cluster.settle();
  const { resourceVersion } = (await cluster.api(ClusterRole).get('all')).metadata;
  await cluster.api(ClusterRole).edit('one', (draft) => {
    draft.metadata.annotations = { seen: 'yes' };
  });
  await role('other', { c: '1' }, 'secrets');
  await cluster.settle();
  expect((await cluster.api(ClusterRole).get('all')).metadata.resourceVersion).toBe(resourceVersion);
});

test('the bootstrap roles are filled in, and what is stored is what authorization would gather', async () => {
  const { items } = await cluster.api(ClusterRole).list();
  const roles = items as unknown as readonly ApiObject[];
  for (const name of ['admin', 'edit', 'view']) {
    const stored = items.find(({ metadata }) => metadata.name === name);
    expect(stored?.rules?.length).toBeGreaterThan(0);
    const words = (rules: readonly unknown[]) => rules.map((one) => JSON.stringify(one)).sort();
    expect(words(stored?.rules ?? [])).toEqual(words(rulesOf(stored as unknown as ApiObject, () => roles)));
  }
});
