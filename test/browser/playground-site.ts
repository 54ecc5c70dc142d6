/** The deployed playground: built once into a temporary folder and served as static files below a path. */
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build, createLogger } from 'vite';
import { type ServedFolder, serveFolder } from './served-folder.js';

export interface PlaygroundSite extends ServedFolder {
  /** The warnings of the build. */
  readonly warnings: readonly string[];
  /** Compressed sizes by type of file. */
  readonly gzipped: Readonly<Record<string, number>>;
  readonly html: string;
}

export async function servePlayground(): Promise<PlaygroundSite> {
  const folder = await mkdtemp(join(tmpdir(), 'orchplane-playground-'));
  const warnings: string[] = [];
  const logger = createLogger('silent');
  logger.warn = (message) => void warnings.push(message);
  await build({
    configFile: fileURLToPath(new URL('../../examples/playground/vite.config.ts', import.meta.url)),
    customLogger: logger,
    build: { outDir: folder, emptyOutDir: true },
  });
  const served = await serveFolder(folder);
  return {
    ...served,
    warnings,
    gzipped: await gzippedSizes(folder),
    html: await readFile(join(folder, 'index.html'), 'utf8'),
    async close() {
      await served.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function gzippedSizes(folder: string): Promise<Readonly<Record<string, number>>> {
  const sizes: Record<string, number> = {};
  for (const name of await readdir(join(folder, 'assets'))) {
    const kind = name.replace(/-[\w-]+\.(\w+)$/, '.$1');
    sizes[kind] = (sizes[kind] ?? 0) + gzipSync(await readFile(join(folder, 'assets', name))).length;
  }
  return sizes;
}
