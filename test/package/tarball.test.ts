/**
 * The package as npm would publish it: checked with publint (package.json) and attw (declarations), and for unwanted
 * content.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Package, Problem, ResolutionKind } from '@arethetypeswrong/core';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { problemAffectsResolutionKind } from '@arethetypeswrong/core/problems';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { beforeAll, describe, expect, test } from 'vitest';
import { isRelative, linksOf, targetOf } from '../../docs/.vitepress/links.js';
import { entries, requireBuild, root } from './manifest.js';

/**
 * The resolution modes that an ESM-only package supports. The others fail by design: `node10` does not read the
 * exports map, and in a CommonJS file (`node16-cjs`) TypeScript reports every entry as an ES module, although current
 * Node can `require` it.
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
  test('contains only the built files, the documents and package.json', () => {
    expect(files).toEqual(expect.arrayContaining(['LICENSE', 'README.md', 'package.json']));
    const unexpected = files.filter(
      (file) =>
        !/^(dist\/.+|docs\/.+\.md|docs\/images\/.+|examples\/.+|LICENSE|[A-Z]+\.md|package\.json)$/.test(file) ||
        /(^|\/)(playground|node_modules)\//.test(file),
    );
    expect(unexpected).toEqual([]);
    const unbuilt = files.filter(
      (file) =>
        file.startsWith('dist/') &&
        !/(\.js|\.d\.ts|\/cached\/load\.cjs|\/node\/http-thread\.cjs|\/cached\/(?:chunks|scripts)\.json|\/THIRD-PARTY-LICENSES\.txt)$/.test(
          file,
        ),
    );
    expect(unbuilt).toEqual([]);
  });

  test('contains the targets of the relative links in its documents', () => {
    const dead = documents().flatMap((document) =>
      linksOf(read(document))
        .filter((link) => isRelative(link) && !isPacked(targetOf(document, link).file))
        .map((link) => `${document}: ${link}`),
    );
    expect(dead).toEqual([]);
    expect(documents().length).toBeGreaterThan(40);
  });

  // Raised only for what users get: an entry, an example, a page.
  test('has at most 240 files and 8 MB', () => {
    const bytes = files.reduce((sum, file) => sum + Buffer.byteLength(read(file)), 0);
    console.log(`${files.length} files, ${(bytes / 1e6).toFixed(1)} MB`);
    expect(files.length).toBeLessThanOrEqual(240);
    expect(bytes).toBeLessThanOrEqual(8e6);
  });

  // V8 stores a source with any other character in two bytes per character, which slows down loading.
  test('has only Latin-1 characters in its JavaScript', () => {
    const scripts = files.filter((file) => file.startsWith('dist/') && file.endsWith('.js'));
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the range starts at zero.
    expect(scripts.filter((file) => /[^\u0000-\u00ff]/.test(read(file)))).toEqual([]);
  });

  test('contains no path of the build machine', () => {
    const home = root.replace(/\/$/, '');
    expect(files.filter((file) => read(file).includes(home))).toEqual([]);
  });

  test('passes publint', async () => {
    const buffer = tarball.buffer.slice(tarball.byteOffset, tarball.byteOffset + tarball.byteLength) as ArrayBuffer;
    const { messages, pkg } = await publint({ pack: { tarball: buffer }, level: 'warning' });
    expect(messages.map((message) => formatMessage(message, pkg, { color: false }) ?? message.code)).toEqual([]);
  });

  test('has correct types in every supported resolution mode', { timeout: 120_000 }, async () => {
    const analysis = await checkPackage(packed);
    if (analysis.types === false) throw new Error('the package has no declarations');
    const problems = analysis.problems.filter((problem) =>
      SUPPORTED.some((kind) => problemAffectsResolutionKind(problem, kind, analysis)),
    );
    expect(problems.map(describeProblem)).toEqual([]);
    // A check without entries would find no problems.
    expect(Object.keys(analysis.entrypoints)).toEqual(
      expect.arrayContaining(entries.map(({ name }) => (name === 'index' ? '.' : `./${name}`))),
    );
  });
});

/** `--ignore-scripts`: the build exists already, and packing must not start another one. */
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

function documents(): string[] {
  return files.filter((file) => file.endsWith('.md'));
}

/** Whether the package contains a file or a folder. */
function isPacked(path: string): boolean {
  return files.some((file) => file === path || file.startsWith(`${path.replace(/\/$/, '')}/`));
}

function describeProblem(problem: Problem): string {
  const { kind, ...rest } = problem;
  return `${kind} ${JSON.stringify(rest, (key, value: unknown) => (key === 'trace' ? undefined : value))}`;
}
