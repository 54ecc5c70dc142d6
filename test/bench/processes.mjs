/**
 * Measurements in separate processes: the time until the first cluster exists, and the memory of objects.
 */
import { spawnSync } from 'node:child_process';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { median, verify } from './measure.mjs';

/** Starts processes that import the library and create a cluster, alternating with processes that do nothing. */
export function coldStart({ starts }) {
  const samples = {
    inside: [],
    insideCore: [],
    pod: [],
    podCore: [],
    wall: [],
    wallCore: [],
    nothing: [],
    nothingCore: [],
  };
  for (let i = -1; i < starts; i++) {
    const cluster = runNode('children/cold-start.mjs');
    const nothing = runNode('children/nothing.mjs');
    verify(cluster.result.namespaces === 4, 'the new cluster has its namespaces');
    verify(cluster.result.phase === 'Pending', 'the first pod was created');
    // The first pair fills the file cache.
    if (i < 0) continue;
    samples.inside.push(cluster.result.ms);
    samples.insideCore.push(cluster.result.coreMs);
    samples.pod.push(cluster.result.firstPod.ms);
    samples.podCore.push(cluster.result.firstPod.coreMs);
    samples.wall.push(cluster.wallMs);
    samples.wallCore.push(cluster.result.wholeCoreMs);
    samples.nothing.push(nothing.wallMs);
    samples.nothingCore.push(nothing.result.wholeCoreMs);
  }
  const inside = least(samples.inside, samples.insideCore);
  const whole = least(samples.wall, samples.wallCore);
  return [
    { name: 'cold start: import and createCluster', unit: 'ms', goal: 110, ours: inside },
    { name: 'cold start: first Pod of the process', unit: 'ms', goal: 8, ours: least(samples.pod, samples.podCore) },
    { name: 'cold start: whole process', unit: 'ms', ours: whole, bare: least(samples.nothing, samples.nothingCore) },
  ];
}

/** The heap per object in a cluster, and in a Map of the same plain objects. */
export function heapPerObject({ largeCount, repeats }) {
  const samples = { cluster: [], map: [] };
  for (let i = 0; i < repeats; i++) {
    for (const holder of ['cluster', 'map']) {
      const { result } = runNode('children/heap.mjs', [holder, String(largeCount)], ['--expose-gc']);
      verify(result.count === largeCount, 'all objects were there when the heap was measured');
      samples[holder].push(result.bytes / largeCount);
    }
  }
  const name = `heap per object at ${largeCount.toLocaleString('en')}`;
  return [{ name, unit: 'bytes', goal: 2_500, ours: least(samples.cluster), bare: least(samples.map) }];
}

function least(samples, core) {
  const onCore = core === undefined ? {} : { onCore: Math.min(...core) };
  return { median: median(samples), best: Math.min(...samples), ...onCore };
}

/** Runs a module of this folder in its own process, which prints its result as JSON. */
export function runNode(file, args = [], nodeArgs = []) {
  const path = fileURLToPath(new URL(file, import.meta.url));
  const start = process.hrtime.bigint();
  const child = spawnSync(process.execPath, [...nodeArgs, path, ...args], { encoding: 'utf8' });
  const wallMs = Number(process.hrtime.bigint() - start) / 1e6;
  if (child.error !== undefined) throw child.error;
  if (child.status !== 0) throw new Error(`${file} failed with ${child.status ?? child.signal}: ${child.stderr}`);
  return { wallMs, result: JSON.parse(child.stdout) };
}
