import assert from 'node:assert/strict';
import { createCluster } from 'orchplane';
import { ConfigMap } from 'orchplane/kinds';

const configMaps = createCluster().api(ConfigMap);
for (let i = 1; i <= 5; i++) await configMaps.create({ metadata: { name: `c${i}` } });

const sizes: number[] = [];
for await (const page of configMaps.pages({ pageSize: 2 })) {
  sizes.push(page.items.length);
  await configMaps.deleteCollection(); // of no consequence for the pages to come
}
assert.deepEqual(sizes, [2, 2, 1]);

// By hand: `limit`, and the token of the page before.
await configMaps.create({ metadata: { name: 'x' } });
await configMaps.create({ metadata: { name: 'y' } });
const first = await configMaps.list({ limit: 1 });
assert.equal(first.metadata.remainingItemCount, 1);
const second = await configMaps.list({ limit: 1, continue: first.metadata.continue ?? '' });
assert.equal(second.items[0]?.metadata.name, 'y');
export {};
