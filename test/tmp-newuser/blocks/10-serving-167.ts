import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createCluster } from 'orchplane';
import { createNodeListener } from 'orchplane/node';

const listener = createNodeListener(createCluster(), {
  tokens: { secret: { user: 'alice', groups: ['system:masters'] } }, // or bind a role to alice
});
const server = createServer((incoming, outgoing) => {
  if (!incoming.url?.startsWith('/cluster/')) return outgoing.end('hello');
  incoming.url = incoming.url.slice('/cluster'.length); // the paths of the API begin with /api and /apis
  listener(incoming, outgoing);
});
await once(server.listen(0, '127.0.0.1'), 'listening');

const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/cluster`;
const headers = { authorization: 'Bearer secret' };
const list = await fetch(`${url}/api/v1/namespaces`, { headers });
assert.equal((await list.json()).kind, 'NamespaceList');

server.close();
server.closeAllConnections(); // watches would keep it open; cluster.close() ends them as well
export {};
