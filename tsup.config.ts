import { defineConfig, type Options } from 'tsup';

/** JavaScript only; declarations come from `tsc -p tsconfig.build.json`. `npm run build` empties `dist` before. */
const common: Options = {
  format: 'esm',
  target: 'es2022',
  platform: 'neutral',
  minify: false,
  // Dependencies stay imports, and so do the built-ins of src/node, with their `node:` prefix.
  skipNodeModulesBundle: true,
  external: [/^node:/],
  removeNodeProtocol: false,
  clean: false,
  silent: true,
};

export default defineConfig([
  /**
   * For Node: few files, which load fast. All entries are built in one graph, so that what two of them share is one chunk
   * and a class has one identity whichever entry it came from.
   */
  {
    ...common,
    entry: {
      index: 'src/index.ts',
      core: 'src/core.ts',
      'kinds/index': 'src/kinds/index.ts',
      'admission/index': 'src/admission/index.ts',
      'controllers/index': 'src/controllers/index.ts',
      'http/index': 'src/http/index.ts',
      'service-worker/index': 'src/service-worker/index.ts',
      'indexed-db/index': 'src/indexed-db/index.ts',
      'codec/protobuf/index': 'src/codec/protobuf/index.ts',
      'codec/cbor/index': 'src/codec/cbor/index.ts',
      'node/index': 'src/node/index.ts',
      // A program: its first line makes it executable.
      'node/cli': 'src/node/cli.ts',
      'testing/index': 'src/testing/index.ts',
      'vitest/index': 'src/vitest/index.ts',
    },
    splitting: true,
    sourcemap: true,
  },
  /** For bundlers: one file for each source, so that a page carries only those it uses. */
  {
    ...common,
    entry: ['src/**/*.ts', '!src/node/**'],
    outDir: 'dist/modules',
    bundle: false,
    sourcemap: false,
  },
]);
