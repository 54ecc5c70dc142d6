/** The program of the HTTP thread, built from the sources. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { buildSync } from 'esbuild';

/** Builds the file and returns its URL. It is removed when the process ends. */
export function buildHttpThread(): URL {
  const folder = mkdtempSync(join(tmpdir(), 'orchplane-thread-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const outfile = join(folder, 'http-thread.cjs');
  buildSync({
    entryPoints: [fileURLToPath(new URL('../../../src/node/http-thread-main.ts', import.meta.url))],
    outfile,
    format: 'cjs',
    platform: 'node',
    bundle: true,
    // Optional accelerators of ws, which is part of the file because the folder has no packages.
    external: ['bufferutil', 'utf-8-validate'],
  });
  return pathToFileURL(outfile);
}
