/**
 * Takes a namespace apart that is being deleted: its content goes, pods first, and when nothing is left the namespace is
 * released. Its status says what is waited for. spec: Namespace
 */
import type { Stored } from '../../client/api.js';
import type { InformerEvent } from '../../client/informer.js';
import { Namespace } from '../../kinds/core/v1/namespace.js';
import { NAMESPACE_FINALIZER } from '../../meta/dialect.js';
import { StatusError } from '../../meta/errors.js';
import { timeToMs } from '../../text/time/time.js';
import { deepEqual } from '../../util/json.js';
import { refuseUnknownOptions } from '../../util/options.js';
import type { Controller, ControllerContext } from '../runtime/controller.js';
import type { Again } from '../runtime/work-queue.js';
import { nextConditions } from './conditions.js';
import { deleteContent } from './content.js';
import { Remaining } from './remaining.js';

export interface NamespacesOptions {
  /**
   * How long after a change a namespace is looked at. The reference waits 5,000 ms, for the sake of servers that learn of
   * the deletion late; here nobody does. 0 unless given, and then what is left is followed, and a namespace goes in the
   * moment in which its last object has gone. With a delay it goes by the clock alone, as it does in the reference.
   */
  readonly deletionDelayMs?: number | undefined;
}

const OPTIONS = ['deletionDelayMs'] as const satisfies readonly (keyof NamespacesOptions)[];
const WORKERS = 10;
const BACKOFF = { firstMs: 5, longestMs: 60_000 };

/**
 * Deletes the content of namespaces that are being deleted, and then lets them go.
 *
 * @example
 * const cluster = createCluster({ controllers: controllers(standardControllers({ namespaces: { deletionDelayMs: 5_000 } })) });
 */
export function namespaces(options: NamespacesOptions = {}): Controller {
  refuseUnknownOptions('namespaces', options, OPTIONS);
  const { deletionDelayMs = 0 } = options;
  if (!(deletionDelayMs >= 0))
    throw new TypeError('orchplane: deletionDelayMs is a number of milliseconds, 0 at least');
  return {
    name: 'namespace-controller',
    account: 'namespace-controller',
    local: true,
    needs: [Namespace],
    start(context) {
      const isPrompt = deletionDelayMs === 0;
      const queue = context.queue((name) => look(name, context, isPrompt ? remaining : undefined), {
        workers: WORKERS,
        backoff: BACKOFF,
      });
      const remaining = new Remaining({
        client: context.client,
        onVanished: (name) => queue.add(name),
        onError: context.report,
      });
      context.onClose(() => remaining.close());
      context.informer(Namespace).onKey((name, event) => {
        if (event.type === 'DELETED') remaining.follow(name, []);
        else if (event.object.metadata.deletionTimestamp === undefined) return;
        else if (!isPrompt || !isOwnDoing(event)) queue.addAfter(name, deletionDelayMs);
      });
    },
  };
}

/** That the status has changed is this controller's doing, and no reason to look again at once. */
function isOwnDoing(event: InformerEvent<Stored<typeof Namespace>>): boolean {
  if (event.type !== 'MODIFIED') return false;
  const { object, previous } = event;
  return previous.metadata.deletionTimestamp !== undefined && deepEqual(previous.spec, object.spec);
}

async function look(
  name: string,
  context: ControllerContext,
  remaining: Remaining | undefined,
): Promise<Again | undefined> {
  const api = context.client.api(Namespace);
  let namespace = await api.find(name);
  if (namespace?.metadata.deletionTimestamp === undefined) {
    remaining?.follow(name, []);
    return undefined;
  }
  try {
    // 1. It says what it is.
    if (namespace.status.phase !== 'Terminating') {
      namespace = await api.status.update(name, {
        ...namespace,
        status: { ...namespace.status, phase: 'Terminating' },
      });
    }
    const { finalizers = [] } = namespace.spec;
    if (finalizers.length === 0) return undefined;

    // 2. Its content goes, and the status says how far that has come.
    const { deletionTimestamp = '' } = namespace.metadata;
    const content = await deleteContent({
      client: context.client,
      kinds: context.kinds(),
      namespace: name,
      sinceMs: context.clock.now() - timeToMs(deletionTimestamp),
    });
    remaining?.follow(name, content.left);
    const conditions = nextConditions(namespace.status.conditions ?? [], content, context.now());
    if (conditions !== undefined) {
      namespace = await api.status.update(name, { ...namespace, status: { ...namespace.status, conditions } });
    }
    if (content.failures.length > 0)
      throw new Error(`deletion of namespace ${name} failed: ${content.failures.join(', ')}`);
    if (content.estimateSeconds > 0) {
      return { requeueAfterMs: (Math.floor(content.estimateSeconds / 2) + 1) * 1000 };
    }

    // 3. Nothing is left: as far as this controller goes it may vanish.
    if (!finalizers.includes(NAMESPACE_FINALIZER)) return undefined;
    const rest = [...new Set(finalizers)].filter((finalizer) => finalizer !== NAMESPACE_FINALIZER).sort();
    await api.subresource('finalize').update(name, { ...namespace, spec: { finalizers: rest } });
    return undefined;
  } catch (error) {
    if (!StatusError.is(error, 'NotFound')) throw error;
    // Somebody else has released it meanwhile.
    remaining?.follow(name, []);
    return undefined;
  }
}
