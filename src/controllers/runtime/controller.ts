/**
 * The contract of this folder: what a controller is and what it is given. Controllers know the public client and the
 * cluster's clock, nothing else, so that they run beside a cluster of this process and against a server far away.
 */
import type { Client } from '../../client/client.js';
import type { LocalHost } from '../../client/host.js';
import type { FeatureGates } from '../../kinds/feature-gates.js';
import type { Kind } from '../../kinds/kind.js';
import type { ServedKind } from '../../kinds/served-kind.js';
import type { Dialect } from '../../meta/dialect.js';
import type { Clock, Undo } from '../../util/clock.js';
import type { Ids } from '../../util/ids.js';
import type { EventRecorder } from './events.js';
import type { SharedInformer } from './shared-informer.js';
import type { Backoff, Reconcile, WorkQueue } from './work-queue.js';

/** A loop that makes the state of the cluster what its objects say. A value: the same one may run beside many clusters. */
export interface Controller {
  /** Unique among those that run together; messages name it. */
  readonly name: string;
  /**
   * The service account it acts as where controllers run with accounts of their own: one of kube-system by its name, any
   * other as `namespace/name`. Absent: it acts as whoever runs the controllers.
   */
  readonly account?: string | undefined;
  /** With an account of its own it also reads as that one, in place of the informers that all share. */
  readonly readsAsItself?: boolean | undefined;
  /** In whose name it writes fields, unless the run says otherwise; absent: `kube-controller-manager`. */
  readonly fieldManager?: string | undefined;
  /** In whose name events are; the controller's unless given. */
  readonly component?: string | undefined;
  /** Kinds it cannot do without. */
  readonly needs: readonly Kind[];
  /** It asks the cluster which kinds there are, and so runs only beside one of this process. */
  readonly local?: boolean | undefined;
  /** Left out where it cannot run, or what it needs is not served; otherwise that is an error. */
  readonly optional?: boolean | undefined;
  /**
   * Sets it up: informers and queues are asked for here, synchronously. Queues begin to work when every informer that was
   * asked for has its first list. What has to be undone at the end goes to `context.onClose`.
   */
  start(context: ControllerContext): void;
}

export interface ControllerContext {
  readonly name: string;
  /** Acts as the controller: its user, its field manager. */
  readonly client: Client;
  readonly clock: Clock;
  readonly dialect: Dialect;
  readonly ids: Ids;
  /** Undefined against a server far away. */
  readonly features: FeatureGates | undefined;
  /** The cluster, where it lives in this process. */
  readonly host: LocalHost | undefined;
  /** Writes Events about objects, in the controller's name. */
  readonly events: EventRecorder;

  /** Now, as the API writes times. */
  now(): string;
  /** Whether the cluster serves the kind; true where that is not known. */
  serves(kind: Kind): boolean;
  /** Every kind that is served, in each version. Throws against a server far away. */
  kinds(): readonly ServedKind[];
  /** The one informer of a kind that all controllers share. */
  informer<AnyKind extends Kind>(kind: AnyKind): SharedInformer<AnyKind>;
  /**
   * A queue of keys. Before a key is handled, the informers of this controller know everything it has written.
   *
   * @example
   * runControllers(cluster, [{ name: 'teller', needs: [Job], start(context) {
   *   const queue = context.queue(async (key) => console.log(key));
   *   context.informer(Job).onKey((key) => queue.add(key));
   * } }]);
   */
  queue(reconcile: Reconcile, options?: QueueOptions): WorkQueue;
  /** Called at the end, in reverse order. */
  onClose(undo: Undo): void;
  /** Reports what went wrong and is tried again or cannot be mended. */
  report(error: unknown, about: string): void;
}

export interface QueueOptions {
  /** Told apart in messages when a controller has several queues. */
  readonly name?: string;
  readonly workers?: number;
  readonly backoff?: Backoff;
  /** False: a key may be handled before the informers know what the controller has written. True unless given. */
  readonly waitsForOwnWrites?: boolean;
}
