/**
 * The site of the browser tests: pages with one script each, bundled from the sources, and a static server. Its policy
 * allows scripts from files only, so that eval is forbidden.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { build } from 'esbuild';
import { root } from '../package/manifest.js';

/** Browsers that are widely available since 2023. */
const BROWSERS = ['chrome110', 'firefox115', 'safari16.4'];

/** The path of each script and its source. */
const SCRIPTS: Readonly<Record<string, string>> = {
  '/page.js': 'page.ts',
  '/old-browser.js': 'old-browser.ts',
  '/old-page.js': 'old-page.ts',
  '/journal-page.js': 'journal-page.ts',
  '/shop-page.js': 'shop-page.ts',
  '/worker-page.js': 'worker-page.ts',
  '/worker.js': 'worker.ts',
  '/app/page.js': 'prefix-page.ts',
  '/app/worker.js': 'prefix-worker.ts',
};

const PAGES: Readonly<Record<string, readonly string[]>> = {
  '/page.html': ['/page.js'],
  '/old.html': ['/old-browser.js', '/old-page.js'],
  '/journal.html': ['/journal-page.js'],
  '/shop.html': ['/shop-page.js'],
  '/worker.html': ['/worker-page.js'],
  '/app/': ['/app/page.js'],
  '/eval.html': ['/eval.js'],
};

/** A script that the policy forbids, to check that the violation is noticed. */
const EVAL = `
  document.addEventListener('securitypolicyviolation', ({ blockedURI }) => window.report([], [blockedURI]));
  try { new Function('')(); } catch (error) { if (error.name !== 'EvalError') throw error; }
`;

export interface Bundles {
  /** The scripts by path. */
  readonly scripts: ReadonlyMap<string, Uint8Array>;
  /** The warnings of the bundler, such as unsupported syntax. */
  readonly warnings: readonly string[];
}

export async function bundleScripts(): Promise<Bundles> {
  const built = await Promise.all(
    Object.entries(SCRIPTS).map(async ([path, source]) => {
      const { outputFiles, warnings } = await build({
        entryPoints: [`${root}test/browser/pages/${source}`],
        bundle: true,
        format: 'iife',
        platform: 'browser',
        target: BROWSERS,
        write: false,
        logLevel: 'silent',
      });
      const script = outputFiles[0]?.contents ?? new Uint8Array();
      return { path, script, warnings: warnings.map(({ text, location }) => `${location?.file ?? ''}: ${text}`) };
    }),
  );
  return {
    scripts: new Map(built.map(({ path, script }) => [path, script])),
    warnings: [...new Set(built.flatMap(({ warnings }) => warnings))],
  };
}

export interface Site {
  readonly origin: string;
  /** Every requested path in order. */
  readonly requestedPaths: readonly string[];
  close(): Promise<void>;
}

export async function serveSite(scripts: Bundles['scripts']): Promise<Site> {
  const requestedPaths: string[] = [];
  const server = createServer(({ url = '/' }, response) => {
    requestedPaths.push(url);
    const { type, body } = contentOf(url, scripts) ?? {};
    response.writeHead(type === undefined ? 404 : 200, {
      'content-type': type ?? 'text/plain',
      'content-security-policy': "default-src 'self'; script-src 'self'",
      'cache-control': 'no-store',
    });
    response.end(body ?? 'not there');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    // Service workers require a secure origin; the loopback address is one.
    origin: `http://127.0.0.1:${port}`,
    requestedPaths,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function contentOf(url: string, scripts: Bundles['scripts']): { type: string; body: string | Uint8Array } | undefined {
  const script = url === '/eval.js' ? EVAL : scripts.get(url);
  if (script !== undefined) return { type: 'text/javascript; charset=utf-8', body: script };
  if (url.endsWith('.txt')) return { type: 'text/plain', body: 'from the network' };
  if (url === '/favicon.ico') return { type: 'image/x-icon', body: '' };
  const page = PAGES[url];
  if (page === undefined) return undefined;
  const tags = page.map((src) => `<script src="${src}"></script>`).join('');
  return { type: 'text/html; charset=utf-8', body: `<!doctype html><title>orchplane</title>${tags}` };
}
