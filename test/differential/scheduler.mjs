/**
 * Compares placements: generates clusters, lets the scheduler of the reference place pods on them (scheduler/reference.go),
 * and compares each decision with that of the library on the same state: the nodes that fit, the score of each by plugin,
 * the chosen node, the message, and the victims of preemption.
 *
 *   node test/differential/scheduler.mjs --source /path/to/kubernetes [--placements 10000] [--seed 1] [--workers 8] [--show 3]
 *
 * The source tree is one of release 1.33 in which Go can build cmd/kube-scheduler; nothing is written to it. A differing node
 * is a tie if the library rates it equal: the reference chooses at random among those. The exit code is 1 if anything
 * differs.
 */
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import process from 'node:process';
import { createInterface } from 'node:readline';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { build } from 'esbuild';
import { generateCluster } from './scheduler/clusters.mjs';
import { currentVersion } from './scheduler/devices.mjs';

const { values: options } = parseArgs({
  options: {
    source: { type: 'string' },
    binary: { type: 'string' },
    placements: { type: 'string', default: '10000' },
    seed: { type: 'string', default: '1' },
    workers: { type: 'string', default: '8' },
    show: { type: 'string', default: '3' },
  },
});

const HERE = fileURLToPath(new URL('.', import.meta.url));
const SOURCES = join(HERE, '../../src');
const ENTRY = `
export { kubernetesDialect } from './meta/dialect.js';
export { fitMessage } from './runtime/scheduler/fit-message.js';
export { SchedulingError } from './runtime/scheduler/plugin.js';
export { rank } from './runtime/scheduler/rank.js';
export { findRemedy } from './runtime/scheduler/remedy.js';
export { createSnapshot, NodeInfo, podInfoOf } from './runtime/scheduler/snapshot.js';
`;

/** The functions of the scheduler are internal, so they are built from the sources. */
async function loadScheduler(folder) {
  const outfile = join(folder, 'scheduler.mjs');
  await build({
    stdin: { contents: ENTRY, resolveDir: SOURCES, loader: 'ts' },
    bundle: true,
    format: 'esm',
    platform: 'node',
    outfile,
    logLevel: 'error',
  });
  return import(pathToFileURL(outfile).href);
}

/** Builds the program of the reference as if it were a command in its source tree. */
function buildReference(folder) {
  if (options.binary !== undefined) return options.binary;
  if (options.source === undefined) throw new Error('--source names a source tree of Kubernetes');
  const overlay = join(folder, 'overlay.json');
  const command = join(resolve(options.source), 'cmd/scheduler-cases/main.go');
  writeFileSync(overlay, JSON.stringify({ Replace: { [command]: join(HERE, 'scheduler/reference.go') } }));
  const binary = join(folder, 'reference');
  const { status } = spawnSync('go', ['build', '-overlay', overlay, '-o', binary, './cmd/scheduler-cases'], {
    cwd: options.source,
    stdio: 'inherit',
    env: { ...process.env, CGO_ENABLED: '0' },
  });
  if (status !== 0) throw new Error('the reference cannot be built');
  return binary;
}

/** Yields clusters with the decisions of the reference about their pods, in the order in which they are ready. */
async function* decisionsOf(binary, clusters) {
  const child = spawn(binary, [options.workers], { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = new Promise((done) => child.on('close', done));
  for (const [id, objects] of clusters) child.stdin.write(`${JSON.stringify({ id, objects })}\n`);
  child.stdin.end();
  for await (const line of createInterface({ input: child.stdout })) {
    const { id, decisions } = JSON.parse(line);
    yield { id, objects: clusters.get(id).map(currentVersion), decisions };
  }
  const code = await ended;
  if (code !== 0) throw new Error(`the reference ended with ${code}`);
}

function readerOf(objects) {
  const byKind = new Map();
  for (const object of objects) byKind.set(object.kind, [...(byKind.get(object.kind) ?? []), object]);
  const of = (kind) => byKind.get(kind.kind) ?? [];
  return {
    get: (kind, name, namespace) =>
      of(kind).find(({ metadata }) => metadata.name === name && metadata.namespace === (namespace || undefined)),
    list: (kind, namespace) =>
      of(kind).filter(({ metadata }) => namespace === undefined || metadata.namespace === namespace),
  };
}

/** The decision of the library on the state that the reference had. */
function decide(lib, { pod, objects, bound, pending }) {
  const infos = new Map(
    objects.filter(({ kind }) => kind === 'Node').map((node) => [node.metadata.name, new lib.NodeInfo(node)]),
  );
  for (const each of bound) infos.get(each.spec.nodeName)?.add(lib.podInfoOf(each));
  const snapshot = lib.createSnapshot({
    nodes: infos.values(),
    pending,
    objects: readerOf(objects),
    dialect: lib.kubernetesDialect,
    features: undefined,
    nowMs: Date.UTC(2026, 10, 18),
  });
  const info = lib.podInfoOf(pod);
  try {
    const ranking = lib.rank(info, snapshot);
    if ('nodes' in ranking) return { nodes: ranking.nodes };
    const { statuses, podProblem } = ranking.failure;
    const { candidates, message: remedy } = lib.findRemedy(info, ranking.failure, snapshot);
    const nodeCount = snapshot.nodes.length;
    return { candidates, message: lib.fitMessage({ nodeCount, statuses, podProblem, remedy }) };
  } catch (error) {
    if (!(error instanceof lib.SchedulingError)) throw error;
    return { message: error.message, isError: true };
  }
}

/** The other side uses the same. */
const FIRST_START = Date.UTC(2026, 10, 18);

const podKey = ({ metadata }) => `${metadata.namespace}/${metadata.name}`;

/** `same`, `tie`, or what differs. */
function compare(expected, actual) {
  if (expected.host === undefined || actual.nodes === undefined) {
    if (expected.host !== undefined) return `host ${expected.host}, but: ${actual.message}`;
    if (actual.nodes !== undefined) return `fits on ${actual.nodes[0].name}, but: ${expected.message}`;
    if (expected.message !== actual.message) return `message\n    ${expected.message}\n    ${actual.message}`;
    return comparePreemption(expected, actual.candidates ?? []);
  }
  const scoresOf = (nodes) => JSON.stringify(nodes.map(({ name, scores = {} }) => [name, sorted(scores)]).sort());
  const [wanted, found] = [scoresOf(expected.nodes), scoresOf(actual.nodes)];
  if (wanted !== found) return `scores\n    ${wanted}\n    ${found}`;
  const top = actual.nodes.filter(({ score }) => score === actual.nodes[0].score).map(({ name }) => name);
  if (!top.includes(expected.host)) return `host ${expected.host}, not one of ${top}`;
  return top[0] === expected.host ? 'same' : 'tie';
}

function comparePreemption({ nominated = '', victims = [] }, best) {
  const names = best.map(({ nodeName }) => nodeName);
  if (nominated === '') return names.length === 0 ? 'same' : `no preemption, but ${names}`;
  const candidate = best.find(({ nodeName }) => nodeName === nominated);
  if (candidate === undefined) return `preemption on ${nominated}, not one of ${names}`;
  const removed = candidate.victims.map(({ pod }) => podKey(pod)).sort();
  if (JSON.stringify(removed) !== JSON.stringify(victims)) return `victims ${victims}, not ${removed}`;
  return names[0] === nominated ? 'same' : 'tie';
}

function sorted(scores) {
  return Object.entries(scores).sort(([left], [right]) => (left < right ? -1 : 1));
}

function generate() {
  const clusters = new Map();
  let count = 0;
  for (let seed = Number(options.seed); count < Number(options.placements); seed++) {
    const objects = generateCluster(seed);
    count += objects.filter(({ kind, spec }) => kind === 'Pod' && spec.nodeName === undefined).length;
    clusters.set(String(seed), objects);
  }
  return clusters;
}

const folder = mkdtempSync(join(tmpdir(), 'scheduler-'));
try {
  const [lib, binary] = [await loadScheduler(folder), buildReference(folder)];
  const counts = { same: 0, tie: 0, different: 0, placed: 0, preempted: 0, rejected: 0 };
  let shown = 0;
  for await (const { id, objects, decisions } of decisionsOf(binary, generate())) {
    const pods = objects.filter(({ kind }) => kind === 'Pod');
    const bound = pods.filter(({ spec }) => spec.nodeName !== undefined);
    const pending = new Map(pods.filter(({ spec }) => spec.nodeName === undefined).map((pod) => [podKey(pod), pod]));
    for (const [index, expected] of decisions.entries()) {
      const pod = pending.get(expected.pod);
      const result = compare(expected, decide(lib, { pod, objects, bound, pending: pending.values() }));
      counts[result === 'same' || result === 'tie' ? result : 'different']++;
      counts[expected.host !== undefined ? 'placed' : expected.nominated ? 'preempted' : 'rejected']++;
      if (result !== 'same' && result !== 'tie' && shown++ < Number(options.show))
        console.log(`cluster ${id}, ${expected.pod}: ${result}`);
      if (expected.host === undefined) continue;
      pending.delete(expected.pod);
      const startTime = new Date(FIRST_START + (index + 1) * 60_000).toISOString();
      bound.push({ ...pod, spec: { ...pod.spec, nodeName: expected.host }, status: { ...pod.status, startTime } });
    }
  }
  const total = counts.same + counts.tie + counts.different;
  console.log(`${total} placements: ${counts.same} same, ${counts.tie} ties, ${counts.different} different`);
  console.log(`the reference placed ${counts.placed}, preempted for ${counts.preempted}, rejected ${counts.rejected}`);
  if (counts.different > 0) process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
