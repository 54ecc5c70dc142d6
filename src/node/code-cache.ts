/**
 * Loads the built library in Node with V8's code cache, which halves the time of an import. The build makes it a file of
 * its own, `dist/cached/load.cjs`; bundlers and browsers do not load it.
 *
 * Node compiles ES modules without a cache. So each file of the build runs here as a script: its imports and exports are
 * replaced by what the build wrote to `chunks.json`, the code between them is unchanged. The compiled code is stored next
 * to the library, because who can write there can change the library anyway.
 */
import { createHash } from 'node:crypto';
import { closeSync, fstatSync, mkdirSync, openSync, readFileSync, renameSync, rm, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, posix } from 'node:path';
import process from 'node:process';
import { setTimeout } from 'node:timers';
import { pathToFileURL } from 'node:url';
import { cachedDataVersionTag } from 'node:v8';
import { runInThisContext, Script } from 'node:vm';

/** How the build replaces the imports and exports of a file. Offsets are in the file. */
export interface Chunk {
  /** The code between the imports and the exports. */
  readonly start: number;
  readonly end: number;
  /** The number of lines before the code, for the lines in stack traces. */
  readonly line: number;
  readonly head: string;
  readonly tail: string;
  /** Replaced parts of the code: dynamic imports and `import.meta`. */
  readonly edits: readonly (readonly [start: number, end: number, text: string])[];
}

type Exports = Readonly<Record<string, unknown>>;
type Body = (require: (name: string) => unknown, load: (name: string) => unknown, url: string) => Exports;

const DIST = dirname(__dirname);
const FOLDER = join(__dirname, `v8-${cachedDataVersionTag().toString(36)}`);
const DIGEST_BYTES = 20;

/** What has been compiled is stored when nothing was loaded for this time. */
const STORE_AFTER_MS = 50;
/** So many processes store what they compiled: each adds the functions that it used. */
const GENERATIONS = 3;

/** Jest runs modules in contexts of their own, where scripts of this context would create foreign objects. */
const isMainContext = runInThisContext('Object') === Object;
const isEnabled = isMainContext && process.env['ORCHPLANE_CODE_CACHE'] !== 'off';

const chunks = JSON.parse(readFileSync(join(__dirname, 'chunks.json'), 'utf8')) as Readonly<Record<string, Chunk>>;
const loaded = new Map<string, Exports | undefined>();
/** Scripts whose cache is missing or young, by the file of the cache. */
const unsaved = new Map<string, { readonly script: Script; readonly version: string; readonly generation: number }>();
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
    pathToFileURL(path).href,
  );
  loaded.set(file, exports);
  return exports;
}

function compile(file: string, path: string): Body {
  const { text, version } = read(path);
  const chunk = chunks[file];
  if (chunk === undefined) throw new Error(`orchplane: ${file} is not a file of this build`);
  let code = '';
  let offset = chunk.start;
  for (const [start, end, replacement] of chunk.edits) {
    code += text.slice(offset, start) + replacement;
    offset = end;
  }
  code = `'use strict'; ${chunk.head}${code}${text.slice(offset, chunk.end)}${chunk.tail}`;
  if (!isMainContext) return new Function('$require', '$import', '$url', `${code}\n//# sourceURL=${path}`) as Body;
  const source = `(function ($require, $import, $url) { ${code} })`;
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

/** The text of a file, which is ASCII, and what changes when somebody edits it. */
function read(path: string): { readonly text: string; readonly version: string } {
  const file = openSync(path, 'r');
  try {
    const { size, mtimeMs } = fstatSync(file);
    return { text: readFileSync(file, 'latin1'), version: `${size} ${mtimeMs}` };
  } finally {
    closeSync(file);
  }
}

interface Cache {
  readonly data?: Buffer;
  readonly generation: number;
}

const NO_CACHE: Cache = { generation: 0 };

/** V8 does not check that its data is whole, so a digest is stored before it. */
function readCache(cache: string, version: string): Cache {
  let stored: Buffer;
  try {
    stored = readFileSync(cache);
  } catch {
    // Usually there is none yet. Whatever the reason is, the library loads without it.
    return NO_CACHE;
  }
  const rest = stored.subarray(DIGEST_BYTES);
  if (!digest(rest, version).equals(stored.subarray(0, DIGEST_BYTES))) return NO_CACHE;
  return { generation: rest[0] ?? 0, data: rest.subarray(1) };
}

function digest(rest: Buffer, version: string): Buffer {
  return createHash('sha1').update(version).update(rest).digest();
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
    const rest = Buffer.concat([Buffer.of(generation), script.createCachedData()]);
    const unfinished = `${cache}.${process.pid}`;
    try {
      mkdirSync(FOLDER, { recursive: true });
      writeFileSync(unfinished, Buffer.concat([digest(rest, version), rest]));
      renameSync(unfinished, cache);
    } catch {
      // A folder that cannot be written, or a full disk: the next process compiles as this one did.
      rm(unfinished, { force: true }, () => undefined);
      break;
    }
  }
  unsaved.clear();
}
