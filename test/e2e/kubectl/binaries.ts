/** Finds the kubectl binaries of this machine, one per release. */
import { readdirSync, realpathSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';

export interface Binary {
  readonly path: string;
  /** `1.33`, or the name of a binary whose release is unknown. */
  readonly release: string;
}

/**
 * Binaries named `kubectl.1.33`, in PATH and next to the target of `kubectl` in PATH, because such a `kubectl` is only
 * a dispatcher. If there are none, `kubectl` itself, with any release.
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

/** 33 for release 1.33; infinity if the release is unknown. */
export function minorOf({ release }: Binary): number {
  return Number(release.split('.')[1] ?? Number.POSITIVE_INFINITY);
}

/** A missing folder in PATH has no binaries. */
function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'EACCES'].includes((error as NodeJS.ErrnoException).code ?? '')) return [];
    throw error;
  }
}
