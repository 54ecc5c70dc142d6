/**
 * Compares what controllers write: runs scenarios on a reference server with its controller manager and on the library with
 * the standard controllers, watches every resource that controllers write, and compares the versions of each object.
 *
 *   node test/differential/controllers.mjs --server https://127.0.0.1:6443 [--token admin-token] [--filter TEXT]
 *     [--jobs 4] [--show 3] [--recorded] [--new]
 *
 * The reference needs the controllers of release 1.33 except node-lifecycle-controller, and neither a scheduler nor
 * kubelets. Its certificate is not verified if the environment has NODE_TLS_REJECT_UNAUTHORIZED=0. Both sides run in real
 * time. Without --recorded or --new both sets of scenarios run. The exit code is 1 if anything differs.
 */
import { join } from 'node:path';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { defaultAdmission, inReferenceOrder, serviceAccount } from '../../dist/admission/index.js';
import { controllers, standardControllers } from '../../dist/controllers/index.js';
import { createFetchHandler } from '../../dist/http/index.js';
import { createCluster } from '../../dist/index.js';
import { sendStep } from '../conformance/exchange.mjs';
import { RECORDINGS, readRecordings } from '../conformance/recordings.mjs';
import { compareStreams } from './controllers-compare.mjs';
import { scenarios as ownScenarios } from './controllers-scenarios.mjs';

const { values: options } = parseArgs({
  options: {
    server: { type: 'string' },
    token: { type: 'string', default: 'admin-token' },
    filter: { type: 'string', default: '' },
    jobs: { type: 'string', default: '4' },
    show: { type: 'string', default: '3' },
    recorded: { type: 'boolean', default: false },
    new: { type: 'boolean', default: false },
  },
});

const WATCHED = [
  ...[
    'pods',
    'replicationcontrollers',
    'services',
    'endpoints',
    'serviceaccounts',
    'secrets',
    'configmaps',
    'namespaces',
  ],
  ...['persistentvolumeclaims', 'persistentvolumes', 'resourcequotas', 'events', 'nodes'],
]
  .map((resource) => `/api/v1/${resource}`)
  .concat(
    ['deployments', 'replicasets', 'statefulsets', 'daemonsets', 'controllerrevisions'].map(
      (r) => `/apis/apps/v1/${r}`,
    ),
    ['/apis/batch/v1/jobs', '/apis/batch/v1/cronjobs', '/apis/discovery.k8s.io/v1/endpointslices'],
    ['/apis/policy/v1/poddisruptionbudgets', '/apis/autoscaling/v2/horizontalpodautoscalers'],
    ['/apis/rbac.authorization.k8s.io/v1/clusterroles', '/apis/certificates.k8s.io/v1/certificatesigningrequests'],
  );
/** Without an event for this long, the controllers are done: Jobs collect changes for a second. */
const QUIET_MS = 1_600;
/** A scenario that never becomes quiet goes on after this time. */
const MAX_QUIET_MS = 20_000;
/** Recorded pauses up to this length only gave the controllers time. Longer ones wait for a deadline. */
const ORDINARY_PAUSE_MS = 2_500;
const NAMESPACE_DELETION_DELAY_MS = 5_000;
const POD_STATUS = {
  ready: { phase: 'Running', conditions: [condition('Ready', 'True'), condition('ContainersReady', 'True')] },
  unready: { phase: 'Running', conditions: [condition('Ready', 'False'), condition('ContainersReady', 'False')] },
  succeeded: { phase: 'Succeeded', conditions: [condition('Ready', 'False')] },
  failed: { phase: 'Failed', conditions: [condition('Ready', 'False')] },
};

function condition(type, status) {
  return { type, status, lastTransitionTime: '2024-01-01T00:00:00Z' };
}

function sleep(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** The library in this process, with its controllers in real time. */
function openLibrary() {
  const cluster = createCluster({
    dialect: 'kubernetes',
    admission: inReferenceOrder([...defaultAdmission, serviceAccount]),
    policyStatus: true,
    controllers: controllers(
      standardControllers({
        without: ['node-lifecycle-controller'],
        namespaces: { deletionDelayMs: NAMESPACE_DELETION_DELAY_MS },
      }),
      // The reference retries failed writes too. What they lead to is compared.
      { onError: () => undefined },
    ),
  });
  const tokens = { 'admin-token': { user: 'admin', uid: 'admin', groups: ['system:masters'] } };
  const handle = createFetchHandler(cluster, { tokens, onError: (error) => console.error(error) });
  return (path, init) => handle(new Request(`http://cluster.local${path}`, init));
}

function openReference() {
  return (path, init) => {
    const headers = new Headers(init.headers);
    headers.set('authorization', `Bearer ${options.token}`);
    return fetch(`${options.server}${path}`, { ...init, headers });
  };
}

/** Watches all resources of a side. `events` grows; each event has the time at which it arrived. */
async function observe(send) {
  const events = [];
  const headers = { accept: 'application/json', authorization: 'Bearer admin-token' };
  for (const path of WATCHED) {
    const list = await (await send(path, { method: 'GET', headers })).json();
    follow(send, `${path}?watch=1&resourceVersion=${list.metadata.resourceVersion}`, headers, events);
  }
  return events;
}

async function follow(send, path, headers, events) {
  const response = await send(path, { method: 'GET', headers });
  let rest = '';
  for await (const text of response.body.pipeThrough(new TextDecoderStream())) {
    const lines = `${rest}${text}`.split('\n');
    rest = lines.pop();
    for (const line of lines) if (line !== '') events.push({ ...JSON.parse(line), at: performance.now() });
  }
  throw new Error(`the watch of ${path} ended`);
}

/** Events of objects in the namespace, and of cluster-scoped objects with its name in theirs. */
function eventsOf(events, ns) {
  return events.filter(({ object: { metadata } }) => metadata.namespace === ns || metadata.name.includes(ns));
}

async function waitUntilQuiet({ events }, ns, started = performance.now()) {
  for (;;) {
    const last = Math.max(started, ...eventsOf(events, ns).map(({ at }) => at));
    const now = performance.now();
    if (now - last >= QUIET_MS || now - started >= MAX_QUIET_MS) return;
    await sleep(100);
  }
}

/** Lets a simulated kubelet act on the pods that are neither finished nor in that state, at most `count`, by age and name. */
async function actAsKubelet(side, { kubelet, select = '', count = Number.POSITIVE_INFINITY, status }, names) {
  const send = (step) => sendStep(side.send, { headers: { 'user-agent': 'kubelet/v1.33.0' }, ...step }, names);
  const pods = '/api/v1/namespaces/{ns}/pods';
  const { body } = await send({ method: 'GET', path: pods, query: { labelSelector: select } });
  const isDone = (pod) => ['Succeeded', 'Failed'].includes(pod.status.phase);
  const isReady = (pod) =>
    pod.status.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True');
  const concerned = body.items.filter((pod) => {
    if (kubelet === 'deleted') return pod.metadata.deletionTimestamp !== undefined;
    if (kubelet === 'bound') return pod.spec.nodeName === undefined;
    return !isDone(pod) && !(kubelet === 'ready' && isReady(pod));
  });
  const ageAndName = ({ metadata }) => `${metadata.creationTimestamp} ${metadata.name}`;
  concerned.sort((a, b) => (ageAndName(a) < ageAndName(b) ? -1 : 1));
  const codes = [];
  for (const pod of concerned.slice(0, count)) {
    const path = `${pods}/${pod.metadata.name}`;
    codes.push((await send(kubeletRequest(kubelet, path, pod, status, side))).status);
  }
  return codes;
}

function kubeletRequest(kubelet, path, pod, status, side) {
  if (kubelet === 'deleted') return { method: 'DELETE', path, query: { gracePeriodSeconds: '0' } };
  if (kubelet === 'bound') {
    const target = { apiVersion: 'v1', kind: 'Node', name: 'fake-node' };
    return { method: 'POST', path: `${path}/binding`, body: { metadata: { name: pod.metadata.name }, target } };
  }
  side.address += 1;
  const podIP = `10.9.0.${side.address}`;
  const body = {
    status: { podIP, podIPs: [{ ip: podIP }], startTime: '2024-01-01T00:00:00Z', ...POD_STATUS[kubelet], ...status },
  };
  const headers = { 'content-type': 'application/merge-patch+json', 'user-agent': 'kubelet/v1.33.0' };
  return { method: 'PATCH', path: `${path}/status`, headers, body };
}

/** Runs one scenario on one side and returns its events and the status codes of its requests. */
async function runScenario({ send, events }, scenario, ns) {
  const names = { ns };
  const side = { send, events, address: 0 };
  const codes = [];
  const namespace = { metadata: { name: ns } };
  await sendStep(send, { method: 'POST', path: '/api/v1/namespaces', body: namespace }, names);
  await waitUntilQuiet(side, ns);
  let pause = 0;
  const settle = async () => {
    await waitUntilQuiet(side, ns);
    if (pause > ORDINARY_PAUSE_MS) {
      await sleep(pause);
      await waitUntilQuiet(side, ns);
    }
    pause = 0;
  };
  for (const step of scenario.steps) {
    pause += step.wait ?? 0;
    if (step.method === undefined && step.kubelet === undefined) continue;
    if (step.method === 'GET' && step.id === undefined) continue;
    await settle();
    if (step.kubelet !== undefined) codes.push(...(await actAsKubelet(side, step, names)));
    else {
      const { status, body } = await sendStep(send, step, names);
      codes.push(status);
      if (step.id !== undefined) names[step.id] = sorted(body);
    }
  }
  await settle();
  const seen = eventsOf(events, ns);
  for (const step of scenario.cleanup ?? []) await sendStep(send, step, names);
  await sendStep(send, { method: 'DELETE', path: '/api/v1/namespaces/{ns}' }, names);
  return { events: seen, codes };
}

/** A list in the order of creation, which unlike random names is alike on both sides. */
function sorted(body) {
  const age = ({ metadata }) => metadata.creationTimestamp;
  return Array.isArray(body?.items)
    ? { ...body, items: body.items.toSorted((a, b) => (age(a) < age(b) ? -1 : age(a) > age(b) ? 1 : 0)) }
    : body;
}

async function makeReadyNode(send) {
  const status = { conditions: [{ type: 'Ready', status: 'True', reason: 'KubeletReady', message: 'ready' }] };
  const patch = { 'content-type': 'application/merge-patch+json' };
  const path = '/api/v1/nodes/fake-node';
  await sendStep(send, { method: 'POST', path: '/api/v1/nodes', body: { metadata: { name: 'fake-node' } } }, {});
  await sendStep(send, { method: 'PATCH', path: `${path}/status`, headers: patch, body: { status } }, {});
  await sendStep(send, { method: 'PATCH', path, headers: patch, body: { spec: { taints: null } } }, {});
}

function selectedScenarios() {
  const recorded = readRecordings(join(RECORDINGS, 'lifecycle.json.gz'));
  const all = options.recorded === options.new ? [...recorded, ...ownScenarios] : options.new ? ownScenarios : recorded;
  return all.filter(({ name }) => options.filter.split(',').some((part) => name.includes(part)));
}

function report(classes) {
  const ordered = [...classes.values()].sort((a, b) => b.scenarios.size - a.scenarios.size);
  for (const { title, scenarios, examples } of ordered) {
    console.log(`\n${title}\n  ${scenarios.size} scenarios: ${[...scenarios].slice(0, 6).join(', ')}`);
    for (const example of examples.slice(0, Number(options.show))) {
      console.log(`  ${example.key}\n    reference ${example.expected}\n    library   ${example.actual}`);
    }
  }
}

async function main() {
  const [reference, library] = [openReference(), openLibrary()];
  for (const send of [reference, library]) await makeReadyNode(send);
  const sides = [];
  for (const send of [reference, library]) sides.push({ send, events: await observe(send) });
  const queue = selectedScenarios().sort((a, b) => a.steps.length - b.steps.length);
  const classes = new Map();
  const run = Date.now().toString(36).slice(-5);
  let objects = 0;
  const total = queue.length;
  const work = async () => {
    for (let scenario = queue.shift(); scenario !== undefined; scenario = queue.shift()) {
      // The last letter, so that no namespace's name begins with another's.
      const ns = `c${run}-${total - queue.length}x`;
      const [expected, actual] = await Promise.all(sides.map((side) => runScenario(side, scenario, ns)));
      const compared = compareStreams(expected, actual, ns);
      objects += compared.objects;
      for (const { title, ...example } of compared.differences) {
        const one = classes.get(title) ?? { title, scenarios: new Set(), examples: [] };
        one.scenarios.add(scenario.name);
        one.examples.push(example);
        classes.set(title, one);
      }
      console.error(`${scenario.name}: ${compared.objects} objects, ${compared.differences.length} differences`);
    }
  };
  await Promise.all(Array.from({ length: Number(options.jobs) }, work));
  report(classes);
  console.log(`\n${total} scenarios, ${objects} objects, ${classes.size} classes of differences`);
  process.exit(classes.size === 0 ? 0 : 1);
}

await main();
