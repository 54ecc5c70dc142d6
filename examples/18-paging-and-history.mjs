/**
 * Reading at a version: pages of one version, expired continue tokens, lists at an exact version, and forks.
 */
import assert from 'node:assert/strict';
import { StatusError } from 'orchplane';
import { ConfigMap } from 'orchplane/kinds';
import { testCluster } from 'orchplane/testing';

const cluster = testCluster();
const configMaps = cluster.api(ConfigMap);
for (const name of ['a', 'b', 'c', 'd', 'e']) await configMaps.create({ metadata: { name }, data: { size: 's' } });

console.log('All pages are of one version, regardless of writes in between');
const pages = [];
for await (const page of configMaps.pages({ pageSize: 2 })) {
  const { resourceVersion, remainingItemCount = 0 } = page.metadata;
  console.log(`  version ${resourceVersion}: ${namesOf(page)}, ${remainingItemCount} to come`);
  pages.push(namesOf(page));
  // These writes have later versions than the list.
  if (pages.length === 1) {
    await configMaps.delete('d');
    await configMaps.create({ metadata: { name: 'aa' } });
  }
}
assert.deepEqual(pages, ['a b', 'c d', 'e']);

console.log('\nA token is valid for five minutes');
const first = await configMaps.list({ limit: 2 });
await cluster.clock.advance(5 * 60_000 + 1);
const expired = await configMaps.list({ limit: 2, continue: first.metadata.continue }).catch((error) => error);
assert.ok(StatusError.is(expired, 'Expired'));
console.log(`  ${expired.code} ${expired.reason}, with a token to continue at the current version`);
const rest = await configMaps.list({ continue: expired.status.metadata.continue });
console.log(`  the rest at the current version: ${namesOf(rest)}`);
assert.equal(namesOf(rest), 'b c e');

console.log('\nA list at an exact version');
const then = cluster.resourceVersion;
await configMaps.edit('a', (a) => {
  a.data = { size: 'xl' };
});
await configMaps.delete('b');
const exact = await configMaps.list({ resourceVersion: then, resourceVersionMatch: 'Exact' });
const now = await configMaps.list();
console.log(`  version ${exact.metadata.resourceVersion}: ${namesOf(exact)}; a is ${exact.items[0].data.size}`);
console.log(`  version ${now.metadata.resourceVersion}: ${namesOf(now)}; a is ${now.items[0].data.size}`);
assert.equal(namesOf(exact), 'a aa b c e');
assert.equal(exact.items[0].data.size, 's');
assert.equal(namesOf(now), 'a aa c e');

await cluster.clock.advance(5 * 60_000 + 1);
const tooOld = await configMaps.list({ resourceVersion: then, resourceVersionMatch: 'Exact' }).catch((error) => error);
assert.ok(StatusError.is(tooOld, 'Expired'));
console.log(`  five minutes later: ${tooOld.code} ${tooOld.message}`);

console.log('\nA fork shares only the past with the original');
const fork = cluster.fork();
await fork.api(ConfigMap).deleteCollection();
await configMaps.create({ metadata: { name: 'z' } });
console.log(`  the fork: ${namesOf(await fork.api(ConfigMap).list()) || 'empty'}`);
console.log(`  the original: ${namesOf(await configMaps.list())}`);
assert.equal((await fork.api(ConfigMap).list()).items.length, 0);
assert.equal(namesOf(await configMaps.list()), 'a aa c e z');

await fork.close();
await cluster.close();

function namesOf(list) {
  return list.items.map((item) => item.metadata.name).join(' ');
}
