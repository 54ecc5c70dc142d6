import assert from 'node:assert/strict';
import { createCluster } from 'orchplane';
import { defaultAdmission, serviceAccount } from 'orchplane/admission';
import { Pod, ServiceAccount } from 'orchplane/kinds';

const cluster = createCluster({ admission: [serviceAccount, ...defaultAdmission] });
const input = { metadata: { name: 'web' }, spec: { containers: [{ name: 'web', image: 'nginx' }] } };
await assert.rejects(cluster.api(Pod).create(input), /error looking up service account default\/default/);

await cluster.api(ServiceAccount).create({ metadata: { name: 'default' } });
const pod = await cluster.api(Pod).create(input);
assert.equal(pod.spec.serviceAccountName, 'default');
assert.match(pod.spec.volumes?.[0]?.name ?? '', /^kube-api-access-/); // and the token is mounted
export {};
