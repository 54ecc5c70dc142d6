/** The kubectl programs of this machine, one per release. */
import { readdirSync, realpathSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';

export interface Binary {
  readonly path: string;
  /** `1.33`, or the name of a program that does not tell. */
  readonly release: string;
}

/**
 * Programs called `kubectl.1.33`, in PATH and beside what `kubectl` in PATH leads to: a `kubectl` with such neighbours
 * only chooses among them. Without any: `kubectl` itself, whatever its release.
 */
export function findBinaries(path: string = process.env['PATH'] ?? ''): readonly Binary[] {
  const folders = path.split(delimiter).filter((folder) => folder !== '');
  const plain = folders.flatMap((folder) => (namesIn(folder).includes('kubectl') ? [join(folder, 'kubectl')] : []));
  const places = new Set([...folders, ...plain.map((file) => dirname(realpathSync(file)))]);

  const found = new Map<string, Binary>();
  for (const place of places) {
    for (const name of namesIn(place)) {
      const release = /^kubectl[.-]v?(\d+\.\d+)$/.exec(name)?.[1];
      if (release !== undefined && !found.has(release)) found.set(release, { path: join(place, name), release });
    }
  }
  if (found.size === 0) return plain.slice(0, 1).map((file) => ({ path: file, release: 'kubectl' }));
  return [...found.values()].sort((a, b) => minorOf(a) - minorOf(b));
}

/** 33 for release 1.33; for a program that does not tell, later than all. */
export function minorOf({ release }: Binary): number {
  return Number(release.split('.')[1] ?? Number.POSITIVE_INFINITY);
}

/** A folder in PATH that is not there has no programs. */
function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'EACCES'].includes((error as NodeJS.ErrnoException).code ?? '')) return [];
    throw error;
  }
}
