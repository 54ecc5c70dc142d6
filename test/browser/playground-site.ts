/** The deployed playground: built once into a temporary folder and served as static files below a path. */
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { extname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build, createLogger } from 'vite';

/** Not the root, so that links between files must be relative. */
export const BASE = '/somewhere/below/';

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
};

export interface PlaygroundSite {
  readonly url: string;
  /** The warnings of the build. */
  readonly warnings: readonly string[];
  /** Compressed sizes by type of file. */
  readonly gzipped: Readonly<Record<string, number>>;
  readonly html: string;
  /** Requested paths that do not exist. */
  readonly missing: readonly string[];
  close(): Promise<void>;
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
  const missing: string[] = [];
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost');
    const path = pathname.startsWith(BASE) ? normalize(pathname.slice(BASE.length) || 'index.html') : '';
    const body = await readFile(join(folder, path)).catch(() => undefined);
    if (body === undefined) missing.push(pathname);
    response.writeHead(body === undefined ? 404 : 200, { 'Content-Type': TYPES[extname(path)] ?? 'text/plain' });
    response.end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}${BASE}`,
    warnings,
    gzipped: await gzippedSizes(folder),
    html: await readFile(join(folder, 'index.html'), 'utf8'),
    missing,
    async close() {
      await new Promise((resolve) => server.close(resolve));
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
