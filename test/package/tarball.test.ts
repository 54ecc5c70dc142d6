/**
 * The package as npm would publish it: packed, then read by the two tools that know how packages go wrong (publint for
 * package.json, attw for declarations), then by eye: nothing in it that a user does not need.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, posix } from 'node:path';
import type { Package, Problem, ResolutionKind } from '@arethetypeswrong/core';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { problemAffectsResolutionKind } from '@arethetypeswrong/core/problems';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { beforeAll, describe, expect, test } from 'vitest';
import { entries, requireBuild, root } from './manifest.js';

/**
 * The ways to import that an ESM-only package supports. The others fail by design and would only tell us that the package
 * is ESM-only: `node10` does not read the exports map, so it finds no subpath, and from a CommonJS file (`node16-cjs`)
 * every entry is an ES module, which `require` reads on current Node but TypeScript reports.
 */
const SUPPORTED: readonly ResolutionKind[] = ['node16-esm', 'bundler'];

let tarball: Buffer;
let packed: Package;
/** Paths inside the package: `dist/index.js`. */
let files: string[];

beforeAll(() => {
  requireBuild();
  tarball = pack();
  packed = createPackageFromTarballData(tarball);
  const prefix = `/node_modules/${packed.packageName}/`;
  files = packed.listFiles().map((file) => file.slice(prefix.length));
}, 60_000);

describe('the packed package', () => {
  test('holds the built files, the documents and package.json, and nothing else', () => {
    expect(files).toEqual(expect.arrayContaining(['LICENSE', 'README.md', 'package.json']));
    const strangers = files.filter(
      (file) =>
        !/^(dist\/.+|docs\/.+\.md|docs\/images\/.+|examples\/.+|LICENSE|[A-Z]+\.md|package\.json)$/.test(file) ||
        /(^|\/)(playground|node_modules)\//.test(file),
    );
    expect(strangers).toEqual([]);
    const unbuilt = files.filter((file) => file.startsWith('dist/') && !/\.(js|js\.map|d\.ts)$/.test(file));
    expect(unbuilt).toEqual([]);
  });

  test('has source maps that carry their sources and point nowhere outside', () => {
    const maps = files.filter((file) => file.endsWith('.map'));
    const broken = maps.flatMap((file) => sourceMapFindings(file, read(file)));
    expect(maps.length).toBeGreaterThan(0);
    expect(broken).toEqual([]);
  });

  test('mentions no path of the machine that built it', () => {
    const home = root.replace(/\/$/, '');
    expect(files.filter((file) => read(file).includes(home))).toEqual([]);
  });

  test('satisfies publint', async () => {
    const buffer = tarball.buffer.slice(tarball.byteOffset, tarball.byteOffset + tarball.byteLength) as ArrayBuffer;
    const { messages, pkg } = await publint({ pack: { tarball: buffer }, level: 'warning' });
    expect(messages.map((message) => formatMessage(message, pkg, { color: false }) ?? message.code)).toEqual([]);
  });

  test('has right types for every way to import it', { timeout: 120_000 }, async () => {
    const analysis = await checkPackage(packed);
    if (analysis.types === false) throw new Error('the package has no declarations');
    const problems = analysis.problems.filter((problem) =>
      SUPPORTED.some((kind) => problemAffectsResolutionKind(problem, kind, analysis)),
    );
    expect(problems.map(describeProblem)).toEqual([]);
    // A check that saw no entry would find no problem either.
    expect(Object.keys(analysis.entrypoints)).toEqual(
      expect.arrayContaining(entries.map(({ name }) => (name === 'index' ? '.' : `./${name}`))),
    );
  });
});

/** `--ignore-scripts`: the build is there already; packing must not start another one. */
function pack(): Buffer {
  const folder = mkdtempSync(join(tmpdir(), 'pack-'));
  try {
    const options = ['--json', '--ignore-scripts', '--pack-destination', folder];
    const output = execFileSync('npm', ['pack', ...options], {
      cwd: root,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
      shell: process.platform === 'win32',
    });
    const [result] = JSON.parse(output) as [{ filename: string }];
    return readFileSync(join(folder, result.filename));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function read(file: string): string {
  return packed.readFile(`/node_modules/${packed.packageName}/${file}`);
}

function sourceMapFindings(file: string, text: string): string[] {
  const map = JSON.parse(text) as { sources: string[]; sourcesContent?: (string | null)[]; sourceRoot?: string };
  return map.sources.flatMap((source, index) => {
    const path = posix.join(posix.dirname(file), map.sourceRoot ?? '', source);
    if (!path.startsWith('src/')) return [`${file}: ${source} is not one of our sources`];
    return map.sourcesContent?.[index]
      ? []
      : [`${file}: ${source} is not in the package and its text is not in the map`];
  });
}

function describeProblem(problem: Problem): string {
  const { kind, ...rest } = problem;
  return `${kind} ${JSON.stringify(rest, (key, value: unknown) => (key === 'trace' ? undefined : value))}`;
}
