import assert from 'node:assert/strict';
import { get } from 'node:https';
import { createCluster } from 'orchplane';
import { ClusterRoleBinding } from 'orchplane/kinds';
import { serve } from 'orchplane/node';

const cluster = createCluster();
await cluster.api(ClusterRoleBinding).create({
  metadata: { name: 'developers' },
  roleRef: { apiGroup: 'rbac.authorization.orch.io', kind: 'ClusterRole', name: 'view' },
  subjects: [{ kind: 'Group', name: 'dev' }],
});
const server = await serve(cluster, { tls: true, clientCa: true });
const { cert, key } = await server.createClientCertificate({ user: 'alice', groups: ['dev'] });

const ask = (path: string) =>
  new Promise<number | undefined>((resolve, reject) => {
    const options = { ca: server.caCertificate, cert, key, agent: false };
    get(server.url + path, options, (response) => resolve(response.resume().statusCode)).on('error', reject);
  });
assert.equal(await ask('/api/v1/namespaces/default/configmaps'), 200);
assert.equal(await ask('/api/v1/namespaces/default/secrets'), 403); // view does not show secrets
await server.close();
export {};
