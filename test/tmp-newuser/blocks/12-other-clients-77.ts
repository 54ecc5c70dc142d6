import assert from 'node:assert/strict';
import { get } from 'node:http';
import { text } from 'node:stream/consumers';
import { createCluster } from 'orchplane';
import { createInProcessAgent } from 'orchplane/node';

const agent = createInProcessAgent(createCluster());
const list = await new Promise<string>((resolve, reject) => {
  get(`${agent.url}/api/v1/namespaces`, { agent }, (response) => resolve(text(response))).on('error', reject);
});
assert.equal(JSON.parse(list).kind, 'NamespaceList');
export {};
