/**
 * A served cluster over loopback with sixteen connections from another process. The baseline is node:http with a Map of
 * the same objects, which only parses and prints them.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { createCluster } from '../../dist/index.js';
import { ConfigMap, Deployment } from '../../dist/kinds/index.js';
import { serve } from '../../dist/node/index.js';
import { bareMap, configMapInputs, deploymentInput, fill } from './fixtures.mjs';
import { compare, verify } from './measure.mjs';

const LISTED = 2_000;
const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';
const DEPLOYMENTS = '/apis/apps/v1/namespaces/default/deployments';
const WATCHERS = 50;
const EVENTS = 200;

/** The figures of a server with etcd on a similar machine; the goal is five times that. */
const GOALS = { create: 975 * 5, get: 1_930 * 5, list: 26 * 5, patch: 900 * 5, apply: 586 * 5, watch: 24_000 * 5 };

/** Fewer and longer rounds, because garbage collection before a round discards optimized code. */
export async function wire({ scale, ...given }) {
  const settings = { ...given, rounds: Math.ceil(given.rounds / 3) };
  const load = fork(new URL('children/load.mjs', import.meta.url));
  load.on('exit', (code) => verify(code === null, 'the clients lived until the end'));
  const inputs = configMapInputs(LISTED);
  const cluster = createCluster({ dialect: 'kubernetes' });
  await fill(cluster.api(ConfigMap), inputs);
  const workloads = Array.from({ length: 100 }, (_, index) => deploymentInput(`web-${index}`));
  for (const input of workloads) await cluster.api(Deployment).create(input);
  const server = await serve(cluster, { anonymous: true });
  const bare = await serveBare(bareMap(inputs));
  try {
    const plans = plansOf(inputs, workloads, scale);
    const rows = [];
    for (const { name, goal, plan, isBare } of plans) {
      const ours = loading(load, server.port, plan);
      const figures = isBare
        ? await compare({ ours, bare: loading(load, bare.address().port, plan) }, settings)
        : { ours: (await compare({ ours, bare: NOTHING }, settings)).ours };
      rows.push({ name: `socket: ${name}`, unit: 'ops/s', goal, ...figures });
    }
    const { ours } = await compare({ ours: watching(load, server.port), bare: NOTHING }, settings);
    rows.push({ name: `socket: ${WATCHERS} watchers × ${EVENTS} events`, unit: 'ops/s', goal: GOALS.watch, ours });
    return rows;
  } finally {
    load.kill();
    bare.closeAllConnections();
    bare.close();
    await server.close();
  }
}

function plansOf(inputs, workloads, scale) {
  const names = inputs.map((input) => input.metadata.name);
  const many = Math.ceil(20_000 * scale);
  const some = Math.ceil(6_000 * scale);
  let unique = 0;
  let value = 0;
  const numbered = (count, make) => () => Array.from({ length: count }, (_, index) => make(index));
  return [
    {
      name: 'create',
      goal: GOALS.create,
      isBare: true,
      plan: numbered(some, (index) => {
        const input = { ...inputs[index % inputs.length], apiVersion: 'v1', kind: 'ConfigMap' };
        return request('POST', CONFIG_MAPS, { ...input, metadata: { ...input.metadata, name: `new-${unique++}` } });
      }),
    },
    {
      name: 'get',
      goal: GOALS.get,
      isBare: true,
      plan: numbered(many, (index) => request('GET', `${CONFIG_MAPS}/${names[index % names.length]}`)),
    },
    {
      name: `list ${LISTED}`,
      goal: GOALS.list,
      isBare: true,
      plan: numbered(Math.ceil(300 * scale), () => request('GET', `${CONFIG_MAPS}?limit=${LISTED}`)),
    },
    {
      name: 'merge patch',
      goal: GOALS.patch,
      isBare: true,
      plan: numbered(some, (index) =>
        request('PATCH', `${CONFIG_MAPS}/${names[index % names.length]}`, { data: { changed: String(value++) } }),
      ),
    },
    {
      name: 'apply a Deployment',
      goal: GOALS.apply,
      isBare: false,
      plan: numbered(some, (index) => {
        const { metadata, spec } = workloads[index % workloads.length];
        const intent = {
          apiVersion: 'apps/v1',
          kind: 'Deployment',
          metadata,
          spec: { ...spec, replicas: value++ % 90 },
        };
        const path = `${DEPLOYMENTS}/${metadata.name}?fieldManager=bench&force=true`;
        return request('PATCH', path, intent, 'application/apply-patch+yaml');
      }),
    },
  ];
}

function request(method, path, body, type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json') {
  const text = body === undefined ? '' : JSON.stringify(body);
  const head = [`${method} ${path} HTTP/1.1`, 'Host: localhost', 'Accept: application/json', 'User-Agent: bench'];
  if (text !== '') head.push(`Content-Type: ${type}`, `Content-Length: ${Buffer.byteLength(text)}`);
  return `${head.join('\r\n')}\r\n\r\n${text}`;
}

function loading(load, port, plan) {
  const contender = {
    count: plan().length,
    prepare: () => plan(),
    async run(requests) {
      load.send({ port, requests });
      const [{ right }] = await once(load, 'message');
      return right;
    },
    check: (requests, right) => verify(right === requests.length, 'every request was answered well'),
  };
  return contender;
}

const NOTHING = { count: 1, prepare: () => undefined, run: () => undefined, check: () => undefined };

let watchRound = 0;

/** Every watcher receives every created object; the deliveries are counted. */
function watching(load, port) {
  return {
    count: WATCHERS * EVENTS,
    async prepare() {
      watchRound++;
      const labels = { round: String(watchRound) };
      const requests = Array.from({ length: EVENTS }, (_, index) =>
        request('POST', CONFIG_MAPS, {
          apiVersion: 'v1',
          kind: 'ConfigMap',
          metadata: { name: `seen-${watchRound}-${index}`, labels },
          data: { colour: 'blue' },
        }),
      );
      const selected = `${CONFIG_MAPS}?watch=1&labelSelector=round%3D${watchRound}`;
      load.send({ port, watch: { watchers: WATCHERS, request: request('GET', selected) }, requests });
      await once(load, 'message');
    },
    async run() {
      load.send('go');
      const [{ right }] = await once(load, 'message');
      return right;
    },
    check: (_state, right) => verify(right === WATCHERS * EVENTS, 'every watcher was told of every write'),
  };
}

/** The cost of the platform's server. */
async function serveBare(map) {
  const server = createServer((incoming, outgoing) => {
    const name = incoming.url.split('?')[0].split('/')[6];
    if (incoming.method === 'GET') {
      const answer = name === undefined ? { items: [...map.values()].slice(0, LISTED) } : map.get(`default/${name}`);
      return send(outgoing, answer);
    }
    let text = '';
    incoming.setEncoding('utf8');
    incoming.on('data', (chunk) => {
      text += chunk;
    });
    incoming.on('end', () => {
      const body = JSON.parse(text);
      const key = `default/${name ?? body.metadata.name}`;
      const live = map.get(key);
      const next = live === undefined ? body : { ...live, data: { ...live.data, ...body.data } };
      map.set(key, next);
      send(outgoing, next);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

function send(outgoing, answer) {
  const bytes = Buffer.from(JSON.stringify(answer));
  outgoing.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': bytes.length });
  outgoing.end(bytes);
}
