/**
 * Shared informers: one per kind, with indexes that follow every change.
 */
import { type Controller, keyOf, runControllers, type SharedInformer, splitKey } from 'orchplane/controllers';
import { ConfigMap, Namespace } from 'orchplane/kinds';
import { testCluster } from 'orchplane/testing';
import { expect, test } from 'vitest';

/** A controller that passes its informer to the test. */
function probe(name: string, use: (informer: SharedInformer<typeof ConfigMap>) => void): Controller {
  return { name, needs: [ConfigMap], start: (context) => use(context.informer(ConfigMap)) };
}

async function watched() {
  const cluster = testCluster();
  const informers: SharedInformer<typeof ConfigMap>[] = [];
  const running = runControllers(cluster, [
    probe('one', (informer) => informers.push(informer)),
    probe('two', (informer) => informers.push(informer)),
  ]);
  await running.ready;
  const [informer, other] = informers;
  if (informer === undefined || other === undefined) throw new Error('no informer');
  return { cluster, running, informer, other, configMaps: cluster.api(ConfigMap) };
}

const labelled = (name: string, team: string) => ({ metadata: { name, labels: { team } } });

test('gives two controllers the same informer of a kind', async () => {
  const { informer, other } = await watched();
  expect(other).toBe(informer);
});

test('finds objects by name, key and namespace', async () => {
  const { cluster, informer, configMaps } = await watched();
  await cluster.api(Namespace).create({ metadata: { name: 'blue' } });
  await configMaps.create({ metadata: { name: 'a' } });
  await cluster.api(ConfigMap, 'blue').create({ metadata: { name: 'a' } });
  await cluster.settle();
  expect(informer.get('a', 'blue')?.metadata.namespace).toBe('blue');
  expect(informer.at('default/a')?.metadata.namespace).toBe('default');
  expect(informer.at('red/a')).toBeUndefined();
  expect(informer.list('blue').map(keyOf)).toEqual(['blue/a']);
  expect(informer.list('red')).toEqual([]);
  expect(informer.list().length).toBeGreaterThanOrEqual(2);
});

test('updates an index on additions, key changes, deletions and recreations', async () => {
  const { cluster, informer, configMaps } = await watched();
  await configMaps.create(labelled('a', 'red'));
  await cluster.settle();
  const byTeam = informer.index('team', ({ metadata }) => (metadata.labels?.['team'] ?? '').split('-').filter(Boolean));
  const names = (team: string) => byTeam(team).map(({ metadata }) => metadata.name);
  expect(names('red')).toEqual(['a']);

  await configMaps.create(labelled('b', 'red-blue'));
  await configMaps.create(labelled('c', 'red'));
  await cluster.settle();
  expect([names('red'), names('blue')]).toEqual([['a', 'b', 'c'], ['b']]);

  await configMaps.edit('b', (draft) => {
    draft.metadata.labels = { team: 'blue' };
  });
  await configMaps.edit('a', (draft) => {
    draft.data = { still: 'red' };
  });
  await cluster.settle();
  expect([names('red'), names('blue')]).toEqual([['a', 'c'], ['b']]);
  expect(byTeam('red')[0]?.data).toEqual({ still: 'red' });

  await configMaps.delete('a');
  await configMaps.delete('c');
  await configMaps.create(labelled('c', 'blue'));
  await cluster.settle();
  expect([names('red'), names('blue')]).toEqual([[], ['b', 'c']]);
  expect(byTeam('missing')).toEqual([]);
});

test('returns the existing index for a known name', async () => {
  const { informer } = await watched();
  const index = informer.index('team', () => ['x']);
  expect(informer.index('team', () => ['y'])).toBe(index);
});

test('finds the objects of a controlling owner by uid and ignores plain owners', async () => {
  const { cluster, informer, configMaps } = await watched();
  const owner = await configMaps.create({ metadata: { name: 'owner' } });
  const reference = { apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: owner.metadata.uid };
  await configMaps.create({ metadata: { name: 'child', ownerReferences: [{ ...reference, controller: true }] } });
  await configMaps.create({ metadata: { name: 'friend', ownerReferences: [reference] } });
  await cluster.settle();
  expect(informer.controlledBy(owner).map(({ metadata }) => metadata.name)).toEqual(['child']);
});

test('reports existing objects to a late subscriber, then changes', async () => {
  const { cluster, informer, configMaps } = await watched();
  await configMaps.create({ metadata: { name: 'a' } });
  await cluster.settle();
  const notified: string[] = [];
  const undo = informer.onKey((key, { type }) => void (key === 'default/a' && notified.push(`${type} ${key}`)));
  expect(notified).toEqual(['ADDED default/a']);
  await configMaps.edit('a', (draft) => {
    draft.data = { x: '1' };
  });
  await cluster.settle();
  undo();
  await configMaps.delete('a');
  await cluster.settle();
  expect(notified).toEqual(['ADDED default/a', 'MODIFIED default/a']);
});

test('splits keys into the parts that keyOf joins', () => {
  expect(splitKey('ns/name')).toEqual({ namespace: 'ns', name: 'name' });
  expect(splitKey('name')).toEqual({ name: 'name' });
});
