/**
 * A cluster over HTTP. The handler is a function from Request to Response, so most tests need no socket. The second part
 * connects it to node:http manually, in about twenty lines that you can copy.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { Readable } from 'node:stream';
import { createCluster } from 'orchplane';
import { createFetchHandler } from 'orchplane/http';
import { ConfigMap } from 'orchplane/kinds';

// The dialect that unmodified client libraries expect.
const cluster = createCluster({ dialect: 'kubernetes' });
const handler = createFetchHandler(cluster, {
  tokens: { 'admin-token': { user: 'admin', groups: ['system:masters'] } },
});

console.log('Without a socket');
const collection = 'http://cluster/api/v1/namespaces/default/configmaps';
const created = await call('POST', collection, { metadata: { name: 'web' }, data: { size: 'm' }, dta: {} });
assert.equal(created.status, 201);
assert.equal(created.headers.get('warning'), '299 - "unknown field \\"dta\\""');
const patched = await call('PATCH', `${collection}/web`, { data: { size: 'l' } }, 'application/merge-patch+json');
assert.deepEqual(patched.body.data, { size: 'l' });
const refused = await call('POST', `${collection}?fieldValidation=Strict`, { metadata: { name: 'x' }, dta: {} });
assert.equal(refused.status, 400);
const absent = await call('GET', `${collection}/ghost`);
assert.equal(absent.body.reason, 'NotFound');
const unauthorized = await handler(new Request(collection, { headers: { authorization: 'Bearer guessed' } }));
assert.equal(unauthorized.status, 401);

console.log('\nBehind node:http');
const server = createServer((incoming, outgoing) => {
  answer(incoming, outgoing).catch((error) => {
    // Methods and URLs that Request rejects, and clients that disconnected.
    if (!outgoing.headersSent) outgoing.writeHead(400);
    outgoing.end(outgoing.writableEnded ? undefined : String(error));
  });
});

async function answer(incoming, outgoing) {
  const { method = 'GET', url = '/', headers } = incoming;
  const hasBody = method !== 'GET' && method !== 'HEAD';
  // A watch must end when the client disconnects.
  const closed = new AbortController();
  outgoing.on('close', () => closed.abort());
  const request = new Request(`http://cluster${url}`, {
    method,
    headers: Object.entries(headers).map(([name, value]) => [name, String(value)]),
    signal: closed.signal,
    ...(hasBody ? { body: Readable.toWeb(incoming), duplex: 'half' } : {}),
  });
  const response = await handler(request);
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  // The headers of a watch must arrive before its first event.
  outgoing.flushHeaders();
  for await (const chunk of response.body ?? []) outgoing.write(chunk);
  outgoing.end();
}
server.listen(0, '127.0.0.1');
await once(server, 'listening');
const origin = `http://127.0.0.1:${server.address().port}`;

const authorization = 'Bearer admin-token';
const query = 'watch=true&timeoutSeconds=1&allowWatchBookmarks=true';
const watching = await fetch(`${origin}/api/v1/namespaces/default/configmaps?${query}`, { headers: { authorization } });
// The typed client and the socket use the same cluster.
await cluster.api(ConfigMap).create({ metadata: { name: 'cart' } });
const lines = (await watching.text())
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line));
for (const { type, object } of lines)
  console.log(`  ${type} ${object.metadata.name ?? object.metadata.resourceVersion}`);
assert.deepEqual(
  lines.filter(({ type }) => type === 'ADDED').map(({ object }) => object.metadata.name),
  ['web', 'cart'],
);

server.close();
await cluster.close();
console.log('  the server is closed');

/** Calls the handler and prints one line about it. */
async function call(method, url, body, type = 'application/json') {
  const request = new Request(url, {
    method,
    headers: { authorization: 'Bearer admin-token', 'content-type': type },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const response = await handler(request);
  const answer = await response.json();
  const what =
    answer.kind === 'Status' ? `${answer.reason}: ${answer.message}` : `${answer.kind} ${answer.metadata.name}`;
  console.log(`  ${method.padEnd(5)} ${new URL(url).pathname} → ${response.status} ${what}`);
  return { status: response.status, headers: response.headers, body: answer };
}
