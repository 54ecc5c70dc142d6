/**
 * Runs plugins in order, waiting only for those that must be waited for.
 */

import type { ServedKind } from '../kinds/served-kind.js';
import { errors, StatusError } from '../meta/errors.js';
import type { DraftObject } from '../meta/object.js';
import type { MaybePromise } from '../util/maybe-promise.js';
import { chain } from '../util/maybe-promise.js';
import type { AdmissionPlugin, AdmissionRequest, ClusterView } from './types.js';

/** The first refusal ends the chain. */
export function runAdmission(
  plugins: readonly AdmissionPlugin[],
  phase: 'mutate' | 'validate',
  about: { readonly request: AdmissionRequest<DraftObject>; readonly view: ClusterView },
): MaybePromise<void> {
  let result: MaybePromise<void> = void 0;
  const isConnecting = about.request.operation === 'CONNECT';
  for (const plugin of concerned(plugins, phase, about.request.served)) {
    if (isConnecting && plugin.connects !== true) continue;
    result = chain(result, () => guarded(() => runOne(plugin, phase, about), plugin));
  }
  return result;
}

type Concerned = Readonly<Record<'mutate' | 'validate', readonly AdmissionPlugin[]>>;

const concernedPlugins = new WeakMap<readonly AdmissionPlugin[], WeakMap<ServedKind, Concerned>>();

/** The plugins that have a say about a kind; most kinds concern one or two of a dozen. */
function concerned(
  plugins: readonly AdmissionPlugin[],
  phase: 'mutate' | 'validate',
  served: ServedKind,
): readonly AdmissionPlugin[] {
  let byKind = concernedPlugins.get(plugins);
  if (byKind === undefined) {
    byKind = new WeakMap();
    concernedPlugins.set(plugins, byKind);
  }
  let known = byKind.get(served);
  if (known === undefined) {
    const looking = plugins.filter((plugin) => plugin.looksAt?.(served) ?? true);
    known = {
      mutate: looking.filter((plugin) => plugin.mutate !== undefined),
      validate: looking.filter((plugin) => plugin.validate !== undefined),
    };
    byKind.set(served, known);
  }
  return known[phase];
}

function runOne(
  plugin: AdmissionPlugin,
  phase: 'mutate' | 'validate',
  { request, view }: { readonly request: AdmissionRequest<DraftObject>; readonly view: ClusterView },
): MaybePromise<void> {
  if (phase === 'mutate') return plugin.mutate?.(request, view);
  // The same object under the type that says what it is by now: finished.
  return plugin.validate?.(request as unknown as AdmissionRequest, view);
}

/** A plugin refuses with a StatusError; anything else it throws is its own failure, and the client gets a 500. */
function guarded(run: () => MaybePromise<void>, plugin: AdmissionPlugin): MaybePromise<void> {
  const fail = (error: unknown): never => {
    if (StatusError.is(error)) throw error;
    const why = error instanceof Error ? error.message : `it threw a ${typeof error}`;
    throw errors.internal(`admission plugin "${plugin.name}" failed: ${why}`, error);
  };
  try {
    const result: unknown = run();
    // Anything that can be waited for is waited for, whoever made it.
    if (typeof result !== 'object' || result === null || !('then' in result)) return undefined;
    return Promise.resolve(result as Promise<void>).then(() => undefined, fail);
  } catch (error) {
    return fail(error);
  }
}
