import { defineConfig } from 'tsup';

/**
 * JavaScript only; declarations come from `tsc -p tsconfig.build.json`. All entries are built in one graph, so that what
 * two of them share is one chunk and a class has one identity whichever entry it came from.
 */
export default defineConfig({
  entry: {
    index: 'src/index.ts',
    core: 'src/core.ts',
    'kinds/index': 'src/kinds/index.ts',
    'http/index': 'src/http/index.ts',
    'service-worker/index': 'src/service-worker/index.ts',
    'codec/protobuf/index': 'src/codec/protobuf/index.ts',
    'codec/cbor/index': 'src/codec/cbor/index.ts',
    'node/index': 'src/node/index.ts',
    // A program: its first line makes it executable.
    'node/cli': 'src/node/cli.ts',
    'testing/index': 'src/testing/index.ts',
  },
  format: 'esm',
  target: 'es2022',
  platform: 'neutral',
  splitting: true,
  sourcemap: true,
  minify: false,
  // Dependencies stay imports, and so do the built-ins of src/node, with their `node:` prefix.
  skipNodeModulesBundle: true,
  external: [/^node:/],
  removeNodeProtocol: false,
  clean: true,
  silent: true,
});
