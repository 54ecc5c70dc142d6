/**
 * The soak test on the command line, with the program of the build.
 *
 *     npm run build
 *     npm run soak -- --minutes 20 --seed 7 --heap 512
 */
import process from 'node:process';
import { parseArgs } from 'node:util';
import { printCounts, program, withBundle } from './bundled.mjs';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '1' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    heap: { type: 'string', default: '512' },
  },
});
const [minutes, seed, heapMegabytes] = [values.minutes, values.seed, values.heap].map(Number);
if (!(minutes > 0 && Number.isInteger(seed) && heapMegabytes >= 64)) {
  throw new Error('usage: npm run soak -- --minutes N [--seed S] [--heap MB]');
}

await withBundle('test/soak/soak.ts', async ({ runSoak }) => {
  console.log(`soak: ${minutes} minutes, seed ${seed}, ${heapMegabytes} MB, Node ${process.version}`);
  const result = await runSoak({ program, seconds: minutes * 60, seed, heapMegabytes, log: console.log });
  printCounts(result.counts);
  for (const [time, { heap, rss }] of Object.entries(result.memory)) {
    console.log(`memory of the server, ${time}: heap ${heap.toFixed(0)} MB, rss ${rss.toFixed(0)} MB`);
  }
  console.log(`${result.violations.length} violations, seed ${seed}`);
  if (result.violations.length > 0) process.exitCode = 1;
});
