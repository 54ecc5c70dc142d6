/**
 * Measures the heap of a number of objects: `node --expose-gc heap.mjs cluster|map COUNT`.
 */
import process from 'node:process';
import { createCluster } from '../../../dist/index.js';
import { ConfigMap } from '../../../dist/kinds/index.js';
import { bareObject, configMapInput } from '../fixtures.mjs';

const [holder, wanted] = process.argv.slice(2);
const count = Number(wanted);

const container = holder === 'cluster' ? createCluster().api(ConfigMap) : new Map();
// Compiles the code and fills the caches before the first measurement.
await put(0, 200);
const before = heapUsed();
await put(200, 200 + count);
const bytes = heapUsed() - before;
console.log(JSON.stringify({ bytes, count: (await size()) - 200 }));

async function put(from, to) {
  for (let i = from; i < to; i++) {
    const input = configMapInput(i);
    if (holder === 'cluster') await container.create(input);
    else container.set(`default/${input.metadata.name}`, bareObject(input, 'default', i));
  }
}

async function size() {
  return holder === 'cluster' ? (await container.list()).items.length : container.size;
}

function heapUsed() {
  for (let i = 0; i < 4; i++) globalThis.gc();
  return process.memoryUsage().heapUsed;
}
