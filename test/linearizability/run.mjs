/**
 * The linearizability test on the command line. Needs `etcd` on the PATH.
 *
 *     npm run build
 *     npm run linearizability -- --runs 20 --seconds 30 --seed 7
 */
import process from 'node:process';
import { parseArgs } from 'node:util';
import { printCounts, program, withBundle } from '../soak/bundled.mjs';

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '1' },
    seconds: { type: 'string', default: '30' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
  },
});
const [runs, seconds, seed] = [values.runs, values.seconds, values.seed].map(Number);
if (!(runs > 0 && seconds > 0 && Number.isInteger(seed))) {
  throw new Error('usage: npm run linearizability -- --runs N --seconds S [--seed X]');
}

await withBundle('test/linearizability/linearizability.ts', async ({ runLinearizability }) => {
  const totals = {};
  const add = (what, by) => {
    totals[what] = (totals[what] ?? 0) + by;
  };
  for (let run = 0; run < runs; run++) {
    const result = await runLinearizability({ program, seconds, seed: seed + run, log: console.log });
    const { counts, operations, unknown, violations } = result;
    console.log(
      `seed ${seed + run}: ${operations} operations, ${unknown} unknown results, ${violations.length} violations`,
    );
    for (const [what, count] of Object.entries({ ...counts, operations, unknown, violations: violations.length })) {
      add(what, count);
    }
  }
  printCounts(totals);
  if (totals.violations > 0) process.exitCode = 1;
});
