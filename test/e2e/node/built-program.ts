/** The command line, built as for users, in a folder of its own. */
import { copyFileSync, mkdtempSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { root } from '../../package/manifest.js';

/** The caller must remove `folder`. */
export async function buildProgram(prefix: string): Promise<{ readonly folder: string; readonly program: string }> {
  const folder = mkdtempSync(join(tmpdir(), prefix));
  const program = join(folder, 'dist/node/cli.js');
  copyFileSync(join(root, 'package.json'), join(folder, 'package.json'));
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'), 'junction');
  await build({
    entryPoints: [join(root, 'src/node/cli.ts')],
    outfile: program,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'es2022',
    packages: 'external',
    logLevel: 'silent',
  });
  return { folder, program };
}
