import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const source = (path: string) => fileURLToPath(new URL(`./src/${path}`, import.meta.url));

export default defineConfig({
  resolve: {
    // Tests read the sources by the names users import; test/package checks the built files.
    alias: [
      { find: /^orchplane$/, replacement: source('index.ts') },
      { find: /^orchplane\/core$/, replacement: source('core.ts') },
      {
        find: /^orchplane\/(kinds|admission|controllers|http|service-worker|node|testing|codec\/protobuf|codec\/cbor)$/,
        replacement: `${source('')}$1/index.ts`,
      },
    ],
  },
  test: {
    include: ['test/**/*.test.ts'],
    // No test waits for time to pass; a busy machine may make any of them wait for the processor.
    testTimeout: 20_000,
    typecheck: { enabled: false },
  },
});
