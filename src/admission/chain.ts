/**
 * Runs admission plugins in order. It stays synchronous until a plugin returns a promise.
 */

import type { ServedKind } from '../kinds/served-kind.js';
import { errors, StatusError } from '../meta/errors.js';
import type { DraftObject } from '../meta/object.js';
import type { MaybePromise } from '../util/maybe-promise.js';
import type { AdmissionPlugin, AdmissionRequest, ClusterView } from './types.js';

/** Runs one phase over the active (not idle) plugins. The first plugin that throws ends the chain. */
export function runAdmission(
  active: readonly AdmissionPlugin[],
  phase: 'mutate' | 'validate',
  admission: Admission,
): MaybePromise<void> {
  return runFrom(0, pluginsFor(active, admission.request.served)[phase], phase, admission);
}

interface Admission {
  readonly request: AdmissionRequest<DraftObject>;
  readonly view: ClusterView;
  /** All plugins, idle ones included. */
  readonly chain: readonly AdmissionPlugin[];
}

/** A plain loop until a plugin returns a promise, which is rare. */
function runFrom(
  first: number,
  plugins: readonly AdmissionPlugin[],
  phase: 'mutate' | 'validate',
  admission: Admission,
): MaybePromise<void> {
  const { request, view } = admission;
  const isConnecting = request.operation === 'CONNECT';
  for (let index = first; index < plugins.length; index++) {
    const plugin = plugins[index] as AdmissionPlugin;
    if (isConnecting && plugin.handlesConnect !== true) continue;
    try {
      const result: unknown =
        phase === 'mutate'
          ? plugin.mutate?.(request, view)
          : // The same object: it is complete after mutation, as the type states.
            plugin.validate?.(request as unknown as AdmissionRequest, view);
      // Any thenable is awaited, not only native promises.
      if (typeof result !== 'object' || result === null || !('then' in result)) continue;
      return Promise.resolve(result as Promise<void>)
        .then(
          () => undefined,
          (error) => fail(error, plugin),
        )
        .then(() => runAfter(plugin, phase, admission));
    } catch (error) {
      fail(error, plugin);
    }
  }
  return undefined;
}

/** Continues with all plugins: an idle plugin may have become active during the wait. */
function runAfter(plugin: AdmissionPlugin, phase: 'mutate' | 'validate', admission: Admission): MaybePromise<void> {
  const all = pluginsFor(admission.chain, admission.request.served)[phase];
  return runFrom(all.indexOf(plugin) + 1, all, phase, admission);
}

interface KindPlugins extends Readonly<Record<'mutate' | 'validate', readonly AdmissionPlugin[]>> {
  /** One of the mutating plugins may change a draft. */
  readonly mayChange: boolean;
}

const pluginsByKind = new WeakMap<readonly AdmissionPlugin[], WeakMap<ServedKind, KindPlugins>>();

/** The plugins that handle a kind, cached; most kinds have one or two of a dozen. */
function pluginsFor(plugins: readonly AdmissionPlugin[], served: ServedKind): KindPlugins {
  let byKind = pluginsByKind.get(plugins);
  if (byKind === undefined) {
    byKind = new WeakMap();
    pluginsByKind.set(plugins, byKind);
  }
  let entry = byKind.get(served);
  if (entry === undefined) {
    const handling = plugins.filter((plugin) => plugin.handlesKind?.(served) ?? true);
    const mutate = handling.filter((plugin) => plugin.mutate !== undefined);
    entry = {
      mutate,
      validate: handling.filter((plugin) => plugin.validate !== undefined),
      mayChange: mutate.some((plugin) => plugin.changesNothing !== true),
    };
    byKind.set(served, entry);
  }
  return entry;
}

/** Whether one of these plugins may change a draft of the kind. */
export function mayMutateKind(plugins: readonly AdmissionPlugin[], served: ServedKind): boolean {
  return pluginsFor(plugins, served).mayChange;
}

/** Passes on the StatusError of a rejection; any other error is a failure of the plugin and becomes a 500. */
function fail(error: unknown, plugin: AdmissionPlugin): never {
  if (StatusError.is(error)) throw error;
  const why = error instanceof Error ? error.message : `it threw a ${typeof error}`;
  throw errors.internal(`admission plugin "${plugin.name}" failed: ${why}`, error);
}
