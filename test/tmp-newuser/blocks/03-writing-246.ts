import assert from 'node:assert/strict';
import { createCluster } from 'orchplane';
import { Namespace } from 'orchplane/kinds';

const namespaces = createCluster().api(Namespace);
await namespaces.create({ metadata: { name: 'old' } });
await namespaces.delete('old');
const terminating = await namespaces.get('old');
assert.equal(terminating.status.phase, 'Terminating');

await namespaces.subresource('finalize').update('old', { ...terminating, spec: { finalizers: [] } });
assert.equal(await namespaces.find('old'), undefined);
export {};
