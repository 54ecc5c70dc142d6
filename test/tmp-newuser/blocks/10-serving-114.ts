import assert from 'node:assert/strict';
import { get } from 'node:https';
import { createCluster } from 'orchplane';
import { serve } from 'orchplane/node';

const server = await serve(createCluster(), { tls: true, token: 'secret' });
const status = await new Promise<number | undefined>((resolve, reject) => {
  const options = { ca: server.caCertificate, agent: false, headers: { authorization: 'Bearer secret' } };
  get(`${server.url}/api/v1/namespaces`, options, (response) => resolve(response.resume().statusCode)).on('error', reject);
});
assert.equal(status, 200);
await server.close();
export {};
