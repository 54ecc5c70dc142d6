/**
 * Runs plugins in order, waiting only for those that must be waited for.
 */
import { errors, StatusError } from '../meta/errors.js';
import type { MaybePromise } from '../util/maybe-promise.js';
import { chain, isPromise } from '../util/maybe-promise.js';
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
    result = chain(result, () => guarded(() => run(about.request, about.view), plugin));
  }
  return result;
}

/** A plugin refuses with a StatusError; anything else it throws is its own failure, and the client gets a 500. */
function guarded(run: () => MaybePromise<void>, plugin: AdmissionPlugin): MaybePromise<void> {
  const fail = (error: unknown): never => {
    if (StatusError.is(error)) throw error;
    const why = error instanceof Error ? error.message : String(error);
    throw errors.internal(`admission plugin "${plugin.name}" failed: ${why}`, error);
  };
  try {
    const result = run();
    return isPromise(result) ? result.catch(fail) : result;
  } catch (error) {
    return fail(error);
  }
}
