/**
 * The soak test on the command line, with the program of the build.
 *
 *     npm run build
 *     npm run soak -- --minutes 20 --seed 7 --heap 512
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
    minutes: { type: 'string', default: '1' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    heap: { type: 'string', default: '512' },
  },
});
const [minutes, seed, heapMegabytes] = [values.minutes, values.seed, values.heap].map(Number);
if (!(minutes > 0 && Number.isInteger(seed) && heapMegabytes >= 64)) {
  throw new Error('usage: npm run soak -- --minutes N [--seed S] [--heap MB]');
}

const folder = mkdtempSync(join(tmpdir(), 'orchplane-soak-build-'));
try {
  copyFileSync(join(root, 'package.json'), join(folder, 'package.json'));
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'), 'junction');
  await build({
    entryPoints: [join(root, 'test/soak/soak.ts')],
    outfile: join(folder, 'dist/soak.js'),
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'es2022',
    packages: 'external',
    logLevel: 'silent',
  });
  const { runSoak } = await import(pathToFileURL(join(folder, 'dist/soak.js')).href);
  console.log(`soak: ${minutes} minutes, seed ${seed}, ${heapMegabytes} MB, Node ${process.version}`);
  const program = join(root, 'dist/node/cli.js');
  const result = await runSoak({ program, seconds: minutes * 60, seed, heapMegabytes, log: console.log });
  for (const what of Object.keys(result.counts).sort()) console.log(`${result.counts[what]}`.padStart(10), what);
  for (const [time, { heap, rss }] of Object.entries(result.memory)) {
    console.log(`memory of the server, ${time}: heap ${heap.toFixed(0)} MB, rss ${rss.toFixed(0)} MB`);
  }
  console.log(`${result.violations.length} violations, seed ${seed}`);
  if (result.violations.length > 0) process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true });
}
