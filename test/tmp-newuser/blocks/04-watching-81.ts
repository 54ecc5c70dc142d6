import assert from 'node:assert/strict';
import { createCluster } from 'orchplane';
import { ConfigMap } from 'orchplane/kinds';

const cluster = createCluster();
await cluster.api(ConfigMap).create({ metadata: { name: 'web', labels: { team: 'blue' } } });

const informer = cluster.all(ConfigMap).informer({
  indexes: { team: (config) => [config.metadata.labels?.['team'] ?? 'none'] },
});
await informer.synced; // the first list is in

assert.equal(informer.get('web', 'default')?.metadata.name, 'web');
assert.equal(informer.by('team', 'blue').length, 1);
assert.equal(informer.list().length, 1);

const unsubscribe = informer.subscribe((event) => console.log(event.type, event.object.metadata.name));
unsubscribe();
informer.close();
export {};
