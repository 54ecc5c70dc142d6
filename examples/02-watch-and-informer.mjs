/**
 * Two ways to follow a collection. A watch is the raw stream: it starts where you say and tells you when it cannot go
 * on. An informer is a copy that keeps itself up to date, whatever happens to the stream behind it.
 */
import assert from 'node:assert/strict';
import { createCluster, memoryStorage, StatusError } from 'orchplane';
import { ConfigMap } from 'orchplane/kinds';

// A short memory, so that we can see a watch fall behind.
const cluster = createCluster({ storage: memoryStorage({ history: 5 }) });
const configMaps = cluster.api(ConfigMap);

console.log('A watch without a version starts with what is there');
await configMaps.create({ metadata: { name: 'first' } });
const stop = new AbortController();
const watch = configMaps.watch({ signal: stop.signal });
await configMaps.create({ metadata: { name: 'second' } });
const seen = [];
for await (const event of watch) {
  seen.push(`${event.type} ${event.object.metadata.name}`);
  console.log(`  ${event.type} ${event.object.metadata.name}`);
  if (seen.length === 2) stop.abort(); // Ends the loop; nothing is thrown.
}
assert.deepEqual(seen, ['ADDED first', 'ADDED second']);

console.log('\nA watch that nobody reads falls behind, and says so');
const slow = configMaps.watch({ resourceVersion: cluster.resourceVersion });
for (let i = 1; i <= 10; i++) await configMaps.create({ metadata: { name: `noise-${i}` } });
const failure = await slow.next().catch((error) => error);
assert.ok(StatusError.is(failure, 'Expired'));
console.log(`  ${failure.code} ${failure.reason}: ${failure.message}`);
await configMaps.deleteCollection();

console.log('\nAn informer: a copy with indexes and subscribers');
const informer = configMaps.informer({
  indexes: { team: (config) => (config.metadata.labels?.team ? [config.metadata.labels.team] : []) },
});
await informer.synced;
const told = [];
const unsubscribe = informer.subscribe((event) => {
  told.push(`${event.type} ${event.object.metadata.name}`);
  console.log(`  told: ${event.type} ${event.object.metadata.name}`);
});
await configMaps.create({ metadata: { name: 'web', labels: { team: 'blue' } } });
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
assert.deepEqual(told, ['ADDED web', 'ADDED cart', 'MODIFIED cart', 'MODIFIED cart']);

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
