/**
 * An informer is a copy of a collection that keeps itself up to date, whatever happens to the stream behind it: read
 * from it as often as you like, look things up by an index, and be told of changes.
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
await informer.synced; // What was there is here now.
assert.deepEqual(namesOf(informer.snapshot()), ['web']);

const told = [];
const unsubscribe = informer.subscribe((event) => {
  told.push(`${event.type} ${event.object.metadata.name}`);
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
assert.equal(informer.get('cart'), await configMaps.get('cart'), 'the very object that the server holds');
assert.equal(informer.snapshot(), informer.snapshot(), 'the same array until something changes');

console.log('\nIt survives what ends a watch: here, the cluster goes back in time');
cluster.restore(snapshot);
await until(() => informer.by('team', 'red').length === 1);
console.log(`  team blue has ${namesOf(informer.by('team', 'blue'))}, team red ${namesOf(informer.by('team', 'red'))}`);
assert.deepEqual(told, ['ADDED cart', 'MODIFIED cart', 'MODIFIED cart']);

unsubscribe();
informer.close();
await cluster.close();

function namesOf(items) {
  return items.map((item) => item.metadata.name).sort();
}

/** An informer hears of a change a moment after the write was answered. */
async function until(condition) {
  for (let turn = 0; !condition(); turn++) {
    assert.ok(turn < 1000, 'it should have happened by now');
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}
