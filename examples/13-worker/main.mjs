/**
 * A cluster in a worker thread, used with the typed client from this thread. The client sends HTTP requests over a
 * MessagePort (port-fetch.mjs), without a socket.
 */
import assert from 'node:assert/strict';
import { MessageChannel, Worker } from 'node:worker_threads';
import { createClient, StatusError } from 'orchplane';
import { httpTransport } from 'orchplane/http';
import { Deployment, Pod } from 'orchplane/kinds';
import { portFetch } from './port-fetch.mjs';

const { port1, port2 } = new MessageChannel();
const worker = new Worker(new URL('worker.mjs', import.meta.url), {
  workerData: { port: port2 },
  transferList: [port2],
});
const fetchFromWorker = portFetch(port1);
const transport = httpTransport({ baseUrl: 'http://worker', fetch: fetchFromWorker });
const client = createClient({ transport, fieldManager: 'main' });

console.log('Write here; the controllers run in the worker');
const deployments = client.api(Deployment);
await deployments.create({
  metadata: { name: 'web' },
  spec: {
    replicas: 3,
    selector: { matchLabels: { app: 'web' } },
    template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'web', image: 'web:1' }] } },
  },
});
const web = await deployments.waitFor('web', (deployment) => deployment?.status?.readyReplicas === 3);
console.log(`  web has ${web.status.readyReplicas} ready replicas`);

console.log('An informer over the port');
const pods = client.api(Pod).informer();
await pods.synced;
assert.equal(pods.snapshot().length, 3);
const deleted = new Promise((resolve) => {
  pods.subscribe((event) => event.type === 'DELETED' && resolve(event.object.metadata.name));
});
await deployments.edit('web', (draft) => {
  draft.spec.replicas = 2;
});
const gone = await deleted;
assert.ok(gone.startsWith('web-'));
console.log('  one pod less');

console.log('Errors are the same as in one process');
const missing = await deployments.get('nothing').catch((error) => error);
assert.ok(StatusError.is(missing, 'NotFound'));
console.log(`  ${missing.code} ${missing.message}`);

console.log('A watch that is closed here ends in the worker');
pods.close();
assert.ok(await within(1000, async () => (await openWatches('pods')) === 0));
console.log('  no watch is open in the worker');

port1.close();
await worker.terminate();
console.log('the worker has ended');

/** The number of open watches, from the worker's metrics. */
async function openWatches(resource) {
  const metrics = await (await fetchFromWorker(new Request('http://worker/metrics'))).text();
  const count = new RegExp(`^apiserver_longrunning_requests\\{.*resource="${resource}".*\\} (\\d+)$`, 'm');
  return Number(count.exec(metrics)?.[1]);
}

/** Waits for a condition, because messages to the worker are asynchronous. */
async function within(turns, condition) {
  for (let turn = 0; turn < turns; turn++) {
    if (await condition()) return true;
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  return false;
}
