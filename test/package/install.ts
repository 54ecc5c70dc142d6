/**
 * Installs the package into the folder of a test project, like npm: the package is a copy of the published files, because
 * tools treat node_modules differently. Other packages are links to those of the repository.
 */
import { cpSync, mkdirSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { manifest, root } from './manifest.js';

/** Also links the dependencies of the package, zod, and the other packages that the project uses. */
export function installPackage(folder: string, others: readonly string[]): void {
  const modules = join(folder, 'node_modules');
  const target = join(modules, manifest.name);
  mkdirSync(target, { recursive: true });
  cpSync(join(root, 'package.json'), join(target, 'package.json'));
  cpSync(join(root, 'dist'), join(target, 'dist'), { recursive: true });
  for (const name of [...Object.keys(manifest.dependencies ?? {}), 'zod', ...others]) {
    mkdirSync(dirname(join(modules, name)), { recursive: true });
    symlinkSync(join(root, 'node_modules', name), join(modules, name), 'junction');
  }
}
