/**
 * Loads the built library in Node with V8's code cache, which halves the time of an import. The build makes it a file of
 * its own, `dist/cached/load.cjs`; bundlers and browsers do not load it.
 *
 * Node compiles ES modules without a cache. So each file of the build runs here as a script: its imports and exports are
 * replaced by what the build wrote to `chunks.json`, the code between them is unchanged. The compiled code is stored next
 * to the library, because who can write there can change the library anyway.
 */
import {
  closeSync,
  fstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  rm,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, posix } from 'node:path';
import process from 'node:process';
import { setTimeout } from 'node:timers';
import { cachedDataVersionTag } from 'node:v8';
import { runInThisContext, Script } from 'node:vm';

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
  /** Whether the code contains dynamic imports. */
  readonly importsLater: boolean;
}

type Exports = Readonly<Record<string, unknown>>;
type Body = (require: (name: string) => unknown, load: (name: string) => unknown) => Exports;

const DIST = dirname(__dirname);
const FOLDER = join(__dirname, `v8-${cachedDataVersionTag().toString(36)}`);
/** The checksum and the generation. */
const HEADER_BYTES = 5;
/** The checksum covers one byte of so many: enough for a block that was never written. */
const SAMPLE_BYTES = 256;

/** What has been compiled is stored when nothing was loaded for this time. */
const STORE_AFTER_MS = 50;
/** So many processes store what they compiled: each adds the functions that it used. */
const GENERATIONS = 3;

/** The build checks that this finds the dynamic imports and nothing else. */
const DYNAMIC_IMPORT = /\bimport\(/g;

/** Jest runs modules in contexts of their own, where scripts of this context would create foreign objects. */
const isMainContext = runInThisContext('Object') === Object;
const isEnabled = isMainContext && process.env['ORCHPLANE_CODE_CACHE'] !== 'off';

const chunks = JSON.parse(readFileSync(join(__dirname, 'chunks.json'), 'utf8')) as Readonly<Record<string, Chunk>>;
const loaded = new Map<string, Exports | undefined>();
/** Scripts whose cache is missing or young, by the file of the cache. */
const unsaved = new Map<string, { readonly script: Script; readonly version: number; readonly generation: number }>();
let timer: NodeJS.Timeout | undefined;

/** The exports of a built file, by its path in `dist`. */
export function load(file: string): Exports {
  const before = loaded.get(file);
  if (before !== undefined) return before;
  if (loaded.has(file)) throw new Error(`orchplane: ${file} imports itself`);
  loaded.set(file, undefined);
  const path = join(DIST, file);
  const relative = (name: string): string => posix.join(posix.dirname(file), name);
  const native = createRequire(path);
  const exports = compile(file, path)(
    (name) => (name.startsWith('.') ? load(relative(name)) : native(name)),
    async (name) => {
      if (name.startsWith('.')) return load(relative(name));
      // Node refuses dynamic imports in other contexts.
      return isMainContext ? import(name) : native(name);
    },
  );
  loaded.set(file, exports);
  return exports;
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
  if (isEnabled && stored < GENERATIONS) {
    unsaved.set(cache, { script, version, generation: stored + 1 });
    storeLater();
  }
  return script.runInThisContext() as Body;
}

/** The text of a file as the body of a function, and a number that changes when somebody edits the file. */
function readSource(
  path: string,
  { size: builtSize, start, end, head, tail, importsLater }: Chunk,
  before: string,
  after: string,
): { readonly source: string; readonly version: number } {
  const file = openSync(path, 'r');
  try {
    const { size, mtimeMs } = fstatSync(file);
    // Who edits the file for debugging edits its code, not its imports and exports.
    const length = end - start + size - builtSize;
    // All in one buffer, because joining strings of megabytes copies them once more. The text is ASCII.
    const prefix = `${before}'use strict'; ${head}`;
    const suffix = `${tail}${after}`;
    const buffer = Buffer.allocUnsafeSlow(prefix.length + length + suffix.length);
    buffer.write(prefix, 'latin1');
    if (readSync(file, buffer, prefix.length, length, start) !== length)
      throw new Error(`orchplane: ${path} is cut off`);
    buffer.write(suffix, prefix.length + length, 'latin1');
    const text = buffer.toString('latin1');
    return { source: importsLater ? text.replace(DYNAMIC_IMPORT, '$import(') : text, version: size + mtimeMs };
  } finally {
    closeSync(file);
  }
}

interface Cache {
  readonly data?: Buffer;
  readonly generation: number;
}

const NO_CACHE: Cache = { generation: 0 };

function readCache(cache: string, version: number): Cache {
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

/** V8 does not check that its data is whole. After a crash of the machine parts of a file may be missing. */
function checksum(data: Buffer, version: number): number {
  let sum = (version ^ data.length) >>> 0;
  for (let index = 0; index < data.length; index += SAMPLE_BYTES) {
    sum = Math.imul(sum ^ (data[index] ?? 0), 0x01000193) >>> 0;
  }
  return sum;
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
  for (const [cache, { script, version, generation }] of unsaved) {
    const data = script.createCachedData();
    const header = Buffer.alloc(HEADER_BYTES, generation);
    header.writeUInt32LE(checksum(data, version));
    const unfinished = `${cache}.${process.pid}`;
    try {
      mkdirSync(FOLDER, { recursive: true });
      writeFileSync(unfinished, Buffer.concat([header, data]));
      renameSync(unfinished, cache);
    } catch {
      // A folder that cannot be written, or a full disk: the next process compiles as this one did.
      rm(unfinished, { force: true }, () => undefined);
      break;
    }
  }
  unsaved.clear();
}
