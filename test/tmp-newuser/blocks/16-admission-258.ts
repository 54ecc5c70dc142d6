import assert from 'node:assert/strict';
import { createCluster, StatusError } from 'orchplane';
import { ConfigMap, ResourceQuota } from 'orchplane/kinds';

const cluster = createCluster();
const hard = { 'count/configmaps': '1' };
await cluster.api(ResourceQuota).create({ metadata: { name: 'few' }, spec: { hard } });
await cluster.api(ResourceQuota).status.edit('few', (draft) => {
  draft.status = { hard, used: { 'count/configmaps': '0' } };
});
await cluster.api(ConfigMap).create({ metadata: { name: 'a' } });
const refused = await cluster.api(ConfigMap).create({ metadata: { name: 'b' } }).catch((error: unknown) => error);
assert.ok(StatusError.is(refused, 'Forbidden'));
assert.match(refused.message, /exceeded quota: few, requested: count\/configmaps=1, used: count\/configmaps=1/);
export {};
