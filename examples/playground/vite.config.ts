/**
 * Builds the playground as static files. Paths are relative, so that it runs below any address. Imports of `orchplane`
 * resolve to the library's sources.
 */
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

const source = (path: string): string => fileURLToPath(new URL(`../../src/${path}`, import.meta.url));

/** The library and the page are separate chunks, because the page changes more often. */
const isLibrary = (id: string): boolean => id.startsWith(source('')) || /node_modules[\\/](zod|immer)/.test(id);

export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  base: './',
  resolve: {
    alias: [
      { find: /^orchplane$/, replacement: source('index.ts') },
      { find: /^orchplane\/core$/, replacement: source('core.ts') },
      { find: /^orchplane\/(.+)$/, replacement: `${source('')}$1/index.ts` },
    ],
  },
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    target: 'es2022',
    // The page contains the whole library, so its chunks are larger than the default limit.
    chunkSizeWarningLimit: 3_000,
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [
            { name: 'editor', test: /node_modules[\\/]@(codemirror|lezer)/ },
            { name: 'cluster', test: isLibrary },
          ],
        },
      },
    },
  },
});
