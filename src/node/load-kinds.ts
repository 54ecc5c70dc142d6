/**
 * Loads the kinds that a module exports.
 */
import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { copyFile, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import process from 'node:process';
import { pathToFileURL } from 'node:url';
import type { Kind } from '../kinds/kind.js';
import { isRecord } from '../util/json.js';
import { messageOf } from '../util/message-of.js';

/**
 * Imports a module of JavaScript or TypeScript and returns the kinds among its exports. Rejects if the module cannot be
 * loaded or exports none.
 */
export async function loadKinds(file: string): Promise<readonly Kind[]> {
  const path = resolve(file);
  // A missing module would otherwise be reported with its URL.
  await readFile(path);
  const exported = await importModule(path);
  const kinds = Object.values(exported).filter(isKind);
  if (kinds.length === 0) throw new Error('exports no kind of defineKind');
  return kinds;
}

function isKind(value: unknown): value is Kind {
  return isRecord(value) && value['representation'] === 'document' && typeof value['kind'] === 'string';
}

type Exports = Readonly<Record<string, unknown>>;

async function importModule(path: string): Promise<Exports> {
  try {
    return (await import(pathToFileURL(path).href)) as Exports;
  } catch (error) {
    // Node 22.18 and newer load TypeScript.
    if (!(error instanceof Error && 'code' in error && error.code === 'ERR_UNKNOWN_FILE_EXTENSION')) throw error;
    return importTranspiled(path);
  }
}

/** Removes the types with the compiler of the program, in a file beside the module, which resolves the same packages. */
async function importTranspiled(path: string): Promise<Exports> {
  const script = join(dirname(path), `.${basename(path)}.${randomUUID()}.mjs`);
  await writeFile(script, await transpiled(path), { flag: 'wx' });
  try {
    return (await import(pathToFileURL(script).href)) as Exports;
  } catch (error) {
    throw new Error(messageOf(error).replaceAll(script, path), { cause: error });
  } finally {
    await rm(script, { force: true });
  }
}

/** Without checks the compiler reads no other file. */
const COMPILER_OPTIONS = ['--module', 'esnext', '--moduleResolution', 'bundler', '--target', 'es2022'].concat([
  '--isolatedModules',
  '--noResolve',
  '--noCheck',
]);

/** The module in JavaScript. The program `tsc` is the same in all versions; the API of the package is not. */
async function transpiled(path: string): Promise<string> {
  const compiler = await findCompiler(path);
  // Without the tsconfig.json and the package.json of the program, which concern the whole program.
  const folder = await mkdtemp(join(tmpdir(), 'orchplane-'));
  try {
    const copy = basename(path);
    await copyFile(path, join(folder, copy));
    const args = [compiler, ...COMPILER_OPTIONS, copy];
    const { status, stdout } = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' });
    const file = (await readdir(folder)).find((name) => name !== copy);
    if (status !== 0 || file === undefined) throw new Error(`tsc: ${stdout.trim()}`);
    return await readFile(join(folder, file), 'utf8');
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The path of `tsc` in the package typescript of the program. */
async function findCompiler(path: string): Promise<string> {
  try {
    const manifest = createRequire(path).resolve('typescript/package.json');
    const { bin } = JSON.parse(await readFile(manifest, 'utf8')) as { readonly bin: { readonly tsc: string } };
    return join(dirname(manifest), bin.tsc);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'MODULE_NOT_FOUND')) throw error;
    throw new Error(
      'Node 22.18 or newer loads TypeScript; with an older one install the package typescript, 5.5 or newer',
      {
        cause: error,
      },
    );
  }
}
