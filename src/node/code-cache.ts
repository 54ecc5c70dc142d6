/**
 * Loads the built library in Node with V8's code cache, which halves the time of an import. The build makes it a file of
 * its own, `dist/cached/load.cjs`; bundlers and browsers do not load it.
 *
 * Node compiles ES modules without a cache. So each file of the build runs here as a script: its imports and exports are
 * replaced by what the build wrote to `chunks.json`, the code between them is unchanged. The compiled code is stored next
 * to the library: a user who can write there can change the library itself.
 */
import fs from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, posix } from 'node:path';
import process from 'node:process';
import { setTimeout } from 'node:timers';
import { pathToFileURL } from 'node:url';
import { cachedDataVersionTag } from 'node:v8';
import { runInThisContext, Script as VmScript } from 'node:vm';
import { threadId } from 'node:worker_threads';
import { crc32 } from 'node:zlib';

/** What the build knows of its files. */
export interface BuildTable {
  /** Different for builds with different files. */
  readonly id: string;
  /** By path in `dist`. */
  readonly chunks: Readonly<Record<string, Chunk>>;
}

/** A file of the build. */
export interface Chunk {
  readonly size: number;
  /** Where `scripts.json` has the script of the whole file and, if it has parts, those of its parts. */
  readonly scripts: readonly (readonly [start: number, end: number])[];
}

/** Code of a file, with what replaces its imports and exports. */
export interface Script {
  /** The line of the first range, for stack traces. */
  readonly line: number;
  /** For each range: the lines since the one before, its start and its end. */
  readonly ranges: readonly number[];
  readonly head: string;
  readonly tail: string;
  /** It contains dynamic imports or `import.meta.url`. */
  readonly hasModuleSyntax: boolean;
}

type Exports = Readonly<Record<string, unknown>>;
type Body = (
  require: (name: string) => unknown,
  load: (name: string) => unknown,
  part: (index: number) => Exports,
  scope?: Exports,
) => unknown;

/** What the script of a file or of its first part returns. */
interface Outcome {
  readonly exports: Exports;
  /** What the other parts use of the first one. */
  readonly scopes?: readonly (() => Exports)[];
  /** Called with what a part contains, so that the first one refers to it directly. */
  readonly binds?: readonly ((part: Exports) => void)[];
}

/** Tests replace functions of `fs`, and parts are loaded later. */
const { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } = fs;

const DIST = dirname(__dirname);
const FOLDER_PREFIX = 'v8-';
/** V8's version, its flags and the features of the processor. */
const FOLDER = join(__dirname, FOLDER_PREFIX + cachedDataVersionTag().toString(36));
/** More sets of V8 flags than a project uses. */
const MAX_FOLDERS = 8;
/** The checksum, the generation, the line of the text and its length. The text and the compiled code follow. */
const HEADER_BYTES = 16;
/** What has been compiled is stored when nothing was loaded for this time. */
const STORE_AFTER_MS = 50;
/** So many processes store what they compiled: each adds the functions that it used. */
const GENERATIONS = 3;

/** Finds the dynamic imports and `import.meta.url` of a built file and nothing else, which the build checks. */
const MODULE_SYNTAX = /\bimport(?=\(|\.meta\.url\b)/g;

/** Jest runs modules in contexts of their own, where scripts of this context would create foreign objects. */
const isMainContext = runInThisContext('Object') === Object;
const isEnabled = isMainContext && process.env['ORCHPLANE_CODE_CACHE'] !== 'off';
/** Code that is compiled for coverage counts its executions and is slower. */
const mayStore = isEnabled && process.env['NODE_V8_COVERAGE'] === undefined;

const { id, chunks } = readTable();
const loaded = new Map<string, Exports | undefined>();
/** Scripts whose cache is missing or young, by the file of the cache. */
const unsaved = new Map<
  string,
  Text & { readonly script: VmScript; readonly version: string; readonly generation: number }
>();
let timer: NodeJS.Timeout | undefined;

function readTable(): BuildTable {
  const file = join(__dirname, 'chunks.json');
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as BuildTable;
  } catch (cause) {
    const advice = 'A bundler has to resolve orchplane with the condition "module" (esbuild: --conditions=module)';
    throw new Error(`orchplane: cannot read ${file}. ${advice}, or leave it out of the bundle.`, { cause });
  }
}

/** The exports of a built file, by its path in `dist`. */
export function load(file: string): Exports {
  const before = loaded.get(file);
  if (before !== undefined) return before;
  if (loaded.has(file)) throw new Error(`orchplane: ${file} imports itself`);
  loaded.set(file, undefined);
  const path = join(DIST, file);
  try {
    const exports = run(file, path);
    loaded.set(file, exports);
    return exports;
  } catch (error) {
    loaded.delete(file);
    throw error;
  }
}

const partLoaders = new Map<string, (index: number) => Exports>();

/**
 * Loads all parts of all files that have been loaded, in a given order; for tests.
 *
 * @public
 */
export function loadParts(order: 'ascending' | 'descending'): number {
  const all = [...partLoaders].flatMap(
    ([file, part]) => chunks[file]?.scripts.slice(2).map((_, at) => () => part(at + 2)) ?? [],
  );
  for (const loadPart of order === 'ascending' ? all : all.reverse()) loadPart();
  return all.length;
}

function run(file: string, path: string): Exports {
  const chunk = chunks[file];
  if (chunk === undefined) throw new Error(`orchplane: ${file} is not a file of this build`);
  const relative = (name: string): string => posix.join(posix.dirname(file), name);
  const native = createRequire(path);
  const require = (name: string): unknown => (name.startsWith('.') ? load(relative(name)) : native(name));
  const dynamic = async (name: string): Promise<unknown> => {
    if (name.startsWith('.')) return load(relative(name));
    // Node refuses dynamic imports in other contexts.
    return isMainContext ? import(name) : native(name);
  };
  const meta = {
    get url(): string {
      return pathToFileURL(path).href;
    },
  };
  const importAsync = Object.assign(dynamic, { meta });
  const source = readSource(file, path, chunk);
  const parts: (Exports | 'loading')[] = [];
  const part = (index: number): Exports => {
    const before = parts[index];
    if (before === 'loading' || outcome === undefined)
      throw new Error(`orchplane: part ${index} of ${file} is used while it loads`);
    if (before !== undefined) return before;
    if (readSource(file, path, chunk).version !== source.version)
      throw new Error(`orchplane: ${path} has changed since the program started`);
    const body = compile(source, index);
    parts[index] = 'loading';
    try {
      const contents = body(require, importAsync, part, outcome.scopes?.[index]?.()) as Exports;
      outcome.binds?.[index]?.(contents);
      parts[index] = contents;
      return contents;
    } finally {
      // After an error, for example at the limit of the stack, the next call tries again.
      if (parts[index] === 'loading') delete parts[index];
    }
  };
  partLoaders.set(file, part);
  let outcome: Outcome | undefined;
  const first = chunk.scripts.length > 1 && source.added === 0 ? 1 : 0;
  outcome = compile(source, first)(require, importAsync, part) as Outcome;
  return outcome.exports;
}

interface Source {
  readonly file: string;
  readonly path: string;
  readonly scripts: Chunk['scripts'];
  /** The bytes that an edit has added. */
  readonly added: number;
  /** What identifies the text. */
  readonly version: string;
}

function readSource(file: string, path: string, { size: builtSize, scripts }: Chunk): Source {
  const { size, mtimeMs } = statSync(path);
  const version = `${id} ${process.version} ${process.arch} ${size} ${mtimeMs}`;
  return { file, path, scripts, added: size - builtSize, version };
}

function readScript({ file, scripts, added }: Source, index: number): Script {
  const [start, end] = scripts[index] ?? [0, 0];
  allScripts ??= readFileSync(join(__dirname, 'scripts.json'), 'latin1');
  const script = JSON.parse(allScripts.slice(start, end)) as Script;
  if (added === 0) return script;
  // An edit of a file, for debugging, changes its code, not its imports and exports.
  const [lines = 0, first = 0, last = 0, ...others] = script.ranges;
  if (others.length > 0) throw new Error(`orchplane: ${file} is edited and has parts`);
  return { ...script, ranges: [lines, first, last + added] };
}

let allScripts: string | undefined;

const PARAMETERS = ['$require', '$import', '$part', '$scope'];

function compile(source: Source, index: number): Body {
  const { file, path, version, added } = source;
  if (!isMainContext) {
    const { text } = readText(source, index, '', '');
    return new Function(...PARAMETERS, `${text}\n//# sourceURL=${path}`) as Body;
  }
  const cache = join(FOLDER, file.replaceAll('/', '-').replace(/\.js$/, index === 0 ? '.js' : `.${index}.js`));
  const stored = isEnabled ? readCache(cache, version) : undefined;
  const { text, line } = stored ?? readText(source, index, `(function (${PARAMETERS.join(', ')}) { `, ' })');
  const options = { filename: path, lineOffset: line };
  const script = new VmScript(text, stored === undefined ? options : { ...options, cachedData: stored.data });
  const generation = script.cachedDataRejected === true ? 0 : (stored?.generation ?? 0);
  // The text of an edited file may not be ASCII.
  if (mayStore && generation < GENERATIONS && added === 0) {
    unsaved.set(cache, { script, version, text, line, generation: generation + 1 });
    storeLater();
  }
  return script.runInThisContext() as Body;
}

interface Text {
  readonly text: string;
  /** Of the file. */
  readonly line: number;
}

/** The text of a script as the body of a function, with the lines of the file. */
function readText(source: Source, index: number, before: string, after: string): Text {
  const { line, ranges, head, tail, hasModuleSyntax } = readScript(source, index);
  const bytes = readFileSync(source.path);
  const prefix = `${before}'use strict'; ${head}`;
  const suffix = `${tail}${after}`;
  // All in one buffer, because joining strings of megabytes copies them once more. The ranges are shorter than the file.
  const buffer = Buffer.allocUnsafeSlow(prefix.length + bytes.length + suffix.length);
  let length = buffer.write(prefix, 'latin1');
  for (let at = 0; at < ranges.length; at += 3) {
    const lines = ranges[at] ?? 0;
    if (lines > 0) buffer.fill(LINE_FEED, length, length + lines);
    length += lines;
    length += bytes.copy(buffer, length, ranges[at + 1], ranges[at + 2]);
  }
  length += buffer.write(suffix, length, 'latin1');
  // The build writes ASCII, which is faster to read as Latin-1.
  const text = buffer.toString(source.added === 0 ? 'latin1' : 'utf8', 0, length);
  return { text: hasModuleSyntax ? text.replace(MODULE_SYNTAX, '$$import') : text, line };
}

const LINE_FEED = 10;

interface Cache extends Text {
  readonly data: Buffer;
  readonly generation: number;
}

/** Undefined if there is none for this version. */
function readCache(cache: string, version: string): Cache | undefined {
  let stored: Buffer;
  try {
    stored = readFileSync(cache);
  } catch {
    // Usually there is none yet. Whatever the reason is, the library loads without it.
    return undefined;
  }
  if (stored.length <= HEADER_BYTES || stored.readUInt32LE() !== checksum(stored, version)) return undefined;
  const [generation, line, length] = [stored.readUInt32LE(4), stored.readUInt32LE(8), stored.readUInt32LE(12)];
  const text = stored.toString('latin1', HEADER_BYTES, HEADER_BYTES + length);
  return { generation, line, text, data: stored.subarray(HEADER_BYTES + length) };
}

/** V8 checks neither that its data is whole nor that it was made from this source. */
function checksum(stored: Buffer, version: string): number {
  return crc32(stored.subarray(4), crc32(version));
}

function storeLater(): void {
  if (timer !== undefined) {
    timer.refresh();
    return;
  }
  process.once('exit', store);
  timer = setTimeout(store, STORE_AFTER_MS).unref();
}

function store(): void {
  process.off('exit', store);
  timer = undefined;
  try {
    makeFolder();
    for (const [cache, { script, version, text, line, generation }] of unsaved) {
      const header = Buffer.alloc(HEADER_BYTES);
      header.writeUInt32LE(generation, 4);
      header.writeUInt32LE(line, 8);
      header.writeUInt32LE(text.length, 12);
      const stored = Buffer.concat([header, Buffer.from(text, 'latin1'), script.createCachedData()]);
      stored.writeUInt32LE(checksum(stored, version));
      replaceCache(cache, stored);
    }
  } catch {
    // A folder that cannot be written or was removed, or a full disk: the next process compiles as this one did.
  }
  unsaved.clear();
}

function makeFolder(): void {
  try {
    // Not recursive, because the package may have been removed.
    mkdirSync(FOLDER);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return;
    throw error;
  }
  const folders = readdirSync(__dirname).filter((name) => name.startsWith(FOLDER_PREFIX));
  const byAge = folders
    .map((name) => join(__dirname, name))
    .sort((left, right) => statSync(right).mtimeMs - statSync(left).mtimeMs);
  for (const old of byAge.slice(MAX_FOLDERS)) rmSync(old, { recursive: true });
}

/** Other processes and threads may do the same. */
function replaceCache(path: string, content: Buffer): void {
  const unfinished = `${path}.${process.pid}-${threadId}`;
  try {
    writeFileSync(unfinished, content, { flag: 'wx' });
    renameSync(unfinished, path);
  } catch (error) {
    rmSync(unfinished, { force: true });
    throw error;
  }
}
