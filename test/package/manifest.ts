/**
 * The entries that package.json declares, and their built files. Every packaging test uses this list, so a new entry
 * is checked as soon as it is declared.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export interface Entry {
  /** The import specifier: `orchplane/kinds`. */
  readonly specifier: string;
  /** The part after the package name; `index` for the package itself. */
  readonly name: string;
  /** The absolute path of the built JavaScript. */
  readonly file: string;
  /** The absolute path of the built declarations. */
  readonly types: string;
  /** The source, relative to the repository: `src/kinds/index.ts`. */
  readonly source: string;
}

interface Conditions {
  readonly types: string;
  readonly default: string;
}

interface Manifest {
  readonly name: string;
  readonly exports: Readonly<Record<string, string | Conditions>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

/** The root folder of the repository. */
export const root = fileURLToPath(new URL('../../', import.meta.url));

export const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Manifest;

export const entries: readonly Entry[] = Object.entries(manifest.exports).flatMap(([subpath, target]) =>
  typeof target === 'string'
    ? []
    : [
        {
          specifier: `${manifest.name}${subpath.slice(1)}`,
          name: subpath === '.' ? 'index' : subpath.slice(2),
          file: join(root, target.default),
          types: join(root, target.types),
          source: target.types.replace('./dist/', 'src/').replace(/\.d\.ts$/, '.ts'),
        },
      ],
);

/** The names of the entries that only their test runners can load. */
export const RUNNER_ENTRIES: readonly string[] = ['vitest', 'jest'];

/** Throws a clear error if the build is missing. */
export function requireBuild(): void {
  const missing = entries.flatMap((entry) => [entry.file, entry.types]).filter((file) => !existsSync(file));
  if (missing.length > 0) {
    throw new Error(
      `not built: ${missing.map((file) => file.slice(root.length)).join(', ')}; run "npm run build" first`,
    );
  }
}
