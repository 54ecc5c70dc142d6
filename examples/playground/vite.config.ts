/**
 * The playground as static files: paths are relative, so that it runs below any address. The library is taken from its
 * sources by the names its users import.
 */
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

const source = (path: string): string => fileURLToPath(new URL(`../../src/${path}`, import.meta.url));

/** The control plane changes with the library, the page more often: each has its own file. */
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
    // A whole control plane is what this page is for.
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
