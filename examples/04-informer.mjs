/**
 * An informer is a local copy of a collection that stays up to date, also when its watch ends. It has indexes and
 * subscribers.
 */
import assert from 'node:assert/strict';
import { createCluster } from 'orchplane';
import { ConfigMap } from 'orchplane/kinds';

const cluster = createCluster();
const configMaps = cluster.api(ConfigMap);
await configMaps.create({ metadata: { name: 'web', labels: { team: 'blue' } } });

console.log('A copy with indexes and subscribers');
const informer = configMaps.informer({
  indexes: { team: (config) => (config.metadata.labels?.team ? [config.metadata.labels.team] : []) },
});
await informer.synced; // The first list has been read.
assert.deepEqual(namesOf(informer.snapshot()), ['web']);

const reported = [];
const unsubscribe = informer.subscribe((event) => {
  reported.push(`${event.type} ${event.object.metadata.name}`);
  console.log(`  told: ${event.type} ${event.object.metadata.name}`);
});
await configMaps.create({ metadata: { name: 'cart', labels: { team: 'red' } } });
const snapshot = cluster.snapshot();
await configMaps.edit('cart', (cart) => {
  cart.metadata.labels = { team: 'blue' };
});
await until(() => informer.by('team', 'blue').length === 2);
console.log(`  team blue has ${namesOf(informer.by('team', 'blue'))}`);
assert.deepEqual(namesOf(informer.by('team', 'blue')), ['cart', 'web']);
assert.equal(informer.get('cart'), await configMaps.get('cart'), 'the same object that the server stores');
assert.equal(informer.snapshot(), informer.snapshot(), 'the same array until something changes');

console.log('\nIt continues when its watch ends: here, because the cluster is restored');
cluster.restore(snapshot);
await until(() => informer.by('team', 'red').length === 1);
console.log(`  team blue has ${namesOf(informer.by('team', 'blue'))}, team red ${namesOf(informer.by('team', 'red'))}`);
assert.deepEqual(reported, ['ADDED cart', 'MODIFIED cart', 'MODIFIED cart']);

unsubscribe();
informer.close();
await cluster.close();

function namesOf(items) {
  return items.map((item) => item.metadata.name).sort();
}

/** Waits for a condition: an informer receives a change shortly after the response to the write. */
async function until(condition) {
  for (let turn = 0; !condition(); turn++) {
    assert.ok(turn < 1000, 'it should have happened by now');
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}
