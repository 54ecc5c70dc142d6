/**
 * Starts kube-apiserver and `orchplane serve` on one etcd, writes on alternating sides and compares what both return and
 * what watches on both sides receive. Then our server opens a snapshot of the etcd.
 *
 *     npm run build
 *     node test/differential/etcd.mjs --kube-apiserver PATH [--etcdctl PATH]
 *
 * Needs `etcd` on the PATH; `etcdctl` is needed for the snapshot only.
 */
import { execFileSync, spawn } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual, parseArgs } from 'node:util';
import { program, withBundle } from '../soak/bundled.mjs';

const { values: options } = parseArgs({
  options: { 'kube-apiserver': { type: 'string' }, etcdctl: { type: 'string', default: 'etcdctl' } },
});
if (options['kube-apiserver'] === undefined) throw new Error('give the path of kube-apiserver with --kube-apiserver');
process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';

const START_MS = 60_000;
const SETTLE_MS = 5_000;
const POLL_MS = 100;
const TOKEN = 'admin-token';
const APPLY = 'application/apply-patch+yaml';
const MERGE = 'application/merge-patch+json';
const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';

const folder = mkdtempSync(join(tmpdir(), 'orchplane-interoperability-'));
const children = [];
let checks = 0;
const problems = [];

function start(name, command, args) {
  const log = openSync(join(folder, `${name}.log`), 'w');
  const child = spawn(command, args, { stdio: ['ignore', log, log] });
  children.push(child);
  child.once('exit', (code) => code !== null && console.error(`${name} ended with ${code}`));
}

/** A server as a function that sends a request. */
function side(name, port) {
  const send = async (method, path, body, type = 'application/json') => {
    const init = { method, headers: { authorization: `Bearer ${TOKEN}`, 'content-type': type } };
    const response = await fetch(`https://127.0.0.1:${port}${path}`, { ...init, body: body && JSON.stringify(body) });
    const text = await response.text();
    return { status: response.status, body: text.startsWith('{') ? JSON.parse(text) : text };
  };
  const watch = async (path) => {
    const { body } = await send('GET', path);
    const end = new AbortController();
    const url = `https://127.0.0.1:${port}${path}?watch=true&resourceVersion=${body.metadata.resourceVersion}`;
    const response = await fetch(url, { headers: { authorization: `Bearer ${TOKEN}` }, signal: end.signal });
    let text = '';
    const ended = (async () => {
      for await (const chunk of response.body) text += Buffer.from(chunk).toString();
    })().catch((error) => {
      if (error.name !== 'AbortError') throw error;
    });
    const events = () =>
      text
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line));
    const close = () => {
      end.abort();
      return ended;
    };
    return { events, close };
  };
  return { name, send, watch };
}

async function waitFor(what, limitMs, isReady) {
  for (let waited = 0; waited < limitMs; waited += POLL_MS) {
    if (await isReady()) return true;
    await delay(POLL_MS);
  }
  throw new Error(`${what} takes longer than ${limitMs} ms`);
}

function check(what, found, expected) {
  checks++;
  if (isDeepStrictEqual(found, expected)) return;
  problems.push(what);
  console.log(`DIFFERENT ${what}\n  kube ${JSON.stringify(expected)}\n  ours ${JSON.stringify(found)}`);
}

/** Starts both servers, which serve the same etcd. */
async function startServers({ endpoint, freePort }) {
  const key = join(folder, 'sa.key');
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  writeFileSync(key, privateKey.export({ type: 'pkcs1', format: 'pem' }));
  const tokens = join(folder, 'tokens.csv');
  writeFileSync(tokens, `${TOKEN},admin,admin,"system:masters"\n`);
  const [kubePort, port] = [await freePort(), await freePort()];
  const common = ['--service-account-signing-key-file', key, '--etcd-servers', endpoint];
  const kube = side('kube', kubePort);
  const kubeFlags = ['--secure-port', kubePort, '--bind-address', '127.0.0.1', '--cert-dir', join(folder, 'certs')];
  const issuer = ['--service-account-key-file', key, '--service-account-issuer', 'https://kubernetes.default.svc'];
  const access = ['--authorization-mode', 'RBAC', '--token-auth-file', tokens];
  const range = ['--service-cluster-ip-range', '10.96.0.0/16'];
  start('kube-apiserver', options['kube-apiserver'], [...common, ...kubeFlags, ...issuer, ...access, ...range]);
  await waitFor('the start of kube-apiserver', START_MS, async () => (await isReady(kube)) === true);
  const ours = side('ours', port);
  start('orchplane', process.execPath, [program, 'serve', '--port', port, '--token', TOKEN, ...common, ...range]);
  await waitFor('the start of orchplane', START_MS, async () => (await isReady(ours)) === true);
  return { kube, ours };
}

const isReady = ({ send }) =>
  send('GET', '/readyz').then(
    ({ status }) => status === 200,
    () => false,
  );

/** Compares all objects that one of the two lists. */
async function compareAll({ kube, ours }) {
  const { body } = await kube.send('GET', '/apis');
  const versions = body.groups.flatMap(({ versions }) => versions.map(({ groupVersion }) => `/apis/${groupVersion}`));
  let objects = 0;
  for (const version of ['/api/v1', ...versions]) {
    const { resources } = (await kube.send('GET', version)).body;
    for (const { name } of resources.filter(({ verbs, name }) => verbs.includes('list') && !name.includes('/'))) {
      // ComponentStatuses are computed; servers renew Leases at any time.
      if (name === 'componentstatuses' || name === 'leases') continue;
      const [expected, found] = [
        await kube.send('GET', `${version}/${name}`),
        await ours.send('GET', `${version}/${name}`),
      ];
      const byName = ({ body: { items } }) =>
        Object.fromEntries(items.map((item) => [`${item.metadata.namespace}/${item.metadata.name}`, item]));
      const [theirs, mine] = [byName(expected), byName(found)];
      for (const each of new Set([...Object.keys(theirs), ...Object.keys(mine)])) {
        objects++;
        check(`${version}/${name} ${each}`, mine[each], theirs[each]);
      }
    }
  }
  return objects;
}

/** A CRD with two versions; a webhook converts them. */
function widgets(name, { url, ca }) {
  const schema = (field) => ({
    openAPIV3Schema: {
      type: 'object',
      properties: { spec: { type: 'object', properties: { [field]: { type: 'string', default: 'unset' } } } },
    },
  });
  const subresources = { status: {} };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${name}s.example.com` },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: `${name}s`, singular: name, kind: name.replace(/^./, (first) => first.toUpperCase()) },
      conversion: {
        strategy: 'Webhook',
        webhook: {
          conversionReviewVersions: ['v1'],
          clientConfig: { url, caBundle: Buffer.from(ca).toString('base64') },
        },
      },
      versions: [
        { name: 'v1', served: true, storage: true, schema: schema('colour'), subresources },
        { name: 'v2', served: true, storage: false, schema: schema('color'), subresources },
      ],
    },
  };
}

/** The webhook renames `spec.colour` (v1) and `spec.color` (v2). */
async function startConverter({ createServerCertificate }) {
  const { cert, key, ca } = await createServerCertificate(['127.0.0.1']);
  const server = createServer({ cert, key }, async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const review = JSON.parse(Buffer.concat(chunks));
    const { uid, desiredAPIVersion, objects } = review.request;
    const convertedObjects = objects.map(({ spec: { colour, color } = {}, ...object }) => ({
      ...object,
      apiVersion: desiredAPIVersion,
      spec: { [desiredAPIVersion.endsWith('v1') ? 'colour' : 'color']: colour ?? color },
    }));
    const body = { ...review, response: { uid, result: { status: 'Success' }, convertedObjects } };
    response.setHeader('content-type', 'application/json').end(JSON.stringify(body));
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { server, url: `https://127.0.0.1:${server.address().port}/`, ca };
}

/** Writes on `first` and `second` in turn and compares both after every write. */
async function alternate({ kube, ours }, [first, second], converter) {
  const label = `${first.name} first`;
  const [kubeWatch, ourWatch] = [await kube.watch(CONFIG_MAPS), await ours.watch(CONFIG_MAPS)];
  const both = async (path) => {
    const [expected, found] = [await kube.send('GET', path), await ours.send('GET', path)];
    check(`${label}: ${path}`, found, expected);
    return expected.body;
  };
  const write = async (by, status, ...request) => {
    const response = await by.send(...request);
    const answer = response.status === status ? status : response;
    check(`${label}: the response to ${request[0]} ${request[1]} by ${by.name}`, answer, status);
    return response.body;
  };

  const service = { spec: { ports: [{ port: 80, nodePort: undefined }], type: 'NodePort' } };
  for (const by of [first, second]) {
    const { metadata } = await write(by, 201, 'POST', '/api/v1/namespaces/default/services', {
      ...service,
      metadata: { generateName: 'web-' },
    });
    await both(`/api/v1/namespaces/default/services/${metadata.name}`);
  }

  const deployments = '/apis/apps/v1/namespaces/default/deployments';
  const labels = { app: 'web' };
  const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i:1' }] } };
  const deployment = (spec) => ({ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web' }, spec });
  const spec = { selector: { matchLabels: labels }, template };
  await write(first, 201, 'PATCH', `${deployments}/web?fieldManager=one`, deployment(spec), APPLY);
  await both(`${deployments}/web`);
  await write(second, 200, 'PATCH', `${deployments}/web?fieldManager=two`, deployment({ replicas: 3 }), APPLY);
  await both(`${deployments}/web`);
  await write(first, 409, 'PATCH', `${deployments}/web?fieldManager=one`, deployment({ ...spec, replicas: 1 }), APPLY);
  await write(first, 200, 'PATCH', `${deployments}/web`, { spec: { replicas: 4 } }, MERGE);
  const live = await both(`${deployments}/web`);
  const status = { replicas: 4, observedGeneration: live.metadata.generation };
  await write(second, 200, 'PUT', `${deployments}/web/status`, { ...live, status });
  await write(first, 409, 'PUT', `${deployments}/web`, live);
  await both(`${deployments}/web`);
  await write(second, 200, 'DELETE', `${deployments}/web`);
  await both(`${deployments}/web`);

  const finalized = { metadata: { name: 'finalized', finalizers: ['example.com/wait'] }, data: { a: '1' } };
  await write(first, 201, 'POST', CONFIG_MAPS, finalized);
  await write(second, 200, 'DELETE', `${CONFIG_MAPS}/finalized`);
  await both(`${CONFIG_MAPS}/finalized`);
  await write(first, 200, 'PATCH', `${CONFIG_MAPS}/finalized`, { metadata: { finalizers: null } }, MERGE);
  await both(`${CONFIG_MAPS}/finalized`);

  const name = `${first.name}widget`;
  await write(first, 201, 'POST', CRDS, widgets(name, converter));
  const objects = `namespaces/default/${name}s`;
  await waitFor(`serving ${name}s`, SETTLE_MS * 4, async () => {
    const lists = await Promise.all([kube, ours].map(({ send }) => send('GET', `/apis/example.com/v2/${objects}`)));
    return lists.every((list) => list.status === 200);
  });
  await both(`${CRDS}/${name}s.example.com`);
  const kind = widgets(name, converter).spec.names.kind;
  const custom = (version, fields) => ({
    apiVersion: `example.com/${version}`,
    kind,
    metadata: { name: 'w' },
    spec: fields,
  });
  await write(second, 201, 'POST', `/apis/example.com/v2/${objects}`, custom('v2', { color: 'red' }));
  for (const version of ['v1', 'v2']) await both(`/apis/example.com/${version}/${objects}/w`);
  const applied = `/apis/example.com/v1/${objects}/w?fieldManager=one&force=true`;
  await write(first, 200, 'PATCH', applied, custom('v1', { colour: 'blue' }), APPLY);
  for (const version of ['v1', 'v2']) await both(`/apis/example.com/${version}/${objects}/w`);
  await write(second, 200, 'DELETE', `${CRDS}/${name}s.example.com`);
  await waitFor(`deleting ${name}s`, SETTLE_MS * 4, async () => {
    const crds = await Promise.all([kube, ours].map(({ send }) => send('GET', `${CRDS}/${name}s.example.com`)));
    return crds.every((crd) => crd.status === 404);
  });

  await waitFor('equal events', SETTLE_MS, () => kubeWatch.events().length === ourWatch.events().length);
  check(`${label}: the events of both watches`, ourWatch.events(), kubeWatch.events());
  await Promise.all([kubeWatch.close(), ourWatch.close()]);
}

/** Compares the ConfigMaps and roles of a snapshot, opened by our server, with those of kube-apiserver. */
async function compareSnapshot(kube, { endpoint, freePort }) {
  const file = join(folder, 'snapshot.db');
  execFileSync(options.etcdctl, ['--endpoints', endpoint, 'snapshot', 'save', file], {
    env: { ...process.env, ETCDCTL_API: '3' },
    stdio: 'ignore',
  });
  const port = await freePort();
  const opened = side('snapshot', port);
  start('snapshot', process.execPath, [program, 'serve', '--port', port, '--token', TOKEN, '--etcd-snapshot', file]);
  await waitFor('opening the snapshot', START_MS, async () => (await isReady(opened)) === true);
  for (const path of ['/api/v1/configmaps', '/api/v1/services', '/apis/rbac.authorization.k8s.io/v1/clusterroles']) {
    const [expected, found] = [await kube.send('GET', path), await opened.send('GET', path)];
    check(`the snapshot: ${path}`, found.body.items, expected.body.items);
  }
}

async function run({ startEtcd, freePort }, certificates) {
  const etcd = await startEtcd();
  const { endpoint } = etcd;
  const converter = await startConverter(certificates);
  try {
    const sides = await startServers({ endpoint, freePort });
    await delay(SETTLE_MS);
    console.log(`${await compareAll(sides)} objects of both servers compared`);
    await alternate(sides, [sides.kube, sides.ours], converter);
    await alternate(sides, [sides.ours, sides.kube], converter);
    await compareSnapshot(sides.kube, { endpoint, freePort });
  } finally {
    converter.server.close();
    for (const child of children) child.kill('SIGKILL');
    await etcd[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, maxRetries: 5 });
  }
  console.log(`${checks} checks, ${problems.length} different`);
}

await withBundle('test/e2e/etcd/etcd-server.ts', (servers) =>
  withBundle('src/node/certificates.ts', (certificates) => run(servers, certificates)),
);
process.exit(problems.length === 0 ? 0 : 1);
