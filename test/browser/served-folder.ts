/** A server of static files, as a host of pages has it: below a path, with the index of a folder. */
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join, normalize } from 'node:path';
import { inject, vi } from 'vitest';
import type { BuildResult } from './documentation.js';

/** Not the root, so that links between files must be relative. */
const BASE = '/somewhere/below/';

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
};

export interface ServedFolder {
  readonly folder: string;
  readonly url: string;
  /** Every requested path, relative to the folder. */
  readonly requested: readonly string[];
  /** Requested paths that do not exist. */
  readonly missing: readonly string[];
  close(): Promise<void>;
}

async function serveFolder(folder: string): Promise<ServedFolder> {
  const requested: string[] = [];
  const missing: string[] = [];
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost');
    const path = pathname.startsWith(BASE)
      ? normalize(pathname.slice(BASE.length).replace(/(^|\/)$/, '$1index.html'))
      : '';
    requested.push(path);
    const body = await readFile(join(folder, path)).catch(() => undefined);
    if (body === undefined) missing.push(pathname);
    response.writeHead(body === undefined ? 404 : 200, { 'Content-Type': TYPES[extname(path)] ?? 'text/plain' });
    response.end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    folder,
    url: `http://127.0.0.1:${port}${BASE}`,
    requested,
    missing,
    async close() {
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** How long the documentation site may take to be built on a busy machine. */
export const BUILD_MS = 400_000;

/** Serves the documentation site or a folder of it, when it is built. */
export async function serveDocumentation(path = ''): Promise<ServedFolder & Pick<BuildResult, 'messages'>> {
  const folder = inject('documentation');
  const readResult = () => readFile(join(folder, 'result.json'), 'utf8').catch(() => undefined);
  const result = await vi.waitUntil(readResult, { timeout: BUILD_MS, interval: 200 });
  const { code, messages } = JSON.parse(result) as BuildResult;
  if (code !== 0) throw new Error(`The documentation site was not built (exit code ${code}):\n${messages.join('\n')}`);
  return { ...(await serveFolder(join(folder, 'site', path))), messages };
}
