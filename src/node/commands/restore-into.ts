/** Creates objects of another cluster in a running one, for `orchplane restore` and `orchplane import --to`. */
import { restoreObjects } from '../../manifests/restore-objects.js';
import type { ApiObject } from '../../meta/object.js';
import type { CommandEnvironment } from './command.js';
import { errorLine } from './manifest-input.js';
import { manifestTarget } from './manifest-target.js';
import type { OpenCluster } from './open-cluster.js';
import type { ProgressBar } from './progress.js';

/** `restoreObjects` repeats requests itself. */
export const RESTORE_RETRIES = 0;

/** Prints the outcome and returns the number of objects that were not restored. */
export async function restoreInto(
  cluster: OpenCluster,
  objects: readonly ApiObject[],
  { overwrite }: { readonly overwrite?: boolean | undefined },
  bar: ProgressBar,
  { writeOut, writeError }: CommandEnvironment,
): Promise<number> {
  const target = await manifestTarget(cluster);
  const report = await restoreObjects(target, objects, {
    overwrite,
    onProgress: (done, total) => bar.update(done, total, 'objects created'),
  });
  bar[Symbol.dispose]();
  for (const failure of report.failures) writeError(errorLine(failure));
  const { created, replaced, existing } = report;
  const counts = [`created ${created} object${created === 1 ? '' : 's'}`];
  if (replaced > 0) counts.push(`replaced ${replaced}`);
  if (existing > 0) counts.push(`left ${existing} as they were`);
  if (report.failures.length > 0) counts.push(`not restored: ${report.failures.length}`);
  writeOut(`${counts.join(', ')}\n`);
  return report.failures.length;
}
