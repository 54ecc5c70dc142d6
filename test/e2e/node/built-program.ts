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
  const options = {
    bundle: true,
    platform: 'node',
    target: 'es2022',
    packages: 'external',
    logLevel: 'silent',
  } as const;
  const thread = join(folder, 'dist/node/http-thread.cjs');
  await build({ ...options, entryPoints: [join(root, 'src/node/cli.ts')], outfile: program, format: 'esm' });
  await build({
    ...options,
    entryPoints: [join(root, 'src/node/http-thread-main.ts')],
    outfile: thread,
    format: 'cjs',
  });
  return { folder, program };
}
