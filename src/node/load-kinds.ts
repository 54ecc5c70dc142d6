/**
 * Loads the kinds that a module exports.
 */
import { randomUUID } from 'node:crypto';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Kind } from '../kinds/kind.js';
import { isRecord } from '../util/json.js';

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

/** The part of the package typescript that is used here. */
interface Compiler {
  readonly ModuleKind: { readonly ESNext: number };
  readonly ScriptTarget: { readonly ES2022: number };
  transpileModule(
    text: string,
    options: { readonly compilerOptions: { readonly module: number; readonly target: number } },
  ): { readonly outputText: string };
}

/** Removes the types with the compiler of the program, in a file beside the module, which resolves the same packages. */
async function importTranspiled(path: string): Promise<Exports> {
  const compiler = findCompiler(path);
  const { ModuleKind, ScriptTarget } = compiler;
  const compilerOptions = { module: ModuleKind.ESNext, target: ScriptTarget.ES2022 };
  const { outputText } = compiler.transpileModule(await readFile(path, 'utf8'), { compilerOptions });
  const script = join(dirname(path), `.${basename(path)}.${randomUUID()}.mjs`);
  await writeFile(script, outputText, { flag: 'wx' });
  try {
    return (await import(pathToFileURL(script).href)) as Exports;
  } finally {
    await rm(script, { force: true });
  }
}

function findCompiler(path: string): Compiler {
  try {
    return createRequire(path)('typescript') as Compiler;
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'MODULE_NOT_FOUND')) throw error;
    throw new Error('Node 22.18 or newer loads TypeScript; with an older one install the package typescript', {
      cause: error,
    });
  }
}
