/**
 * The CPU time of the largest requests that a server accepts (3 MiB), by what fills them. Requests are handled one after
 * another, so this is how long one request can delay all others.
 *
 *   npm run build && node test/bench/largest-requests.mjs
 */

import { createFetchHandler } from '../../dist/http/index.js';
import { createCluster } from '../../dist/index.js';
import { verify } from './measure.mjs';

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
  ['ports of a container', PODS, container({ ports: [] }), (n) => `{"containerPort":${(n % 65_535) + 1}}`, 201],
  ['containers', PODS, pod({ containers: [] }), (n) => `{"name":"c${n}","image":"i"}`, 201],
  ['invalid containers', PODS, pod({ containers: [] }), () => '{}', 422],
  ['environment variables', PODS, container({ env: [] }), (n) => `{"name":"A${n}"}`, 201],
  ['data of a ConfigMap', CONFIG_MAPS, configMap({ data: {} }), (n) => `"k${n}":"v"`, 201],
  ['labels', CONFIG_MAPS, configMap({ metadata: { name: 'b', labels: {} } }), (n) => `"k${n}":"v"`, 201],
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
    201,
  ],
];

for (const [name, path, object, item, status] of CASES) {
  const handle = createFetchHandler(createCluster({ dialect: 'kubernetes' }));
  const { body, count } = fill(JSON.stringify(object), item);
  const headers = { 'content-type': 'application/json' };
  const start = process.cpuUsage();
  const response = await handle(new Request(`http://localhost${path}`, { method: 'POST', headers, body }));
  await response.arrayBuffer();
  const { user, system } = process.cpuUsage(start);
  verify(response.status === status, `${name}: ${response.status} instead of ${status}`);
  console.log(`${name.padEnd(24)} ${String(count).padStart(9)} ${((user + system) / 1000).toFixed(0).padStart(7)} ms`);
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
