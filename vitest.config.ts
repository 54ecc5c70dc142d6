import { availableParallelism } from 'node:os';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const source = (path: string) => fileURLToPath(new URL(`./src/${path}`, import.meta.url));

/** Tests that neither measure their process nor change anything in it that another would notice. */
const SHARING = [
  ...['unit', 'regression', 'property', 'apply', 'conformance', 'specification', 'linearizability', 'soak'],
  ...['e2e/client-node', 'e2e/etcd', 'e2e/kubectl'],
].map((folder) => `test/${folder}/**/*.test.ts`);

/** Tests of the documentation site, which is built once for all of them. */
const SITE = ['docs-site', 'playground', 'playground-panels'].map((name) => `test/browser/${name}.test.ts`);

const CLIENT_NODE = 'test/e2e/client-node/*.test.ts';

/** Release 2 of client-node needs Node 22.19: undici 8 does not load in older versions. */
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
const loadsClientNode2 = major > 22 || (major === 22 && minor >= 19);

export default defineConfig({
  resolve: {
    // Tests read the sources by the names users import; test/package checks the built files.
    alias: [
      { find: /^orchplane$/, replacement: source('index.ts') },
      { find: /^orchplane\/core$/, replacement: source('core.ts') },
      {
        find: /^orchplane\/(kinds|admission|controllers|runtime|http|service-worker|indexed-db|node|etcd|testing|vitest|jest|node-test|opentelemetry|zod|codec\/protobuf|codec\/cbor)$/,
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
        test: { name: 'whole', include: ['test/**/*.test.ts'], exclude: [...SHARING, ...SITE] },
      },
      {
        extends: true,
        test: { name: 'site', include: SITE, globalSetup: 'test/browser/documentation.ts' },
      },
      {
        extends: true,
        // The tests of release 1, which run in every version of Node, with release 2.
        resolve: { alias: [{ find: /^@kubernetes\/client-node$/, replacement: 'client-node-2' }] },
        test: { name: 'client-node 2', isolate: false, include: loadsClientNode2 ? [CLIENT_NODE] : [] },
      },
    ],
    // One more than there are cores: tests of browsers, processes and etcd wait most of their time.
    maxWorkers: availableParallelism() + 1,
    // No test waits for time to pass; a busy machine may make any of them wait for the processor.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 10_000 } },
    typecheck: { enabled: false },
  },
});
