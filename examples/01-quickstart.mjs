/**
 * A tour: a cluster in this process, objects, errors with reasons, an edit that retries after a conflict, a watch, a
 * snapshot. Run it after `npm run build`.
 */
import assert from 'node:assert/strict';
import { createCluster, StatusError } from 'orchplane';
import { ConfigMap, Namespace } from 'orchplane/kinds';

const began = performance.now();
const cluster = createCluster();
const ready = performance.now() - began;

title('A cluster in this process');
const namespaces = await cluster.api(Namespace).list();
say(`ready in ${ready.toFixed(1)} ms with the namespaces ${names(namespaces.items).join(', ')}`);
assert.deepEqual(names(namespaces.items), ['default', 'kube-node-lease', 'kube-public', 'kube-system']);

title('Create and list by label');
await cluster.api(Namespace).create({ metadata: { name: 'shop' } });
const configMaps = cluster.api(ConfigMap, 'shop');
for (const [name, tier] of [
  ['web', 'front'],
  ['cart', 'back'],
  ['search', 'back'],
]) {
  const made = await configMaps.create({ metadata: { name, labels: { tier } }, data: { replicas: '1' } });
  say(`created ${made.metadata.namespace}/${name}, version ${made.metadata.resourceVersion}, tier=${tier}`);
}
const back = await configMaps.list({ labels: { tier: 'back' } });
say(`tier=back selects ${names(back.items).join(' and ')}, read at version ${back.metadata.resourceVersion}`);
assert.deepEqual(names(back.items), ['cart', 'search']);

title('Errors have the reasons and messages of the reference server');
await refused('Invalid', () => configMaps.create({ metadata: { name: 'Not A Name' } }));
await refused('AlreadyExists', () => configMaps.create({ metadata: { name: 'web' } }));
await refused('NotFound', () => cluster.api(ConfigMap, 'nowhere').create({ metadata: { name: 'web' } }));
say(`find does not throw: ${await configMaps.find('ghost')}`);

title('Optimistic locking, with and without edit');
const stale = await configMaps.get('web');
await configMaps.edit('web', (web) => {
  web.data = { ...web.data, replicas: '2' };
});
await refused('Conflict', () => configMaps.update({ ...stale, data: { replicas: '9' } }));
// Two edits at once: the second gets a conflict, reads again and adds its change.
await Promise.all(
  ['blue', 'fast'].map((key) =>
    configMaps.edit('web', (web) => {
      web.data = { ...web.data, [key]: 'yes' };
    }),
  ),
);
const web = await configMaps.get('web');
say(`both edits are there: ${JSON.stringify(web.data)}`);
assert.deepEqual(web.data, { blue: 'yes', fast: 'yes', replicas: '2' });

title('Watch');
const watch = configMaps.watch({ resourceVersion: cluster.resourceVersion, labels: { tier: 'back' } });
await configMaps.create({ metadata: { name: 'mail', labels: { tier: 'back' } } });
await configMaps.create({ metadata: { name: 'news', labels: { tier: 'front' } } });
await configMaps.edit('cart', (cart) => {
  cart.metadata.labels = { tier: 'front' };
});
await configMaps.delete('search');
const seen = [];
for await (const event of watch) {
  seen.push(`${event.type} ${event.object.metadata.name}`);
  say(`${event.type.padEnd(8)} ${event.object.metadata.name}, version ${event.object.metadata.resourceVersion}`);
  if (seen.length === 3) break;
}
say('news never had tier=back; cart lost it, so a watch with this selector reports it as DELETED');
assert.deepEqual(seen, ['ADDED mail', 'DELETED cart', 'DELETED search']);

title('Snapshot and restore');
const snapshot = cluster.snapshot();
const { items: present } = await configMaps.list();
await configMaps.deleteCollection();
say(`deleted ${present.length} config maps; left: ${(await configMaps.list()).items.length}`);
cluster.restore(snapshot);
const restored = names((await configMaps.list()).items);
say(`restored version ${cluster.resourceVersion}; objects: ${restored.join(', ')}`);
assert.deepEqual(restored, ['cart', 'mail', 'news', 'web']);

await cluster.close();
console.log('\nAll of this was also asserted. Next: node examples/02-apply-and-conflicts.mjs');

function title(text) {
  console.log(`\n${text}`);
}

function say(text) {
  console.log(`  ${text}`);
}

function names(items) {
  return items.map((item) => item.metadata.name);
}

/** Runs a request that must fail with the given reason, and prints the start of the server's message. */
async function refused(reason, run) {
  const error = await run().then(
    () => assert.fail(`expected ${reason}`),
    (thrown) => thrown,
  );
  if (!StatusError.is(error, reason)) throw error;
  const message = error.message.length > 100 ? `${error.message.slice(0, 97)}...` : error.message;
  say(`${error.code} ${error.reason}: ${message}`);
}
