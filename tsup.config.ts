import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { isAbsolute, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { type GetModuleInfo, rollup } from 'rollup';
import { dts } from 'rollup-plugin-dts';
import { defineConfig } from 'tsup';
import ts from 'typescript';
import type { BuildTable, Chunk } from './src/node/code-cache.js';
import { moduleOf, nodesOf, readModule, usesPeers } from './tsup.modules.js';
import { scriptsOf } from './tsup.scripts.js';

const ENTRIES = [
  // First: it uses some of the built-in kinds, and in this order the others are compressed better beside each other.
  'runtime/index',
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
  'etcd/index',
  'testing/index',
  'vitest/index',
  'jest/index',
  'node-test/index',
  'opentelemetry/index',
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
  esbuildPlugins: [
    {
      name: 'used-parts',
      setup({ onLoad }) {
        onLoad({ filter: /[\\/]sorted-btree[\\/]b\+tree\.js$/ }, ({ path }) => ({ contents: treeModule(path) }));
        onLoad({ filter: /[\\/]immer[\\/]dist[\\/]immer\.mjs$/ }, ({ path }) => ({ contents: immerModule(path) }));
        onLoad({ filter: /[\\/]fast-json-patch[\\/]index\.mjs$/ }, () => ({ contents: JSON_PATCH_MODULE }));
        onLoad({ filter: /[\\/]fast-json-patch[\\/]module[\\/]core\.mjs$/ }, ({ path }) => ({
          contents: operationsBelowRoot(path),
        }));
      },
    },
  ],
  esbuildOptions(options) {
    options.mainFields = ['module', 'main'];
    options.define = { 'process.env.NODE_ENV': '"development"' };
    options.legalComments = 'none';
  },
  async onSuccess() {
    writeFileSync('dist/THIRD-PARTY-LICENSES.txt', Object.keys(INLINED).map(license).join('\n'));
    await mergeChunks();
    await writeCachedEntries();
    await writeHttpThread();
    await writeDeclarations();
  },
});

/** fast-json-patch with what src/merge/json-patch.ts calls: the object that it exports by default has all of its functions. */
const JSON_PATCH_MODULE = `
  import { applyOperation } from './module/core.mjs';
  import { escapePathComponent, unescapePathComponent } from './module/helpers.mjs';
  export default { applyOperation, escapePathComponent, unescapePathComponent };
`;

/** What src/merge/json-patch.ts never asks `applyOperation` for: other operations, validation, the root, a ban. */
const UNUSED_OF_JSON_PATCH: readonly (readonly [text: string | RegExp, without: string])[] = [
  [/(?<= {4}(?:move|copy|test|_get): )function[\s\S]*?\n {4}\}/g, 'undefined'],
  [/objOps\.(?:move|copy|test|_get)/g, 'undefined'],
  ['if (validateOperation)', 'if (false)'],
  ['validateOperation && ', 'false && '],
  ['validateFunction = validator;', ''],
  ['if (returnValue.test === false)', 'if (false)'],
  ['if (operation.path === "")', 'if (false)'],
  ['if (banPrototypeModifications &&', 'if (false &&'],
];

function operationsBelowRoot(path: string): string {
  let source = readFileSync(path, 'utf8');
  for (const [text, without] of UNUSED_OF_JSON_PATCH) {
    const shorter = source.replaceAll(text, without);
    if (shorter === source) throw new Error(`fast-json-patch does not contain ${text}, which the build removes`);
    source = shorter;
  }
  return source;
}

/** What `Tree` in src/storage/table.ts has, and what these methods and the package itself call. */
const TREE_METHODS = ['get', 'set', 'delete', 'forRange', 'size', 'clone', 'freeze', 'setPairs', 'editRange'];

/**
 * sorted-btree as an ES module that exports what src/storage/table.ts imports, without the methods that nothing calls: bundlers
 * keep all methods of a class. A method of a node stays if its name is in the code that stays.
 */
function treeModule(path: string): string {
  // Every tree of the library is created with a comparator.
  const text = readFileSync(path, 'utf8').replace('compare || defaultComparator', 'compare');
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.ES2022, true, ts.ScriptKind.JS);
  const statements = nodesOf(source).filter((node) => ts.isExpressionStatement(node) || ts.isIfStatement(node));
  const methods = statements.flatMap((node) => {
    const match = /^(?:Object\.defineProperty\((\w+)\.prototype, "(\w+)"|(\w+)\.prototype\.(\w+) = )/.exec(
      node.getText(),
    );
    if (match === null) return [];
    const name = match[2] ?? match[4] ?? '';
    return [{ node, name, isUsed: (match[1] ?? match[3]) === 'BTree' ? TREE_METHODS.includes(name) : undefined }];
  });
  const isMethod = new Set(methods.map(({ node }): ts.Node => node));
  const isIterator = (node: ts.Node): boolean => node.getText().includes('BTree.prototype[Symbol.iterator]');
  const used = new Set<string>();
  const use = (node: ts.Node): void => {
    if (ts.isPropertyAccessExpression(node)) used.add(node.name.text);
    ts.forEachChild(node, (child) => {
      if (!isMethod.has(child) && !(ts.isIfStatement(child) && isIterator(child))) use(child);
    });
  };
  use(source);
  for (let size = -1; size !== used.size; ) {
    size = used.size;
    for (const { node, name, isUsed = used.has(name) } of methods) if (isUsed) use(node);
  }
  const isExport = (node: ts.Node): boolean => /^(?:exports\.|Object\.defineProperty\(exports)/.test(node.getText());
  const dropped = [
    ...methods.filter(({ name, isUsed = used.has(name) }) => !isUsed).map(({ node }) => node),
    ...statements.filter(
      (node) =>
        (ts.isIfStatement(node) && isIterator(node)) ||
        (isExport(node) && !node.getText().startsWith('exports.EmptyBTree = (')),
    ),
  ];
  return without(source, dropped).replace('exports.EmptyBTree = ', 'export const EmptyBTree = ');
}

/** Methods of `Immer` that src/client/requests.ts does not call. */
const UNUSED_IMMER = new Set(['createDraft', 'finishDraft', 'applyPatches', 'produceWithPatches']);

/** The class `Immer` without methods that nothing calls, and without the functions that belong to a shared instance. */
function immerModule(path: string): string {
  const source = ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.ES2022, true, ts.ScriptKind.JS);
  const methods = nodesOf(source).filter((node) => {
    if (ts.isMethodDeclaration(node)) return UNUSED_IMMER.has(node.name.getText());
    const property = ts.isExpressionStatement(node) ? /^this\.(\w+) = /.exec(node.getText())?.[1] : undefined;
    return property !== undefined && UNUSED_IMMER.has(property);
  });
  if (methods.length !== UNUSED_IMMER.size) throw new Error('immer has other methods than tsup.config.ts expects');
  const isShared = (node: ts.Statement): boolean =>
    ts.isExportDeclaration(node) ||
    (ts.isVariableStatement(node) && /= (?:\/\* @__PURE__ \*\/ )?(?:immer\.|new Immer2\()/.test(node.getText()));
  return `${without(source, [...methods, ...source.statements.filter(isShared)])}\nexport { Immer2 as Immer };\n`;
}

function without(source: ts.SourceFile, dropped: ts.Node[]): string {
  let text = source.text;
  for (const node of dropped.sort((left, right) => right.pos - left.pos)) {
    text = text.slice(0, node.getStart()) + text.slice(node.end);
  }
  return text;
}

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
  const insertions: { readonly at: number; readonly text: string }[] = [];
  for (const { name, initializer: value } of variables) {
    if (value === undefined || !ts.isIdentifier(name)) continue;
    const isWrapped = ts.isCallExpression(value) && ts.isParenthesizedExpression(value.expression);
    const calls = isWrapped ? [value] : callsIn(value);
    if (calls !== undefined) {
      for (const call of calls) {
        const at = call.getStart();
        if (!text.slice(0, at).trimEnd().endsWith(ANNOTATION)) insertions.push({ at, text: `${ANNOTATION} ` });
      }
      continue;
    }
    // An annotated call of a function is the only way to say it of other expressions. It takes time when the file loads.
    // An anonymous class is named after its variable.
    const [before, after] = ts.isClassExpression(value)
      ? [`{ const ${name.text} = `, `; return ${name.text}; }`]
      : ['(', ')'];
    insertions.push({ at: value.getStart(), text: `${ANNOTATION} (() => ${before}` });
    insertions.push({ at: value.getEnd(), text: `${after})()` });
  }
  let annotated = '';
  let end = 0;
  for (const insertion of insertions) {
    annotated += text.slice(end, insertion.at) + insertion.text;
    end = insertion.at;
  }
  return annotated + text.slice(end);
}

/**
 * The calls in an expression which, when they are annotated, let bundlers recognize that it has no effects; undefined if
 * annotated calls do not suffice.
 */
function callsIn(node: ts.Node): ts.Node[] | undefined {
  if (ts.isFunctionLike(node)) return node.name !== undefined && ts.isComputedPropertyName(node.name) ? undefined : [];
  // Evaluated when an instance is created.
  if (ts.isPropertyDeclaration(node) && !isStatic(node)) return [];
  if (hasOtherEffects(node)) return undefined;
  const isCall = ts.isCallExpression(node) || ts.isNewExpression(node);
  const calls: ts.Node[] = isCall ? [node] : [];
  // What is called is not evaluated when the call is dropped.
  for (const part of isCall ? (node.arguments ?? []) : childrenOf(node)) {
    const inner = callsIn(part);
    if (inner === undefined) return undefined;
    calls.push(...inner);
  }
  return calls;
}

function hasOtherEffects(node: ts.Node): boolean {
  return (
    ts.isPropertyAccessExpression(node) ||
    ts.isElementAccessExpression(node) ||
    ts.isSpreadElement(node) ||
    ts.isSpreadAssignment(node) ||
    ts.isTemplateExpression(node) ||
    ts.isComputedPropertyName(node) ||
    ts.isBinaryExpression(node) ||
    ts.isHeritageClause(node) ||
    ts.isClassStaticBlockDeclaration(node) ||
    ts.isPropertyDeclaration(node)
  );
}

function isStatic(node: ts.PropertyDeclaration): boolean {
  return (ts.getCombinedModifierFlags(node) & ts.ModifierFlags.Static) !== 0;
}

function childrenOf(node: ts.Node): readonly ts.Node[] {
  const children: ts.Node[] = [];
  ts.forEachChild(node, (child) => void children.push(child));
  return children;
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
  const built = builtFiles();
  const bundle = await rollup({
    input: Object.fromEntries([...ENTRIES, ...VENDOR, 'node/cli'].map((name) => [name, `dist/${name}.js`])),
    external: (id) => !/^[./]/.test(id) && !isAbsolute(id),
    treeshake: false,
    logLevel: 'warn',
    // A file of src/node finds the files of dist/node, whatever chunk it is part of.
    plugins: [{ name: 'node-folder', resolveImportMeta: (property, { chunkId }) => nodeFolder(property, chunkId) }],
  });
  const { output } = await bundle.generate({
    format: 'es',
    chunkFileNames: 'chunk-[hash].js',
    hoistTransitiveImports: false,
    onlyExplicitManualChunks: true,
    // A few kilobytes are not worth a file.
    experimentalMinChunkSize: 5_000,
    manualChunks(id, { getModuleInfo }) {
      const reachable = (name: string): boolean => importsOf(resolve(`dist/${name}.js`), getModuleInfo).has(id);
      if (VENDOR.some(reachable)) return 'vendor';
      if (reachable('core')) return 'core';
      return reachable('index') ? 'index' : commandChunk(id, getModuleInfo);
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

/**
 * The chunk of a module that only the command line uses: one for the commands that need no cluster in this process, and one
 * for the others. `serve` and the programs of envtest start fast, so they have chunks of their own.
 */
function commandChunk(id: string, getModuleInfo: GetModuleInfo): string | undefined {
  const closure = (root: string): Set<string> => importsOf(root, getModuleInfo);
  const has = (name: string): boolean => closure(resolve(`dist/${name}.js`)).has(id);
  if (ENTRIES.some(has)) return undefined;
  if (has('node/cli')) return undefined;
  const dynamic = [...closure(resolve('dist/node/cli.js'))].flatMap(
    (module) => getModuleInfo(module)?.dynamicallyImportedIds ?? [],
  );
  const isFast = (module: string): boolean => /[\\/](?:serve|programs)-[A-Z0-9]+\.js$/.test(module);
  const users = dynamic.filter((module) => closure(module).has(id));
  if (users.length === 0 || users.some(isFast)) return undefined;
  const cluster = closure(resolve('dist/index.js'));
  const core = closure(resolve('dist/core.js'));
  const needsCluster = (module: string): boolean =>
    [...closure(module)].some((each) => cluster.has(each) && !core.has(each));
  return users.every(needsCluster) ? 'cluster-commands' : 'commands';
}

function nodeFolder(property: string | null, chunk: string): string | null {
  return property === 'url' && !chunk.includes('/') ? "new URL('node/', import.meta.url).href" : null;
}

function builtFiles(): readonly string[] {
  const files = readdirSync('dist', { recursive: true, encoding: 'utf8' }).map((file) => file.replaceAll('\\', '/'));
  return files.filter((file) => file.endsWith('.js'));
}

/** A module and all modules that it imports, directly or not. */
function importsOf(id: string, getModuleInfo: GetModuleInfo, found = new Set<string>()): Set<string> {
  if (found.has(id)) return found;
  found.add(id);
  for (const imported of getModuleInfo(id)?.importedIds ?? []) importsOf(imported, getModuleInfo, found);
  return found;
}

/**
 * Writes `dist/cached`, which Node loads: an ES module for each entry, and what src/node/code-cache.ts needs to run the
 * other files as scripts. Bundlers take the files in `dist` itself, by the condition `module`.
 */
async function writeCachedEntries(): Promise<void> {
  const files = builtFiles();
  const called = calledFunctions();
  const chunks: Record<string, Chunk> = {};
  let scripts = '';
  rmSync('dist/cached', { recursive: true, force: true });
  mkdirSync('dist/cached');
  for (const file of files) {
    const module = readModule(file);
    const entry = ENTRIES.find((name) => file === `${name}.js`);
    if (file === 'node/cli.js') writeFileSync('dist/node/cli.js', moduleOf(module));
    else if (entry !== undefined) writeFileSync(`dist/cached/${cachedName(entry)}.js`, moduleOf(module));
    if (file === 'node/cli.js' || (entry !== undefined && usesPeers(module))) continue;
    const places = scriptsOf(module, called.get(file)).map((script) => {
      const start = scripts.length;
      scripts += JSON.stringify(script);
      return [start, scripts.length] as const;
    });
    chunks[file] = { size: module.text.length, scripts: places };
  }
  writeFileSync('dist/cached/scripts.json', scripts);
  const hash = createHash('sha256');
  for (const file of files) hash.update(readFileSync(`dist/${file}`));
  const table: BuildTable = { id: hash.digest('hex').slice(0, 16), chunks };
  writeFileSync('dist/cached/chunks.json', JSON.stringify(table));
  // Never executed: tools that copy the files of a program find the files here.
  const parts = ['./chunks.json', './scripts.json', ...Object.keys(chunks).map((file) => `../${file}`)];
  const footer = `0 && [${parts.map((part) => `require.resolve('${part}')`).join(', ')}];`;
  await build({
    entryPoints: { load: 'src/node/code-cache.ts' },
    outdir: 'dist/cached',
    outExtension: { '.js': '.cjs' },
    format: 'cjs',
    platform: 'node',
    target: 'es2022',
    bundle: true,
    // Node scans the text for exports whenever it loads it.
    minify: true,
    footer: { js: footer },
  });
}

/** One file without the code of the cluster, which starts quickly. */
async function writeHttpThread(): Promise<void> {
  await build({
    entryPoints: { 'http-thread': 'src/node/http-thread-main.ts' },
    outdir: 'dist/node',
    outExtension: { '.js': '.cjs' },
    format: 'cjs',
    platform: 'node',
    target: 'es2022',
    bundle: true,
    external: ['ws'],
  });
}

/** By file: where the functions start that are called until the first objects of a process exist. */
function calledFunctions(): ReadonlyMap<string, ReadonlySet<number>> {
  const folder = resolve('dist/.coverage');
  const env = { ...process.env, NODE_V8_COVERAGE: folder };
  execFileSync(process.execPath, ['--input-type=module', '--eval', FIRST_OBJECTS], { env, stdio: 'inherit' });
  const [file = ''] = readdirSync(folder);
  const { result } = JSON.parse(readFileSync(`${folder}/${file}`, 'utf8')) as Coverage;
  rmSync(folder, { recursive: true });
  const dist = `${pathToFileURL('dist').href}/`;
  const scripts = result.filter(({ url }) => url.startsWith(dist));
  return new Map(
    scripts.map(({ url, functions }) => {
      const ranges = functions.flatMap((each) => each.ranges.slice(0, 1)).filter(({ count }) => count > 0);
      return [url.slice(dist.length), new Set(ranges.map(({ startOffset }) => startOffset))];
    }),
  );
}

interface Coverage {
  readonly result: readonly {
    readonly url: string;
    readonly functions: readonly {
      readonly ranges: readonly { readonly startOffset: number; readonly count: number }[];
    }[];
  }[];
}

const FIRST_OBJECTS = `
  import 'PATH/index.js';
  import { ConfigMap, Pod } from 'PATH/kinds/index.js';
  import { testCluster } from 'PATH/testing/index.js';
  const cluster = testCluster();
  await cluster.api(ConfigMap).create({ metadata: { name: 'a' }, data: { a: '1' } });
  await cluster.api(Pod).create({ metadata: { name: 'a' }, spec: { containers: [{ name: 'a', image: 'a' }] } });
  await cluster.api(Pod).get('a');
  await cluster.api(Pod).list();
`.replaceAll('PATH', pathToFileURL('dist').href);

/** `codec/cbor/index` is `codec-cbor`. */
function cachedName(entry: string): string {
  return entry.replace(/\/index$/, '').replaceAll('/', '-');
}

/** One declaration file for each entry, and one for what several share. */
async function writeDeclarations(): Promise<void> {
  const folder = 'dist/.declarations';
  // `npm run typecheck` checks the types, which takes two thirds of the time.
  const options = ['-p', 'tsconfig.build.json', '--noCheck', '--outDir', folder];
  execFileSync(process.execPath, ['node_modules/typescript-7/bin/tsc', ...options], { stdio: 'inherit' });
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
    onlyExplicitManualChunks: true,
  });
  rmSync(folder, { recursive: true });
}
