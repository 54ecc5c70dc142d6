/** Node TTL controller: the TTL annotation of nodes. */
import { nodeTtl } from 'orchplane/controllers';
import { Node } from 'orchplane/kinds';
import { afterEach, expect, test } from 'vitest';
import { WorkloadWorld } from './workload-fixture.js';

let world: WorkloadWorld;
afterEach(() => world.close());

const KEY = 'node.alpha.orch.io/ttl';

async function ttls() {
  await world.cluster.settle();
  const { items } = await world.cluster.api(Node).list();
  return new Set(items.map(({ metadata }) => metadata.annotations?.[KEY]));
}

test('sets the TTL annotation of a node and restores it', async () => {
  world = new WorkloadWorld([nodeTtl()]);
  await world.node('a');
  expect(await ttls()).toEqual(new Set(['0']));
  for (const value of ['7', 'x', null]) {
    await world.cluster.api(Node).patch('a', { type: 'merge', merge: { metadata: { annotations: { [KEY]: value } } } });
    expect(await ttls()).toEqual(new Set(['0']));
  }
});

test('raises the TTL with the number of nodes and lowers it at a smaller number', async () => {
  world = new WorkloadWorld([nodeTtl()]);
  const nodes = world.cluster.api(Node);
  for (let n = 0; n < 100; n++) await nodes.create({ metadata: { name: `n${n}` } });
  expect(await ttls()).toEqual(new Set(['0']));
  await nodes.create({ metadata: { name: 'n100' } });
  expect(await ttls()).toEqual(new Set(['15']));
  for (let n = 90; n <= 100; n++) await nodes.delete(`n${n}`);
  expect(await ttls()).toEqual(new Set(['15']));
  await nodes.delete('n89');
  expect(await ttls()).toEqual(new Set(['0']));
});
