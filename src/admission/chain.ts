/**
 * Runs plugins in order, waiting only for those that must be waited for.
 */

import type { ServedKind } from '../kinds/served-kind.js';
import { errors, StatusError } from '../meta/errors.js';
import type { DraftObject } from '../meta/object.js';
import type { MaybePromise } from '../util/maybe-promise.js';
import type { AdmissionPlugin, AdmissionRequest, ClusterView } from './types.js';

/** The first refusal ends the chain. `awake`: those of the chain that have something to do. */
export function runAdmission(
  awake: readonly AdmissionPlugin[],
  phase: 'mutate' | 'validate',
  about: Admission,
): MaybePromise<void> {
  return runFrom(0, concerned(awake, about.request.served)[phase], phase, about);
}

interface Admission {
  readonly request: AdmissionRequest<DraftObject>;
  readonly view: ClusterView;
  /** All plugins. */
  readonly chain: readonly AdmissionPlugin[];
}

/** A loop as long as nobody makes it wait: nearly always. */
function runFrom(
  first: number,
  plugins: readonly AdmissionPlugin[],
  phase: 'mutate' | 'validate',
  about: Admission,
): MaybePromise<void> {
  const { request, view } = about;
  const isConnecting = request.operation === 'CONNECT';
  for (let index = first; index < plugins.length; index++) {
    const plugin = plugins[index] as AdmissionPlugin;
    if (isConnecting && plugin.connects !== true) continue;
    try {
      const result: unknown =
        phase === 'mutate'
          ? plugin.mutate?.(request, view)
          : // The same object under the type that says what it is by now: finished.
            plugin.validate?.(request as unknown as AdmissionRequest, view);
      // Anything that can be waited for is waited for, whoever made it.
      if (typeof result !== 'object' || result === null || !('then' in result)) continue;
      return Promise.resolve(result as Promise<void>)
        .then(
          () => undefined,
          (error) => fail(error, plugin),
        )
        .then(() => runAfter(plugin, phase, about));
    } catch (error) {
      fail(error, plugin);
    }
  }
  return undefined;
}

/** Who had nothing to do may have got something to do while one of them was waited for. */
function runAfter(plugin: AdmissionPlugin, phase: 'mutate' | 'validate', about: Admission): MaybePromise<void> {
  const all = concerned(about.chain, about.request.served)[phase];
  return runFrom(all.indexOf(plugin) + 1, all, phase, about);
}

interface Concerned extends Readonly<Record<'mutate' | 'validate', readonly AdmissionPlugin[]>> {
  /** One of them may change a draft. */
  readonly mayChange: boolean;
}

const concernedPlugins = new WeakMap<readonly AdmissionPlugin[], WeakMap<ServedKind, Concerned>>();

/** The plugins that have a say about a kind; most kinds concern one or two of a dozen. */
function concerned(plugins: readonly AdmissionPlugin[], served: ServedKind): Concerned {
  let byKind = concernedPlugins.get(plugins);
  if (byKind === undefined) {
    byKind = new WeakMap();
    concernedPlugins.set(plugins, byKind);
  }
  let known = byKind.get(served);
  if (known === undefined) {
    const looking = plugins.filter((plugin) => plugin.looksAt?.(served) ?? true);
    const mutate = looking.filter((plugin) => plugin.mutate !== undefined);
    known = {
      mutate,
      validate: looking.filter((plugin) => plugin.validate !== undefined),
      mayChange: mutate.some((plugin) => plugin.changesNothing !== true),
    };
    byKind.set(served, known);
  }
  return known;
}

/** Whether any of these plugins, our own included, may change a draft of the kind. */
export function mayBeChanged(plugins: readonly AdmissionPlugin[], served: ServedKind): boolean {
  return concerned(plugins, served).mayChange;
}

/** A plugin refuses with a StatusError; anything else it throws is its own failure, and the client gets a 500. */
function fail(error: unknown, plugin: AdmissionPlugin): never {
  if (StatusError.is(error)) throw error;
  const why = error instanceof Error ? error.message : `it threw a ${typeof error}`;
  throw errors.internal(`admission plugin "${plugin.name}" failed: ${why}`, error);
}
