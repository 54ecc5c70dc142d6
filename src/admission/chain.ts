/**
 * Runs plugins in order, waiting only for those that must be waited for.
 */

import type { ServedKind } from '../kinds/served-kind.js';
import { errors, StatusError } from '../meta/errors.js';
import type { DraftObject } from '../meta/object.js';
import type { MaybePromise } from '../util/maybe-promise.js';
import type { AdmissionPlugin, AdmissionRequest, ClusterView } from './types.js';

/** The first refusal ends the chain. */
export function runAdmission(
  plugins: readonly AdmissionPlugin[],
  phase: 'mutate' | 'validate',
  about: Admission,
): MaybePromise<void> {
  const steps = concerned(plugins, about.request.served);
  return runFrom(0, phase === 'mutate' ? steps.mutate : steps.validate, about);
}

interface Admission {
  readonly request: AdmissionRequest<DraftObject>;
  readonly view: ClusterView;
}

/** A loop as long as nobody makes it wait: nearly always. */
function runFrom(first: number, steps: readonly Step[], about: Admission): MaybePromise<void> {
  const isConnecting = about.request.operation === 'CONNECT';
  for (let index = first; index < steps.length; index++) {
    const step = steps[index] as Step;
    if (isConnecting && !step.connects) continue;
    const waited = guarded(step, about);
    if (waited !== undefined) return waited.then(() => runFrom(index + 1, steps, about));
  }
  return undefined;
}

/** A plugin in one phase. Plugins differ in what they have; steps all have the same. */
interface Step {
  readonly plugin: AdmissionPlugin;
  readonly connects: boolean;
  readonly run: (request: AdmissionRequest<DraftObject>, view: ClusterView) => unknown;
}

interface Concerned {
  readonly mutate: readonly Step[];
  readonly validate: readonly Step[];
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
    known = {
      mutate: looking.flatMap((plugin) => stepOf(plugin, plugin.mutate)),
      // The same object under the type that says what it is by now: finished.
      validate: looking.flatMap((plugin) => stepOf(plugin, plugin.validate as AdmissionPlugin['mutate'])),
    };
    byKind.set(served, known);
  }
  return known;
}

function stepOf(plugin: AdmissionPlugin, run: AdmissionPlugin['mutate']): readonly Step[] {
  return run === undefined ? [] : [{ plugin, connects: plugin.connects === true, run }];
}

/** A plugin refuses with a StatusError; anything else it throws is its own failure, and the client gets a 500. */
function guarded({ plugin, run }: Step, { request, view }: Admission): Promise<void> | undefined {
  try {
    const result = run.call(plugin, request, view);
    // Anything that can be waited for is waited for, whoever made it.
    if (typeof result !== 'object' || result === null || !('then' in result)) return undefined;
    return Promise.resolve(result as Promise<void>).then(
      () => undefined,
      (error) => fail(error, plugin),
    );
  } catch (error) {
    return fail(error, plugin);
  }
}

function fail(error: unknown, plugin: AdmissionPlugin): never {
  if (StatusError.is(error)) throw error;
  const why = error instanceof Error ? error.message : `it threw a ${typeof error}`;
  throw errors.internal(`admission plugin "${plugin.name}" failed: ${why}`, error);
}
