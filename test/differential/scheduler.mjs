/**
 * Compares placements: generates clusters, lets the scheduler of the reference place pods on them (scheduler/reference.go),
 * and compares each decision with that of the library on the same state: the nodes that fit, the score of each by plugin,
 * the chosen node, the message, and the victims of preemption.
 *
 *   node test/differential/scheduler.mjs --source /path/to/kubernetes [--placements 10000] [--seed 1] [--workers 8] [--show 3]
 *     [--binary FILE] [--record FILE]
 *
 * The source tree is one of release 1.33 in which Go can build cmd/kube-scheduler; nothing is written to it. A differing node
 * is a tie if the library rates it equal: the reference chooses at random among those. `--binary` names a program that was
 * built before. `--record` writes the clusters and the decisions: test/vectors/scheduler.json.gz has 400 placements. The
 * exit code is 1 if anything differs.
 */
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import process from 'node:process';
import { createInterface } from 'node:readline';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { generateCluster } from './scheduler/clusters.mjs';
import { currentVersion } from './scheduler/devices.mjs';
import { replay } from './scheduler/replay.mjs';

const { values: options } = parseArgs({
  options: {
    source: { type: 'string' },
    binary: { type: 'string' },
    placements: { type: 'string', default: '10000' },
    seed: { type: 'string', default: '1' },
    workers: { type: 'string', default: '8' },
    show: { type: 'string', default: '3' },
    record: { type: 'string' },
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
  const recorded = [];
  let shown = 0;
  for await (const cluster of decisionsOf(binary, generate())) {
    recorded.push(cluster);
    for (const [index, result] of replay(lib, cluster).entries()) {
      const expected = cluster.decisions[index];
      const isEqual = result === 'same' || result === 'tie';
      counts[isEqual ? result : 'different']++;
      counts[expected.host !== undefined ? 'placed' : expected.nominated ? 'preempted' : 'rejected']++;
      if (!isEqual && shown++ < Number(options.show)) console.log(`cluster ${cluster.id}, ${expected.pod}: ${result}`);
    }
  }
  if (options.record !== undefined) writeFileSync(options.record, gzipSync(JSON.stringify(recorded), { level: 9 }));
  const total = counts.same + counts.tie + counts.different;
  console.log(`${total} placements: ${counts.same} same, ${counts.tie} ties, ${counts.different} different`);
  console.log(`the reference placed ${counts.placed}, preempted for ${counts.preempted}, rejected ${counts.rejected}`);
  if (counts.different > 0) process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
