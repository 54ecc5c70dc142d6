import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { isAbsolute, posix, resolve } from 'node:path';
import { build } from 'esbuild';
import { type GetModuleInfo, rollup } from 'rollup';
import { dts } from 'rollup-plugin-dts';
import { defineConfig } from 'tsup';
import ts from 'typescript';
import type { BuildTable, Chunk } from './src/node/code-cache.js';

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
    await writeCachedEntries();
    await writeDeclarations();
  },
});

/** As in src/node/code-cache.ts. */
const DYNAMIC_IMPORT = /\bimport\(/g;

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
  const built = builtFiles();
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
  const chunks: Record<string, Chunk> = {};
  rmSync('dist/cached', { recursive: true, force: true });
  mkdirSync('dist/cached');
  for (const file of files) {
    const module = readModule(file);
    const entry = ENTRIES.find((name) => file === `${name}.js`);
    if (file === 'node/cli.js') writeFileSync('dist/node/cli.js', moduleOf(module));
    else if (entry !== undefined) writeFileSync(`dist/cached/${cachedName(entry)}.js`, moduleOf(module));
    if (file !== 'node/cli.js' && !usesPeers(module)) chunks[file] = scriptOf(module);
  }
  const hash = createHash('sha256');
  for (const file of files) hash.update(readFileSync(`dist/${file}`));
  const table: BuildTable = { id: hash.digest('hex').slice(0, 16), chunks };
  writeFileSync('dist/cached/chunks.json', JSON.stringify(table));
  // Never executed: tools that copy the files of a program find the files here.
  const parts = ['./chunks.json', ...Object.keys(chunks).map((file) => `../${file}`)];
  const footer = `0 && [${parts.map((part) => `require.resolve('${part}')`).join(', ')}];`;
  await build({
    entryPoints: { load: 'src/node/code-cache.ts' },
    outdir: 'dist/cached',
    outExtension: { '.js': '.cjs' },
    format: 'cjs',
    platform: 'node',
    target: 'es2022',
    bundle: true,
    footer: { js: footer },
  });
}

/** `codec/cbor/index` is `codec-cbor`. */
function cachedName(entry: string): string {
  return entry.replace(/\/index$/, '').replaceAll('/', '-');
}

interface Module {
  readonly file: string;
  readonly text: string;
  readonly imports: readonly ts.ImportDeclaration[];
  readonly exports: readonly ts.ExportDeclaration[];
  /** The code between imports and exports. */
  readonly start: number;
  readonly end: number;
  readonly hasDynamicImports: boolean;
}

function readModule(file: string): Module {
  const text = readFileSync(`dist/${file}`, 'utf8');
  const outside = /[^\0-\x7f]/.exec(text);
  if (outside !== null) throw new Error(`dist/${file} contains ${outside[0]}: it is read as ASCII`);
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.ES2022, true);
  const imports = source.statements.filter(ts.isImportDeclaration);
  const exports = source.statements.filter(ts.isExportDeclaration);
  const code = source.statements.filter((node) => !ts.isImportDeclaration(node) && !ts.isExportDeclaration(node));
  const start = Math.max(0, ...imports.map((node) => node.getEnd()));
  const end = code.at(-1)?.getEnd() ?? start;
  if (code.some((node) => node.getStart() < start)) throw new Error(`dist/${file}: an import follows code`);
  let dynamicImports = 0;
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) dynamicImports++;
    ts.forEachChild(node, visit);
  };
  code.forEach(visit);
  if ((text.slice(start, end).match(DYNAMIC_IMPORT)?.length ?? 0) !== dynamicImports)
    throw new Error(`dist/${file}: not all of "import(" are dynamic imports`);
  const named = exports.filter((node) => node.exportClause !== undefined);
  return { file, text, imports, exports: named, start, end, hasDynamicImports: dynamicImports > 0 };
}

/** A module as the body of a function that returns its exports. */
function scriptOf({ text, imports, exports, start, end, hasDynamicImports }: Module): Chunk {
  const heads = imports.map((node, index) =>
    bindings(node, `$${index}`, `$require(${node.moduleSpecifier.getText()})`),
  );
  const tails = exports.map((node, index) => {
    if (node.moduleSpecifier !== undefined)
      heads.push(`const $e${index} = $require(${node.moduleSpecifier.getText()});`);
    return exportNames(node).map(({ name, from }) =>
      node.moduleSpecifier === undefined ? `${name}: ${from}` : `${name}: $e${index}.${from}`,
    );
  });
  return {
    size: text.length,
    start,
    end,
    line: text.slice(0, start).split('\n').length - 1,
    head: heads.join(' '),
    tail: `; return { ${tails.flat().join(', ')} };`,
    hasDynamicImports,
  };
}

/** A module that takes other files of this build from the code cache, and other packages from Node. */
function moduleOf(module: Module): string {
  const { file, text, imports, exports, start, end } = module;
  const isCli = file === 'node/cli.js';
  const target = (node: ts.ImportDeclaration | ts.ExportDeclaration): string =>
    posix.join(posix.dirname(file), (node.moduleSpecifier as ts.StringLiteral).text);
  const isOwn = (node: ts.ImportDeclaration): boolean =>
    (node.moduleSpecifier as ts.StringLiteral).text.startsWith('.');
  const load = `import { load } from '${isCli ? '../cached' : '.'}/load.cjs';`;
  const own = imports.filter(isOwn);
  if (!isCli && !usesPeers(module)) {
    const names = exports.flatMap(exportNames).map(({ name }) => name);
    return `${load}\nconst loaded = load('${file}');\nexport const { ${names.join(', ')} } = loaded;\n`;
  }
  const code = text.slice(start, end).replace(/\bimport\('([^']*)'\)/g, (_, name: string) => {
    return `Promise.resolve(load('${posix.join(posix.dirname(file), name)}'))`;
  });
  if (DYNAMIC_IMPORT.test(code)) throw new Error(`dist/${file}: a dynamic import is not a text in single quotes`);
  return [
    ...(isCli ? ['#!/usr/bin/env node'] : []),
    ...imports.filter((node) => !isOwn(node)).map((node) => node.getText()),
    load,
    ...own.map((node, index) => bindings(node, `$${index}`, `load('${target(node)}')`)),
    code.trim(),
    ...exports.flatMap((node) =>
      node.moduleSpecifier === undefined
        ? [node.getText()]
        : exportNames(node).map(({ name, from }) => `export const ${name} = load('${target(node)}').${from};`),
    ),
    '',
  ].join('\n');
}

function isOwn({ moduleSpecifier }: ts.ImportDeclaration): boolean {
  return (moduleSpecifier as ts.StringLiteral).text.startsWith('.');
}

/** Whether the code of an entry uses packages that have to be the same as the user's, such as vitest. */
function usesPeers({ file, imports }: Module): boolean {
  const isOther = (node: ts.ImportDeclaration) => !isOwn(node) && !node.moduleSpecifier.getText().includes('node:');
  return ENTRIES.includes(file.replace(/\.js$/, '')) && imports.some(isOther);
}

/** The declarations of what an import declares, from the exports of a module. */
function bindings({ importClause }: ts.ImportDeclaration, variable: string, value: string): string {
  const named = importClause?.namedBindings;
  const names = [importClause?.name, named !== undefined && ts.isNamespaceImport(named) ? named.name : undefined];
  const elements = named !== undefined && ts.isNamedImports(named) ? named.elements : [];
  const parts = elements.map((node) => `${node.propertyName?.text ?? node.name.text}: ${node.name.text}`);
  const wholes = names.flatMap((name) => (name === undefined ? [] : [`, ${name.text} = ${variable}`]));
  return `const ${variable} = ${value}${wholes.join('')}${parts.length > 0 ? `, { ${parts.join(', ')} } = ${variable}` : ''};`;
}

function exportNames({
  exportClause,
}: ts.ExportDeclaration): readonly { readonly name: string; readonly from: string }[] {
  if (exportClause === undefined || !ts.isNamedExports(exportClause))
    throw new Error('an export of this build has no names');
  return exportClause.elements.map((node) => ({
    name: node.name.text,
    from: node.propertyName?.text ?? node.name.text,
  }));
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
