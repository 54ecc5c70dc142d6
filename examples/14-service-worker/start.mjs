/**
 * Bundles the page and the worker, and serves the three files until Ctrl-C: `node examples/14-service-worker/start.mjs`.
 * A port may be given. This server only serves files; the service worker answers all requests to the cluster.
 */
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const SCRIPT = 'text/javascript; charset=utf-8';

const files = new Map([
  ['/', { type: 'text/html; charset=utf-8', body: await readFile(new URL('index.html', import.meta.url)) }],
  ['/page.js', { type: SCRIPT, body: await bundle('page.js', 'esm') }],
  // A classic script, because not every browser supports module workers.
  ['/worker.js', { type: SCRIPT, body: await bundle('worker.js', 'iife') }],
]);

const server = createServer(({ url = '/' }, response) => {
  const file = files.get(url);
  response.writeHead(file === undefined ? 404 : 200, {
    'content-type': file?.type ?? 'text/plain',
    'cache-control': 'no-cache',
  });
  response.end(file?.body ?? 'not there');
});
// Service workers need https or localhost.
server.listen(Number(process.argv[2] ?? 0), '127.0.0.1');
await once(server, 'listening');
console.log(`http://127.0.0.1:${server.address().port}/ (Ctrl-C ends it)`);

async function bundle(file, format) {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL(file, import.meta.url))],
    bundle: true,
    minify: true,
    format,
    target: 'es2022',
    write: false,
    // Ignore the repository's tsconfig, which maps the package to its sources.
    tsconfigRaw: '{}',
  });
  return outputFiles[0].contents;
}
