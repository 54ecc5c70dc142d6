/**
 * All code samples are checked. Blocks marked `ts sample` in README.md and docs/ must compile against the built
 * package; `ts run` blocks must also run and assert something; `js run` blocks must run and assert, because they use
 * modules without types. The `@example`s in src must compile.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, test } from 'vitest';
import { manifest, requireBuild, root } from '../package/manifest.js';
import { type Compiled, compile } from './compile.js';
import { examplesInSources } from './doc-comments.js';
import { type Fence, fences } from './fences.js';

const samples = fences.filter(({ info }) => info === 'ts sample' || info === 'ts run');
const runnable = fences.filter(({ info }) => info === 'ts run' || info === 'js run');
const examples = examplesInSources();

let compiled: ReadonlyMap<string, Compiled>;
let failures: ReadonlyMap<string, string>;

beforeAll(() => {
  requireBuild();
  compiled = compile(
    new Map([
      // An import or export makes a file a module; a sample may have neither.
      ...samples.map((fence): [string, string] => [placeOf(fence), `${fence.code}\nexport {};`]),
      ...examples.map(({ place, text }): [string, string] => [place, text]),
    ]),
  );
  failures = run(runnable);
}, 120_000);

describe('the samples of the documentation', () => {
  test('marks all samples of the documentation as samples', () => {
    const code = /^(ts|typescript|tsx|js|javascript|mjs|jsx)\b/i;
    const marks = ['ts sample', 'ts run', 'js run'];
    const unmarked = fences.filter(({ info }) => code.test(info) && !marks.includes(info));
    expect(unmarked.map(placeOf)).toEqual([]);
    expect(runnable.length).toBeGreaterThan(10);
  });

  for (const fence of samples) {
    test(`compiles ${placeOf(fence)}`, () => {
      expect(compiled.get(placeOf(fence))?.errors).toEqual([]);
    });
  }

  for (const fence of runnable) {
    test(`runs ${placeOf(fence)} with an assertion`, () => {
      expect(fence.code).toMatch(/\bassert\b[.(]/);
      expect(failures.get(placeOf(fence)) ?? 'passed').toBe('passed');
    });
  }
});

describe('the examples in doc comments', () => {
  for (const { place } of examples) {
    test(`compiles ${place}`, () => {
      expect(compiled.get(place)?.errors).toEqual([]);
    });
  }
});

function placeOf({ file, line }: Fence): string {
  return `${file}:${line}`;
}

/** Runs compiled samples in one process, in a folder where the package is installed; returns the errors by location. */
function run(list: readonly Fence[]): Map<string, string> {
  const folder = mkdtempSync(join(tmpdir(), 'orchplane-samples-'));
  try {
    install(folder);
    const placeByFile = new Map(list.map((fence, index) => [join(folder, `${index}.mjs`), placeOf(fence)]));
    const codeByPlace = new Map(
      list.map((fence) => [placeOf(fence), compiled.get(placeOf(fence))?.code ?? fence.code]),
    );
    for (const [file, place] of placeByFile) writeFileSync(file, codeByPlace.get(place) ?? '');
    const runner = fileURLToPath(new URL('run-samples.mjs', import.meta.url));
    const output = execFileSync(process.execPath, [runner, ...placeByFile.keys()], { encoding: 'utf8' });
    const lines = output.split('\n').filter((line) => line !== '');
    const results = lines.map((line) => JSON.parse(line) as { file: string; error?: string });
    const ran = new Map(results.map(({ file, error }) => [file, error ?? '']));
    const failed = [...placeByFile].map(([file, place]): [string, string] => [
      place,
      ran.get(file) ?? 'it did not run',
    ]);
    return new Map(failed.filter(([, error]) => error !== ''));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Packages that the guide uses together with the library. */
const OTHER_PACKAGES: readonly string[] = ['express', 'hono', '@opentelemetry/sdk-trace-node'];

/** Installs them like npm, with links instead of copies. */
function install(folder: string): void {
  const modules = join(folder, 'node_modules');
  mkdirSync(modules);
  symlinkSync(root, join(modules, manifest.name), 'junction');
  for (const peer of [...Object.keys(manifest.peerDependencies ?? {}), ...OTHER_PACKAGES]) {
    mkdirSync(dirname(join(modules, peer)), { recursive: true });
    symlinkSync(join(root, 'node_modules', peer), join(modules, peer), 'junction');
  }
}
