/** Runs long tests on the command line: their TypeScript is bundled, and they start the program of the build. */
import { copyFileSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** The command line of the build, which `npm run build` makes. */
export const program = join(root, 'dist/node/cli.js');

/** Calls `use` with the exports of a file, given by its path in the repository. */
export async function withBundle(source, use) {
  const folder = mkdtempSync(join(tmpdir(), 'orchplane-bundled-'));
  try {
    copyFileSync(join(root, 'package.json'), join(folder, 'package.json'));
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'), 'junction');
    const outfile = join(folder, 'dist/test.js');
    const options = { bundle: true, platform: 'node', format: 'esm', target: 'es2022', packages: 'external' };
    await build({ ...options, entryPoints: [join(root, source)], outfile, logLevel: 'silent' });
    await use(await import(pathToFileURL(outfile).href));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Prints counts by name. */
export function printCounts(counts) {
  for (const what of Object.keys(counts).sort()) console.log(`${counts[what]}`.padStart(10), what);
}
