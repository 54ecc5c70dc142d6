/**
 * The linearizability test on the command line. Needs `etcd` on the PATH.
 *
 *     npm run linearizability -- --runs 20 --seconds 30 --seed 7
 */
import { copyFileSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('../../', import.meta.url));
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

const folder = mkdtempSync(join(tmpdir(), 'orchplane-linearizability-build-'));
try {
  copyFileSync(join(root, 'package.json'), join(folder, 'package.json'));
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'), 'junction');
  const bundle = (source, target, format) =>
    build({
      entryPoints: [join(root, source)],
      outfile: join(folder, 'dist', target),
      format,
      bundle: true,
      platform: 'node',
      target: 'es2022',
      packages: 'external',
      logLevel: 'silent',
    });
  await bundle('src/node/cli.ts', 'node/cli.js', 'esm');
  await bundle('src/node/http-thread-main.ts', 'node/http-thread.cjs', 'cjs');
  await bundle('test/linearizability/linearizability.ts', 'linearizability.js', 'esm');
  const { runLinearizability } = await import(pathToFileURL(join(folder, 'dist/linearizability.js')).href);
  const totals = {};
  const add = (what, by) => {
    totals[what] = (totals[what] ?? 0) + by;
  };
  for (let run = 0; run < runs; run++) {
    const program = join(folder, 'dist/node/cli.js');
    const result = await runLinearizability({ program, seconds, seed: seed + run, log: console.log });
    const { counts, operations, unknown, violations } = result;
    console.log(
      `seed ${seed + run}: ${operations} operations, ${unknown} unknown results, ${violations.length} violations`,
    );
    for (const [what, count] of Object.entries({ ...counts, operations, unknown, violations: violations.length })) {
      add(what, count);
    }
  }
  for (const what of Object.keys(totals).sort()) console.log(`${totals[what]}`.padStart(10), what);
  if (totals.violations > 0) process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true });
}
