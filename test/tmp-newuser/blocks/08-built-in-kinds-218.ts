import assert from 'node:assert/strict';
import { createCluster } from 'orchplane';
import { CoreEvent, Event } from 'orchplane/kinds';

const cluster = createCluster();
await cluster.api(CoreEvent).create({
  metadata: { name: 'scheduled' },
  involvedObject: { kind: 'Pod', namespace: 'default', name: 'web' },
  message: 'a place was found',
});
assert.equal((await cluster.api(Event).get('scheduled')).note, 'a place was found');
export {};
