import { execFileSync } from 'node:child_process';
import { chmodSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { isAbsolute, resolve } from 'node:path';
import { type GetModuleInfo, rollup } from 'rollup';
import { dts } from 'rollup-plugin-dts';
import { defineConfig } from 'tsup';
import ts from 'typescript';

const ENTRIES = [
  'index',
  'core',
  'kinds/index',
  'admission/index',
  'controllers/index',
  'http/index',
  'service-worker/index',
  'indexed-db/index',
  'codec/protobuf/index',
  'codec/cbor/index',
  'node/index',
  'testing/index',
  'vitest/index',
  'jest/index',
  'zod/index',
];

/** Small dependencies of every cluster, with their entry. Loading them from their own packages takes Node 60 ms. */
const INLINED = { 'fast-json-patch': 'index.mjs', immer: 'dist/immer.mjs', 'sorted-btree': 'b+tree.js' };
const VENDOR = Object.keys(INLINED).map((name) => `vendor/${name}`);

/**
 * One build for Node and for bundlers. All entries are built in one graph, so that what two of them share is one chunk and
 * a class has one identity whichever entry it came from.
 */
export default defineConfig({
  format: 'esm',
  target: 'es2022',
  platform: 'neutral',
  entry: {
    ...Object.fromEntries(ENTRIES.map((name) => [name, `src/${name}.ts`])),
    // So that their code is in chunks of its own.
    ...Object.fromEntries(
      Object.entries(INLINED).map(([name, file]) => [`vendor/${name}`, `node_modules/${name}/${file}`]),
    ),
    // A program: its first line makes it executable.
    'node/cli': 'src/node/cli.ts',
  },
  splitting: true,
  // Names stay readable in stack traces, and bundlers need the annotations that minifying removes.
  minify: false,
  sourcemap: false,
  clean: true,
  silent: true,
  noExternal: Object.keys(INLINED),
  // The built-ins of src/node keep their `node:` prefix.
  external: [/^node:/],
  removeNodeProtocol: false,
  esbuildOptions(options) {
    options.mainFields = ['module', 'main'];
    options.define = { 'process.env.NODE_ENV': '"development"' };
    options.legalComments = 'none';
  },
  async onSuccess() {
    writeFileSync('dist/THIRD-PARTY-LICENSES.txt', Object.keys(INLINED).map(license).join('\n'));
    await mergeChunks();
    await writeDeclarations();
  },
});

const ANNOTATION = '/* @__PURE__ */';

/**
 * Lets bundlers drop unused top-level variables. No module has side effects, but a bundler cannot know that a call, a
 * property access or a class has none unless it is annotated.
 */
function annotate(path: string, text: string): string {
  const { statements } = ts.createSourceFile(path, text, ts.ScriptTarget.ES2022, true);
  const variables = statements
    .filter(ts.isVariableStatement)
    .flatMap(({ declarationList }) => declarationList.declarations);
  let annotated = text;
  for (const { name, initializer: value } of variables.reverse()) {
    if (value === undefined || !ts.isIdentifier(name) || isPlain(value)) continue;
    const [start, end] = [value.getStart(), value.getEnd()];
    const code = text.slice(start, end);
    const isAnnotated = text.slice(0, start).trimEnd().endsWith(ANNOTATION);
    if (isAnnotated && code.startsWith('(() =>') && code.endsWith(')()')) continue;
    // An anonymous class is named after its variable.
    const body = ts.isClassExpression(value) ? `{ const ${name.text} = ${code}; return ${name.text}; }` : `(${code})`;
    annotated = `${annotated.slice(0, start)}${ANNOTATION} (() => ${body})()${annotated.slice(end)}`;
  }
  return annotated;
}

/** True for functions, literals and what consists of them: bundlers recognize that these have no effects. */
function isPlain(node: ts.Node): boolean {
  if (ts.isFunctionLike(node) || ts.isTypeNode(node)) return true;
  const isEvaluated =
    ts.isCallExpression(node) ||
    ts.isNewExpression(node) ||
    ts.isPropertyAccessExpression(node) ||
    ts.isElementAccessExpression(node) ||
    ts.isSpreadElement(node) ||
    ts.isSpreadAssignment(node) ||
    ts.isTemplateExpression(node) ||
    ts.isComputedPropertyName(node) ||
    ts.isBinaryExpression(node) ||
    ts.isClassExpression(node);
  return !isEvaluated && ts.forEachChild(node, (child) => (isPlain(child) ? undefined : child)) === undefined;
}

function license(name: string): string {
  const text = ['LICENSE', 'LICENSE.txt', 'LICENSE.md']
    .map((file) => `node_modules/${name}/${file}`)
    .find((file) => ts.sys.fileExists(file));
  if (text === undefined) throw new Error(`${name} has no license file`);
  return `${name}\n\n${readFileSync(text, 'utf8')}\n`;
}

/**
 * Merges the chunks of a cluster with all kinds into three files: other packages, what `orchplane/core` needs, and the
 * rest. Node takes about a millisecond to load a file.
 */
async function mergeChunks(): Promise<void> {
  const built = readdirSync('dist', { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.js'));
  const bundle = await rollup({
    input: Object.fromEntries([...ENTRIES, ...VENDOR, 'node/cli'].map((name) => [name, `dist/${name}.js`])),
    external: (id) => !/^[./]/.test(id) && !isAbsolute(id),
    treeshake: false,
  });
  const { output } = await bundle.generate({
    format: 'es',
    chunkFileNames: 'chunk-[hash].js',
    hoistTransitiveImports: false,
    manualChunks(id, { getModuleInfo }) {
      const reachable = (name: string): boolean => importsOf(resolve(`dist/${name}.js`), getModuleInfo).has(id);
      if (VENDOR.some(reachable)) return 'vendor';
      return reachable('core') ? 'core' : reachable('index') ? 'index' : undefined;
    },
  });
  for (const file of built) rmSync(`dist/${file}`);
  for (const file of output) {
    if (file.type !== 'chunk' || file.fileName.startsWith('vendor/')) continue;
    writeFileSync(`dist/${file.fileName}`, annotate(file.fileName, file.code));
  }
  rmSync('dist/vendor', { recursive: true });
  chmodSync('dist/node/cli.js', 0o755);
}

/** A module and all modules that it imports, directly or not. */
function importsOf(id: string, getModuleInfo: GetModuleInfo, found = new Set<string>()): Set<string> {
  if (found.has(id)) return found;
  found.add(id);
  for (const imported of getModuleInfo(id)?.importedIds ?? []) importsOf(imported, getModuleInfo, found);
  return found;
}

/** One declaration file for each entry, and one for what several share. */
async function writeDeclarations(): Promise<void> {
  const folder = 'dist/.declarations';
  execFileSync(process.execPath, ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json', '--outDir', folder], {
    stdio: 'inherit',
  });
  const bundle = await rollup({
    input: Object.fromEntries(ENTRIES.map((name) => [name, `${folder}/${name}.d.ts`])),
    plugins: [dts()],
    external: (id) => !id.startsWith('.') && !id.includes(folder),
    onwarn(warning, warn) {
      // Types that several entries use, but that no entry exports, are not exported by this package either.
      if (!warning.message.includes('private shared type exports')) warn(warning);
    },
  });
  await bundle.write({
    dir: 'dist',
    format: 'es',
    entryFileNames: '[name].d.ts',
    chunkFileNames: 'types/[name]-[hash].d.ts',
    hoistTransitiveImports: false,
  });
  rmSync(folder, { recursive: true });
}
