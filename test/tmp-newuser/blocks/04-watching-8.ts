import assert from 'node:assert/strict';
import { createCluster } from 'orchplane';
import { ConfigMap } from 'orchplane/kinds';

const configMaps = createCluster().api(ConfigMap);
const watch = configMaps.watch({ labels: { app: 'web' } });

await configMaps.create({ metadata: { name: 'web', labels: { app: 'web' } } });
await configMaps.create({ metadata: { name: 'api', labels: { app: 'api' } } });
await configMaps.edit('web', (draft) => {
  draft.metadata.labels = { app: 'api' };
});

const seen: string[] = [];
for await (const event of watch) {
  if (event.type === 'BOOKMARK') continue; // see below; tells the compiler that there is a whole object
  seen.push(`${event.type} ${event.object.metadata.name}`);
  if (event.type === 'DELETED') break; // leaving the loop ends the watch
}
// `web` no longer has the label: for this watch, it is gone.
assert.deepEqual(seen, ['ADDED web', 'DELETED web']);
export {};
