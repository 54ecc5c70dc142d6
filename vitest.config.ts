import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const source = (path: string) => fileURLToPath(new URL(`./src/${path}`, import.meta.url));

/** Tests that neither measure their process nor change anything in it that another would notice. */
const SHARING = ['test/unit/**/*.test.ts', 'test/regression/**/*.test.ts'];

export default defineConfig({
  resolve: {
    // Tests read the sources by the names users import; test/package checks the built files.
    alias: [
      { find: /^orchplane$/, replacement: source('index.ts') },
      { find: /^orchplane\/core$/, replacement: source('core.ts') },
      {
        find: /^orchplane\/(kinds|admission|controllers|http|service-worker|indexed-db|node|testing|vitest|zod|codec\/protobuf|codec\/cbor)$/,
        replacement: `${source('')}$1/index.ts`,
      },
    ],
  },
  test: {
    projects: [
      {
        extends: true,
        // Loading the library is most of what a small test costs: these files share one copy of it in each worker.
        test: { name: 'parts', include: SHARING, isolate: false },
      },
      {
        extends: true,
        test: { name: 'whole', include: ['test/**/*.test.ts'], exclude: SHARING },
      },
    ],
    // No test waits for time to pass; a busy machine may make any of them wait for the processor.
    testTimeout: 20_000,
    typecheck: { enabled: false },
  },
});
