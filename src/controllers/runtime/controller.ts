/**
 * The contract of this folder: a controller, the context it runs in, and the checks of arguments for JavaScript callers.
 * Controllers use only the public client and the cluster's clock, so they work with a cluster in this process and with a remote
 * server.
 */
import type { Client } from '../../client/client.js';
import type { Host, LocalHost } from '../../client/host.js';
import type { FeatureGates } from '../../kinds/feature-gates.js';
import type { Kind } from '../../kinds/kind.js';
import type { ServedKind } from '../../kinds/served-kind.js';
import type { Dialect } from '../../meta/dialect.js';
import type { Clock, Undo } from '../../util/clock.js';
import type { Ids } from '../../util/ids.js';
import type { EventRecorder } from './events.js';
import type { SharedInformer } from './shared-informer.js';
import type { Backoff, Reconcile, WorkQueue } from './work-queue.js';

/** A control loop. It is a value without state, so one controller may run against several clusters. */
export interface Controller {
  /** Unique among the controllers of a run. Appears in messages. */
  readonly name: string;
  /**
   * The service account it acts as when controllers run with their own accounts: a name in kube-system, or
   * `namespace/name`. Absent: it acts as the user of the host's client.
   */
  readonly account?: string | undefined;
  /** True: with its own account it also reads as that account, with informers of its own instead of the shared ones. */
  readonly readsAsItself?: boolean | undefined;
  /** The field manager of its writes, unless the run options name one. Absent: `kube-controller-manager`. */
  readonly fieldManager?: string | undefined;
  /** The source component of its Events. Absent: the controller's name. */
  readonly component?: string | undefined;
  /** Kinds that must be served. */
  readonly needs: readonly Kind[];
  /** True: it lists the cluster's kinds, so it needs a cluster in this process. */
  readonly local?: boolean | undefined;
  /** True: it is left out if it cannot run or a needed kind is not served. Otherwise that is an error. */
  readonly optional?: boolean | undefined;
  /**
   * Requests informers and queues, synchronously. Queues start when every requested informer has its first list. Register
   * clean-up with `context.onClose`.
   */
  start(context: ControllerContext): void;
}

export interface ControllerContext {
  readonly name: string;
  /** Sends requests with the controller's user and field manager. */
  readonly client: Client;
  readonly clock: Clock;
  readonly dialect: Dialect;
  readonly ids: Ids;
  /** Undefined with a remote server. */
  readonly features: FeatureGates | undefined;
  /** The cluster, if it runs in this process. */
  readonly host: LocalHost | undefined;
  /** Records Events about objects. The controller is the source. */
  readonly events: EventRecorder;

  /** The current time in the API's format. */
  now(): string;
  /** Whether the cluster serves the kind; true if that cannot be determined. */
  serves(kind: Kind): boolean;
  /** Every served kind in every version. Throws with a remote server. */
  kinds(): readonly ServedKind[];
  /** The informer of a kind, shared by all controllers. */
  informer<AnyKind extends Kind>(kind: AnyKind): SharedInformer<AnyKind>;
  /**
   * Creates a work queue. Before a key is handled, the controller's informers contain everything it has written.
   *
   * @example
   * runControllers(cluster, [{ name: 'teller', needs: [Job], start(context) {
   *   const queue = context.queue(async (key) => console.log(key));
   *   context.informer(Job).onKey((key) => queue.add(key));
   * } }]);
   */
  queue(reconcile: Reconcile, options?: QueueOptions): WorkQueue;
  /** Registers a clean-up function. They run in reverse order when the run ends. */
  onClose(undo: Undo): void;
  /** Reports an error that is retried or cannot be handled. */
  report(error: unknown, context: string): void;
}

export interface QueueOptions {
  /** Distinguishes the queues of one controller in messages. */
  readonly name?: string;
  readonly workers?: number | undefined;
  readonly backoff?: Backoff | undefined;
  /** False: keys may be handled before the informers contain the controller's own writes. True unless given. */
  readonly waitsForOwnWrites?: boolean;
}

/**
 * A class of a controller that is created in `start`. Its fields can be initialized from the context, because they are set
 * after this constructor.
 */
export abstract class ControllerPart<Options = unknown> {
  protected readonly context: ControllerContext;
  protected readonly options: Options;

  constructor(context: ControllerContext, ...[options]: unknown extends Options ? [] : [options: Options]) {
    this.context = context;
    this.options = options as Options;
  }
}

/** Throws TypeError unless `list` is a list of controllers with distinct names. `where` names the function for the message. */
export function checkControllers(where: string, list: unknown): asserts list is readonly Controller[] {
  if (!Array.isArray(list)) throw new TypeError(`orchplane: ${where} takes a list of controllers, not ${nameOf(list)}`);
  const seen = new Set<string>();
  for (const [index, each] of list.entries()) {
    if (!isController(each)) {
      throw new TypeError(`orchplane: ${where}: ${nameOf(each)} at ${index} is no controller${adviceOn(each)}`);
    }
    if (seen.has(each.name)) throw new TypeError(`orchplane: two controllers are named ${each.name}`);
    seen.add(each.name);
  }
}

/** Throws TypeError unless `host` is a cluster or a transport. */
export function checkHost(where: string, host: unknown): asserts host is Host {
  if (isRecord(host) && typeof host.send === 'function' && isRecord(host.clock)) return;
  throw new TypeError(`orchplane: ${where} takes a cluster or a transport first, not ${nameOf(host)}`);
}

/** Throws TypeError unless the value is a function or undefined. */
export function checkFunction(where: string, option: string, value: unknown): void {
  if (value === undefined || typeof value === 'function') return;
  throw new TypeError(`orchplane: ${where}: ${option} is a function, not ${nameOf(value)}`);
}

function isController(value: unknown): value is Controller {
  if (!isRecord(value)) return false;
  const { name, needs, start } = value;
  if (typeof name !== 'string' || name === '' || typeof start !== 'function') return false;
  return Array.isArray(needs) && needs.every(isRecord);
}

function adviceOn(value: unknown): string {
  if (typeof value === 'function') return `: it has to be called, ${value.name === '' ? 'f' : value.name}()`;
  if (Array.isArray(value)) return ': lists are spread, [...list]';
  if (isRecord(value) && 'kind' in value && !('needs' in value)) return ': stages are given to stages([...])';
  return '; it has a name, the kinds it needs, and start';
}

function nameOf(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'function') return `the function ${value.name}`.trimEnd();
  if (!isRecord(value)) return `${typeof value} ${String(value)}`;
  return typeof value.name === 'string' && value.name !== '' ? `"${value.name}"` : 'an object';
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
