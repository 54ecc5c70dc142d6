/**
 * The CPU time of the largest requests that a server reads (3 MiB), by what fills them, and the longest time that a health
 * check takes meanwhile, with an HTTP thread. Requests are handled one after another, so the CPU time is how long one request
 * can delay all others. Storage refuses objects of more than 1.5 MiB, at the end of a request: most of these requests are
 * answered with 500, after validation and encoding.
 *
 *   npm run build && node test/bench/largest-requests.mjs
 */
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { createFetchHandler } from '../../dist/http/index.js';
import { createCluster } from '../../dist/index.js';
import { serve } from '../../dist/node/index.js';
import { median, verify } from './measure.mjs';

const MAX_BYTES = 3 * 1024 * 1024 - 2_000;
const PODS = '/api/v1/namespaces/default/pods';
const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';

const pod = (spec) => ({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a' }, spec });
const container = (more) => pod({ containers: [{ name: 'c', image: 'i', ...more }] });
const configMap = (more) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, ...more });
const rbac = 'rbac.authorization.k8s.io/v1';
const extensions = 'apiextensions.k8s.io/v1';
const names = { plural: 'as', kind: 'A' };
const version = (properties) => ({
  name: 'v1',
  served: true,
  storage: true,
  schema: { openAPIV3Schema: { type: 'object', properties } },
});

/** Name, path, object with `[]` or `{}` to fill, item or member, status code. */
const CASES = [
  ['ports of a container', PODS, container({ ports: [] }), (n) => `{"containerPort":${(n % 65_535) + 1}}`, 500],
  ['containers', PODS, pod({ containers: [] }), (n) => `{"name":"c${n}","image":"i"}`, 500],
  ['invalid containers', PODS, pod({ containers: [] }), () => '{"name":"A"}', 422],
  ['environment variables', PODS, container({ env: [] }), (n) => `{"name":"A${n}"}`, 500],
  ['data of a ConfigMap', CONFIG_MAPS, configMap({ data: {} }), (n) => `"k${n}":"v"`, 500],
  ['labels', CONFIG_MAPS, configMap({ metadata: { name: 'b', labels: {} } }), (n) => `"k${n}":"v"`, 500],
  [
    'rules of a role',
    `/apis/${rbac}/clusterroles`,
    { apiVersion: rbac, kind: 'ClusterRole', metadata: { name: 'a' }, rules: [] },
    (n) => `{"verbs":["get"],"apiGroups":[""],"resources":["a${n}"]}`,
    201,
  ],
  [
    'properties of a CRD',
    `/apis/${extensions}/customresourcedefinitions`,
    {
      apiVersion: extensions,
      kind: 'CustomResourceDefinition',
      metadata: { name: 'as.example.com' },
      spec: { group: 'example.com', scope: 'Namespaced', names, versions: [version({})] },
    },
    (n) => `"p${n}":{"type":"string"}`,
    500,
  ],
];

const headers = { 'content-type': 'application/json' };

if (isMainThread) await measureAll();
else parentPort.postMessage(await checkDuring(workerData));

async function measureAll() {
  console.log(`${'3 MiB of'.padEnd(24)}    number     CPU   health checks: median, longest`);
  for (const [name, path, object, item, status] of CASES) {
    const { body, count } = fill(JSON.stringify(object), item);
    const cpuMs = await cpuTime(path, body, status);
    const checks = await healthChecks(path, body, status);
    const times = [median(checks), Math.max(...checks)].map((ms) => `${ms.toFixed(0).padStart(7)} ms`);
    console.log(`${name.padEnd(24)} ${String(count).padStart(9)} ${cpuMs.toFixed(0).padStart(7)} ms ${times.join('')}`);
  }
}

async function cpuTime(path, body, status) {
  const handle = createFetchHandler(createCluster({ dialect: 'kubernetes' }));
  const start = process.cpuUsage();
  const response = await handle(new Request(`http://localhost${path}`, { method: 'POST', headers, body }));
  await response.arrayBuffer();
  const { user, system } = process.cpuUsage(start);
  verify(response.status === status, `${response.status} instead of ${status}`);
  return (user + system) / 1000;
}

/** The times of the health checks during a request. The client has a thread of its own, because the cluster blocks this one. */
async function healthChecks(path, body, status) {
  const server = await serve(createCluster({ dialect: 'kubernetes' }), { anonymous: true, thread: true });
  const client = new Worker(new URL(import.meta.url), { workerData: { url: server.url, path, body } });
  const [{ code, times }] = await once(client, 'message');
  verify(code === status && times.length > 0, `${code} instead of ${status}, ${times.length} health checks`);
  await server.close();
  return times;
}

async function checkDuring({ url, path, body }) {
  const check = async () => {
    const start = process.hrtime.bigint();
    const text = await (await fetch(`${url}/healthz`)).text();
    verify(text === 'ok', `the server is healthy: ${text}`);
    return Number(process.hrtime.bigint() - start) / 1e6;
  };
  // Loads fetch.
  await check();
  let isOver = false;
  const large = fetch(url + path, { method: 'POST', headers, body }).then(async (response) => {
    isOver = true;
    await response.arrayBuffer();
    return response.status;
  });
  const times = [];
  while (!isOver) {
    times.push(await check());
    // The client must not take the processor from the server.
    await delay(50);
  }
  return { code: await large, times };
}

/** Fills the only empty list or map of an object up to the maximum size. */
function fill(text, item) {
  const at = text.search(/\[\]|\{\}/) + 1;
  const items = [];
  for (let bytes = text.length; ; items.push(item(items.length))) {
    bytes += item(items.length).length + 1;
    if (bytes > MAX_BYTES) break;
  }
  return { body: text.slice(0, at) + items.join(',') + text.slice(at), count: items.length };
}
