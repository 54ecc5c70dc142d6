/**
 * package-lock.json: `npm ci` works on every platform, and the file does not depend on a registry.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { root } from './manifest.js';

interface LockedPackage {
  readonly version?: string;
  readonly integrity?: string;
  readonly resolved?: string;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

type Packages = Readonly<Record<string, LockedPackage>>;

const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as { packages: Packages };

/** The package that `name` is for the package at `path`: the nearest one, as Node finds it. */
function findPackage(from: Packages, path: string, name: string): LockedPackage | undefined {
  for (let folder = path; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/node_modules/')))) {
    const found = from[`${folder === '' ? '' : `${folder}/`}node_modules/${name}`];
    if (found !== undefined || folder === '') return found;
  }
}

/** The optional packages, most of them for one platform each, that `npm ci` would miss. */
function incompletePackages(from: Packages): string[] {
  return Object.entries(from).flatMap(([path, { optionalDependencies = {} }]) =>
    Object.entries(optionalDependencies).flatMap(([name, wanted]) => {
      const locked = findPackage(from, path, name);
      const isExact = /^\d/.test(wanted);
      const isComplete =
        locked?.version !== undefined &&
        /^sha512-./.test(locked.integrity ?? '') &&
        (!isExact || locked.version === wanted);
      return isComplete ? [] : [`${path}: ${name}@${wanted}`];
    }),
  );
}

describe('package-lock.json', () => {
  test('has a version and an integrity for the packages of all platforms', () => {
    expect(incompletePackages(packages)).toEqual([]);
    const platforms = ['darwin-arm64', 'linux-x64', 'win32-x64'];
    for (const platform of platforms) expect(packages).toHaveProperty([`node_modules/@biomejs/cli-${platform}`]);
  });

  test('names no registry', () => {
    expect(Object.entries(packages).flatMap(([path, { resolved }]) => (resolved === undefined ? [] : [path]))).toEqual(
      [],
    );
  });

  test('is found incomplete without a package, without its integrity, and with another version', () => {
    const complete: Packages = {
      'node_modules/a': { version: '1.0.0', optionalDependencies: { 'a-linux': '1.0.0' } },
      'node_modules/a-linux': { version: '1.0.0', integrity: 'sha512-x' },
      'node_modules/b': { version: '2.0.0', optionalDependencies: { 'a-linux': '2.0.0' } },
      'node_modules/b/node_modules/a-linux': { version: '2.0.0', integrity: 'sha512-y' },
    };
    expect(incompletePackages(complete)).toEqual([]);
    const { 'node_modules/b/node_modules/a-linux': _nested, ...other } = complete;
    expect(incompletePackages(other)).toEqual(['node_modules/b: a-linux@2.0.0']);
    expect(incompletePackages({ ...complete, 'node_modules/a-linux': { version: '1.0.0' } })).toEqual([
      'node_modules/a: a-linux@1.0.0',
    ]);
  });
});
