/**
 * Runs plugins in order, waiting only for those that must be waited for.
 */
import type { MaybePromise } from '../util/maybe-promise.js';
import { chain } from '../util/maybe-promise.js';
import type { AdmissionPlugin, AdmissionRequest, ClusterView } from './types.js';

/** The first refusal ends the chain. */
export function runAdmission(
  plugins: readonly AdmissionPlugin[],
  phase: 'mutate' | 'validate',
  about: { readonly request: AdmissionRequest; readonly view: ClusterView },
): MaybePromise<void> {
  let result: MaybePromise<void> = void 0;
  for (const plugin of plugins) {
    const run = plugin[phase];
    if (run === undefined) continue;
    result = chain(result, () => run(about.request, about.view));
  }
  return result;
}
