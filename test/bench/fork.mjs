/**
 * fork() of small and large clusters, compared with a copy of a Map with as many entries.
 */
import { createCluster } from '../../dist/index.js';
import { ConfigMap } from '../../dist/kinds/index.js';
import { bareMap, configMapInput, configMapInputs, fill } from './fixtures.mjs';
import { compare, verify } from './measure.mjs';

export async function forks({ scale, largeCount, ...settings }) {
  const rows = [];
  // A test that starts from ten thousand objects forks them: a thousand such tests should fork in less than a second.
  for (const size of [100, 10_000, largeCount]) {
    const inputs = configMapInputs(size);
    const cluster = createCluster();
    await fill(cluster.api(ConfigMap), inputs);
    await verifyFork(cluster, size);
    // A fork copies the recent history, which is bounded; a Map copies everything.
    const count = Math.ceil(2_000 * scale);
    const copies = Math.max(3, Math.ceil((200_000 * scale) / size));
    const rates = await compare({ ours: forking(cluster, count), bare: copying(bareMap(inputs), copies) }, settings);
    rows.push({ name: `fork() with ${size.toLocaleString('en')} objects`, unit: 'ops/s', ...rates });
  }
  return rows;
}

/** Checks that a fork has all objects and is independent of its parent. */
async function verifyFork(cluster, size) {
  const fork = cluster.fork();
  await fork.api(ConfigMap).create(configMapInput(size));
  const here = (await cluster.api(ConfigMap).list()).items.length;
  const there = (await fork.api(ConfigMap).list()).items.length;
  verify(here === size && there === size + 1, 'a fork is a cluster of its own');
}

function forking(cluster, count) {
  const version = cluster.resourceVersion;
  return {
    count,
    prepare: () => undefined,
    run() {
      let right = 0;
      for (let i = 0; i < count; i++) if (cluster.fork().resourceVersion === version) right++;
      return right;
    },
    check: (_state, right) => verify(right === count, 'every fork starts at the version of its parent'),
  };
}

function copying(map, count) {
  return {
    count,
    prepare: () => undefined,
    run() {
      let entries = 0;
      for (let i = 0; i < count; i++) entries += new Map(map).size;
      return entries;
    },
    check: (_state, entries) => verify(entries === count * map.size, 'every copy has all entries'),
  };
}
