/**
 * A watch is the raw stream of a collection's changes: it is on from the line that makes it, starts where you say, selects
 * like a list does, and tells you when it cannot go on.
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

console.log('\nFrom the version of a list on, nothing is missed and nothing comes twice');
const { items, metadata } = await configMaps.list();
assert.equal(items.length, 2);
await configMaps.delete('first'); // Before the watch begins.
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

console.log('\nSelected by label: an object that loses the label is DELETED for those who select by it');
await configMaps.create({ metadata: { name: 'web', labels: { tier: 'front' } } });
const fronts = configMaps.watch({ resourceVersion: cluster.resourceVersion, labels: { tier: 'front' } });
await configMaps.edit('web', (web) => {
  web.metadata.labels = { tier: 'back' };
});
const { value: lost } = await fronts.next();
await fronts.return();
console.log(`  ${lost.type} ${lost.object.metadata.name}, which is still there`);
assert.equal(lost.type, 'DELETED');
assert.ok(await configMaps.find('web'));

console.log('\nA watch that nobody reads falls behind, and says so');
const slow = configMaps.watch({ resourceVersion: cluster.resourceVersion });
for (let i = 1; i <= 10; i++) await configMaps.create({ metadata: { name: `noise-${i}` } });
const failure = await slow.next().catch((error) => error);
assert.ok(StatusError.is(failure, 'Expired'));
console.log(`  ${failure.code} ${failure.reason}: ${failure.message}`);
console.log('  list again and watch from there, or let an informer do it: examples/04-informer.mjs');

await cluster.close();
