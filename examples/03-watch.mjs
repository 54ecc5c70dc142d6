/**
 * Watches: a stream of changes that starts at a version, takes the selectors of a list, and ends with Expired when it
 * falls behind.
 */
import assert from 'node:assert/strict';
import { createCluster, memoryStorage, StatusError } from 'orchplane';
import { ConfigMap } from 'orchplane/kinds';

// A short history, so that a watch can fall behind.
const cluster = createCluster({ storage: memoryStorage({ history: 5 }) });
const configMaps = cluster.api(ConfigMap);

console.log('A watch without a version starts with the existing objects');
await configMaps.create({ metadata: { name: 'first' } });
const stop = new AbortController();
const watch = configMaps.watch({ signal: stop.signal });
await configMaps.create({ metadata: { name: 'second' } });
const seen = [];
for await (const event of watch) {
  seen.push(`${event.type} ${event.object.metadata.name}`);
  console.log(`  ${event.type} ${event.object.metadata.name}`);
  if (seen.length === 2) stop.abort(); // Ends the loop without an error.
}
assert.deepEqual(seen, ['ADDED first', 'ADDED second']);

console.log('\nA watch from the version of a list misses nothing and repeats nothing');
const { items, metadata } = await configMaps.list();
assert.equal(items.length, 2);
await configMaps.delete('first'); // Before the watch starts.
const later = configMaps.watch({ resourceVersion: metadata.resourceVersion });
await configMaps.edit('second', (second) => {
  second.data = { size: 'm' };
});
for (const expected of ['DELETED first', 'MODIFIED second']) {
  const { value: event } = await later.next();
  console.log(`  ${event.type} ${event.object.metadata.name}`);
  assert.equal(`${event.type} ${event.object.metadata.name}`, expected);
}
await later.return();

console.log('\nWith a label selector, an object that loses the label is reported as DELETED');
await configMaps.create({ metadata: { name: 'web', labels: { tier: 'front' } } });
const fronts = configMaps.watch({ resourceVersion: cluster.resourceVersion, labels: { tier: 'front' } });
await configMaps.edit('web', (web) => {
  web.metadata.labels = { tier: 'back' };
});
const { value: lost } = await fronts.next();
await fronts.return();
console.log(`  ${lost.type} ${lost.object.metadata.name}, which still exists`);
assert.equal(lost.type, 'DELETED');
assert.ok(await configMaps.find('web'));

console.log('\nA watch that is not read falls behind and ends with Expired');
const slow = configMaps.watch({ resourceVersion: cluster.resourceVersion });
for (let i = 1; i <= 10; i++) await configMaps.create({ metadata: { name: `noise-${i}` } });
const failure = await slow.next().catch((error) => error);
assert.ok(StatusError.is(failure, 'Expired'));
console.log(`  ${failure.code} ${failure.reason}: ${failure.message}`);
console.log('  list again and watch from there, or use an informer: examples/04-informer.mjs');

await cluster.close();
