/**
 * Loads the built library in Node with V8's code cache, which halves the time of an import. The build makes it a file of
 * its own, `dist/cached/load.cjs`; bundlers and browsers do not load it.
 *
 * Node compiles ES modules without a cache. So each file of the build runs here as a script: its imports and exports are
 * replaced by what the build wrote to `chunks.json`, the code between them is unchanged. The compiled code is stored next
 * to the library: a user who can write there can change the library itself.
 */
import {
  closeSync,
  fstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, posix } from 'node:path';
import process from 'node:process';
import { setTimeout } from 'node:timers';
import { cachedDataVersionTag } from 'node:v8';
import { runInThisContext, Script } from 'node:vm';
import { threadId } from 'node:worker_threads';
import { crc32 } from 'node:zlib';

/** What the build knows of its files. */
export interface BuildTable {
  /** Different for builds with different files. */
  readonly id: string;
  /** By path in `dist`. */
  readonly chunks: Readonly<Record<string, Chunk>>;
}

/** How the build replaces the imports and exports of a file. */
export interface Chunk {
  /** The size of the file. */
  readonly size: number;
  /** The code between the imports and the exports. */
  readonly start: number;
  readonly end: number;
  /** The number of lines before the code, for the lines in stack traces. */
  readonly line: number;
  readonly head: string;
  readonly tail: string;
  readonly hasDynamicImports: boolean;
}

type Exports = Readonly<Record<string, unknown>>;
type Body = (require: (name: string) => unknown, load: (name: string) => unknown) => Exports;

const DIST = dirname(__dirname);
const FOLDER_PREFIX = 'v8-';
/** V8's version, its flags and the features of the processor. */
const FOLDER = join(__dirname, FOLDER_PREFIX + cachedDataVersionTag().toString(36));
/** More sets of V8 flags than a project uses. */
const MAX_FOLDERS = 8;
/** The checksum and the generation. */
const HEADER_BYTES = 5;
/** What has been compiled is stored when nothing was loaded for this time. */
const STORE_AFTER_MS = 50;
/** So many processes store what they compiled: each adds the functions that it used. */
const GENERATIONS = 3;

/** Finds the dynamic imports of a built file and nothing else, which the build checks. */
const DYNAMIC_IMPORT = /\bimport\(/g;

/** Jest runs modules in contexts of their own, where scripts of this context would create foreign objects. */
const isMainContext = runInThisContext('Object') === Object;
const isEnabled = isMainContext && process.env['ORCHPLANE_CODE_CACHE'] !== 'off';
/** Code that is compiled for coverage counts its executions and is slower. */
const mayStore = isEnabled && process.env['NODE_V8_COVERAGE'] === undefined;

const { id, chunks } = readTable();
const loaded = new Map<string, Exports | undefined>();
/** Scripts whose cache is missing or young, by the file of the cache. */
const unsaved = new Map<string, { readonly script: Script; readonly version: string; readonly generation: number }>();
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

function run(file: string, path: string): Exports {
  const relative = (name: string): string => posix.join(posix.dirname(file), name);
  const native = createRequire(path);
  return compile(file, path)(
    (name) => (name.startsWith('.') ? load(relative(name)) : native(name)),
    async (name) => {
      if (name.startsWith('.')) return load(relative(name));
      // Node refuses dynamic imports in other contexts.
      return isMainContext ? import(name) : native(name);
    },
  );
}

function compile(file: string, path: string): Body {
  const chunk = chunks[file];
  if (chunk === undefined) throw new Error(`orchplane: ${file} is not a file of this build`);
  if (!isMainContext) {
    const { source } = readSource(path, chunk, '', '');
    return new Function('$require', '$import', `${source}\n//# sourceURL=${path}`) as Body;
  }
  const { source, version } = readSource(path, chunk, '(function ($require, $import) { ', ' })');
  const cache = join(FOLDER, file.replaceAll('/', '-'));
  const { data, generation } = isEnabled ? readCache(cache, version) : NO_CACHE;
  const options = { filename: path, lineOffset: chunk.line };
  const script = new Script(source, data === undefined ? options : { ...options, cachedData: data });
  const stored = script.cachedDataRejected === true ? 0 : generation;
  if (mayStore && stored < GENERATIONS) {
    unsaved.set(cache, { script, version, generation: stored + 1 });
    storeLater();
  }
  return script.runInThisContext() as Body;
}

/** The text of a file as the body of a function, and what identifies the text. */
function readSource(
  path: string,
  { size: builtSize, start, end, head, tail, hasDynamicImports }: Chunk,
  before: string,
  after: string,
): { readonly source: string; readonly version: string } {
  const file = openSync(path, 'r');
  try {
    const { size, mtimeMs } = fstatSync(file);
    // An edit of the file, for debugging, changes its code, not its imports and exports.
    const length = end - start + size - builtSize;
    // All in one buffer, because joining strings of megabytes copies them once more.
    const prefix = `${before}'use strict'; ${head}`;
    const suffix = `${tail}${after}`;
    const buffer = Buffer.allocUnsafeSlow(prefix.length + length + suffix.length);
    buffer.write(prefix, 'latin1');
    if (readSync(file, buffer, prefix.length, length, start) !== length)
      throw new Error(`orchplane: ${path} is cut off`);
    buffer.write(suffix, prefix.length + length, 'latin1');
    // The build writes ASCII, which is faster to read as Latin-1.
    const text = buffer.toString(size === builtSize ? 'latin1' : 'utf8');
    const source = hasDynamicImports ? text.replace(DYNAMIC_IMPORT, '$import(') : text;
    return { source, version: `${id} ${process.version} ${process.arch} ${size} ${mtimeMs}` };
  } finally {
    closeSync(file);
  }
}

interface Cache {
  readonly data?: Buffer;
  readonly generation: number;
}

const NO_CACHE: Cache = { generation: 0 };

function readCache(cache: string, version: string): Cache {
  let stored: Buffer;
  try {
    stored = readFileSync(cache);
  } catch {
    // Usually there is none yet. Whatever the reason is, the library loads without it.
    return NO_CACHE;
  }
  if (stored.length <= HEADER_BYTES) return NO_CACHE;
  const data = stored.subarray(HEADER_BYTES);
  if (stored.readUInt32LE() !== checksum(data, version)) return NO_CACHE;
  return { generation: stored[HEADER_BYTES - 1] ?? 0, data };
}

/** V8 checks neither that its data is whole nor that it was made from this source. */
function checksum(data: Buffer, version: string): number {
  return crc32(data, crc32(version));
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
    for (const [cache, { script, version, generation }] of unsaved) {
      const data = script.createCachedData();
      const header = Buffer.alloc(HEADER_BYTES, generation);
      header.writeUInt32LE(checksum(data, version));
      replaceFile(cache, Buffer.concat([header, data]));
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
function replaceFile(path: string, content: Buffer): void {
  const unfinished = `${path}.${process.pid}-${threadId}`;
  try {
    writeFileSync(unfinished, content, { flag: 'wx' });
    renameSync(unfinished, path);
  } catch (error) {
    rmSync(unfinished, { force: true });
    throw error;
  }
}
