import assert from 'node:assert/strict';
import { createCluster } from 'orchplane';
import { ConfigMap } from 'orchplane/kinds';

const cluster = createCluster();
const rehearsal = cluster.with({ dryRun: true, namespace: 'kube-public', fieldValidation: 'Strict' });
await rehearsal.api(ConfigMap).create({ metadata: { name: 'web' } });
assert.equal(await rehearsal.api(ConfigMap).find('web'), undefined); // nothing was stored
export {};
