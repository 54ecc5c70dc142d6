/// <reference lib="esnext.disposable" preserve="true" />
/**
 * Runs controllers against a cluster. All controllers of a run share one set of informers; each has its own client.
 */
import { createClient } from '../../client/client.js';
import type { ControllerStarter, Host, LocalHost } from '../../client/host.js';
import type { ClientDefaults } from '../../client/options.js';
import { CoreEvent } from '../../kinds/core/v1/event.js';
import type { Kind } from '../../kinds/kind.js';
import { StatusError } from '../../meta/errors.js';
import type { GroupVersionResource } from '../../meta/gvk.js';
import type { User } from '../../protocol/request.js';
import type { Transport } from '../../protocol/transport.js';
import { formatTime } from '../../text/time/time.js';
import { onAbort } from '../../util/abort.js';
import { Activities, type RestOptions, untilAtRest } from '../../util/activity.js';
import type { Undo } from '../../util/clock.js';
import { copyText } from '../../util/copy-text.js';
import { randomIds } from '../../util/ids.js';
import { isPromise } from '../../util/maybe-promise.js';
import { messageOf, printError } from '../../util/message-of.js';
import { refuseUnknownOptions } from '../../util/options.js';
import { withCachedApis } from './cached-apis.js';
import type { Controller, ControllerContext, QueueOptions } from './controller.js';
import { checkControllers, checkFunction, checkHost } from './controller.js';
import { CoreEventRecorder } from './events.js';
import type { Candidate, LeaderElection } from './leader-election.js';
import { OwnWrites, resourceKey } from './own-writes.js';
import { RequestTracker } from './request-tracker.js';
import { SharedInformer } from './shared-informer.js';
import { type Reconcile, WorkQueue } from './work-queue.js';

export interface RunOptions {
  /**
   * `own`: each controller acts as its own service account, with the permissions its roles grant. `shared`: all act as the
   * user of the host's client, which is the administrator for a cluster in this process. `shared` unless given.
   */
  readonly accounts?: 'own' | 'shared' | undefined;
  /** The field manager of all controllers. Absent: each uses its own; those of `orchplane/controllers` use `kube-controller-manager`. */
  readonly fieldManager?: string | undefined;
  /** Awaited between a change and its reconcile, so that a test can hold controllers back. One turn of the event loop unless given. */
  readonly pace?: (() => Promise<void>) | undefined;
  /** Runs the controllers only while this candidate is the leader. */
  readonly leaderElection?: LeaderElection | undefined;
  /** Receives every error that is retried. Absent: each distinct error is printed to the console once. */
  readonly onError?: ((error: unknown, context: string) => void) | undefined;
}

const RUN_OPTIONS = [
  'accounts',
  'fieldManager',
  'pace',
  'leaderElection',
  'onError',
] as const satisfies readonly (keyof RunOptions)[];
const MANAGER = 'kube-controller-manager';

/** A set of running controllers. */
export interface RunningControllers extends AsyncDisposable {
  /** Resolves when all informers have synced and the queues have started; with leader election, for the first term. */
  readonly ready: Promise<void>;
  /** Resolves when there is no work left except work that waits for a timer; see `cluster.settle()`. */
  settle(options?: RestOptions): Promise<void>;
  /** Stops all controllers, watches and timers. Further calls do nothing. */
  close(): Promise<void>;
}

/**
 * Starts controllers against a cluster or a transport.
 *
 * @example
 * await using running = runControllers(cluster, [garbageCollector(), cronJobs()]);
 * await cluster.settle();
 */
export function runControllers(
  host: Host,
  controllers: readonly Controller[],
  options: RunOptions = {},
): RunningControllers {
  checkHost('runControllers', host);
  checkControllers('runControllers', controllers);
  return start(host, controllers, checkedOptions('runControllers', options));
}

/**
 * The `controllers` option of `createCluster`: they start with the cluster, with each fork and after a restore, and stop
 * with the cluster.
 *
 * @example
 * const cluster = createCluster({ controllers: controllers([garbageCollector(), cronJobs()]) });
 */
export function controllers(list: readonly Controller[], options: RunOptions = {}): ControllerStarter {
  checkControllers('controllers', list);
  const checked = checkedOptions('controllers', options);
  return (host) => start(host, list, checked);
}

/** Throws TypeError for invalid options. */
function checkedOptions(where: string, options: RunOptions): RunOptions {
  refuseUnknownOptions(where, options, RUN_OPTIONS);
  const { accounts = 'shared', pace, onError } = options;
  if (accounts !== 'own' && accounts !== 'shared')
    throw new TypeError(`orchplane: ${where}: accounts is "own" or "shared", not ${String(accounts)}`);
  checkFunction(where, 'pace', pace);
  checkFunction(where, 'onError', onError);
  if (onError === undefined) return { ...options, onError: printer() };
  const reportSafely = (error: unknown, context: string): void => {
    // A callback that throws must not stop the controllers, so its own error goes to the console.
    const printFailure = (thrown: unknown) =>
      printError(`orchplane: ${where}: onError threw while it handled an error of ${context}:`, thrown);
    try {
      const result: unknown = onError(error, context);
      if (isPromise(result)) result.then(undefined, printFailure);
    } catch (thrown) {
      printFailure(thrown);
    }
  };
  return { ...options, onError: reportSafely };
}

const MAX_REMEMBERED_ERRORS = 1_000;

/** Prints each distinct error once: a retry usually fails with the same message. */
function printer(): (error: unknown, context: string) => void {
  const printed = new Set<string>();
  return (error, context) => {
    const failure = copyText(`${context}: ${messageWithoutName(error)}`.slice(0, 1_000));
    if (printed.has(failure)) return;
    if (printed.size >= MAX_REMEMBERED_ERRORS) printed.clear();
    printed.add(failure);
    // A Status message is complete. Any other error is a bug, so its stack trace is printed too.
    if (StatusError.is(error)) printError(`orchplane: ${context}: ${messageOf(error)}`);
    else printError(`orchplane: ${context}:`, error);
  };
}

/** Removes the object's name from the message, because each attempt may generate another name. */
function messageWithoutName(error: unknown): string {
  const message = messageOf(error);
  const name = StatusError.is(error) ? error.status.details?.name : undefined;
  return name === undefined || name === '' ? message : message.replaceAll(`"${name}"`, '""');
}

function start(host: Host, list: readonly Controller[], options: RunOptions): RunningControllers {
  const { leaderElection } = options;
  return leaderElection === undefined
    ? new Run(host, list, options)
    : new ElectedRun(leaderElection, host, () => new Run(host, list, options), options);
}

/** Runs the controllers while the candidate leads, and again after each re-election. */
class ElectedRun implements RunningControllers {
  readonly ready: Promise<void>;
  readonly #candidate: Candidate;
  readonly #host: Host;
  #run: RunningControllers | undefined;
  #isClosed = false;

  constructor(election: LeaderElection, host: Host, begin: () => RunningControllers, options: RunOptions) {
    this.#host = host;
    let resolveReady = (_ready: Promise<void>): void => undefined;
    this.ready = new Promise((resolve) => {
      resolveReady = resolve;
    });
    this.ready.catch(() => undefined);
    const onError = (error: unknown) => {
      if (!this.#isClosed) options.onError?.(error, `the election of ${election.name}`);
    };
    this.#candidate = election.campaign(host, {
      onStartedLeading: () => {
        try {
          this.#run = begin();
          resolveReady(this.#run.ready);
        } catch (error) {
          resolveReady(Promise.reject(error));
          onError(error);
        }
      },
      onStoppedLeading: () => {
        void this.#run?.close();
        this.#run = undefined;
      },
      onError,
    });
  }

  settle(options?: RestOptions): Promise<void> {
    if (this.#run !== undefined) return this.#run.settle(options);
    return untilAtRest(this.#host.activities ?? new Activities(), options, () => this.#host.clock.runDue?.());
  }

  close(): Promise<void> {
    this.#isClosed = true;
    // The candidate calls onStoppedLeading, which ends the run, before it releases the lease.
    return this.#candidate.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

class Run implements RunningControllers {
  readonly ready: Promise<void>;
  readonly #host: Host;
  readonly #options: RunOptions;
  readonly #activities: Activities;
  readonly #traffic = new RequestTracker();
  /** The host's transport, with requests counted by `#traffic`. */
  readonly #transport: Transport;
  readonly #informers = new Map<string, SharedInformer<Kind>>();
  readonly #undos: Undo[] = [];
  #isClosed = false;

  constructor(host: Host, list: readonly Controller[], options: RunOptions) {
    this.#host = host;
    this.#options = options;
    this.#activities = host.activities ?? new Activities();
    this.#transport = this.#traffic.wrap(host);
    const runnable = list.filter((controller) => isRunnable(host, controller));
    this.#undos.push(this.#activities.add(this.#traffic));
    const starts: Promise<void>[] = [];
    try {
      for (const controller of runnable) starts.push(this.#start(controller));
    } catch (error) {
      // A controller that throws in `start` is a bug of its author; stop the ones that were already started.
      void this.close();
      for (const each of starts) each.catch(() => undefined);
      throw error;
    }
    this.ready = Promise.all(starts).then(() => undefined);
    // Callers that await `ready` see the rejection. For others it must not become an unhandled rejection.
    this.ready.catch(() => undefined);
    const leave = host.clock.join?.(() => this.#traffic.untilIdle(this.#activities, host.clock));
    if (leave !== undefined) this.#undos.push(leave);
    this.#undos.push(onAbort(host.closing, () => void this.close()));
  }

  settle(options?: RestOptions): Promise<void> {
    return untilAtRest(this.#activities, options, () => this.#host.clock.runDue?.());
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const undo of this.#undos.splice(0).reverse()) {
      try {
        undo();
      } catch (error) {
        // A failing clean-up must not keep the others from running.
        this.#options.onError?.(error, 'the end of controllers');
      }
    }
    for (const informer of this.#informers.values()) informer.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Sets the controller up synchronously. Resolves when its queues are open. */
  #start(controller: Controller): Promise<void> {
    const host = this.#host;
    const { name } = controller;
    const report = (error: unknown, context: string) => {
      if (!this.#isClosed) this.#options.onError?.(error, `${name}: ${context}`);
    };
    const writes = new OwnWrites(name);
    const transport = writes.wrap(this.#transport);
    const client = withCachedApis(createClient({ transport, ...clientDefaults(controller, this.#options) }));
    const informers: SharedInformer<Kind>[] = [];
    const queues: WorkQueue[] = [];
    let isStarted = false;
    const local = isLocal(host) ? host : undefined;
    const ids = host.ids ?? randomIds;
    const component = controller.component ?? name;
    // One object for all events: the cluster caches resolved resources by object identity.
    const eventResource = resourceOf(host, CoreEvent);
    const served = () => host.resolve === undefined || host.resolve(eventResource) !== undefined;
    const events = new CoreEventRecorder({ client, clock: host.clock, ids, component, served, report });
    this.#undos.push(
      () => events.close(),
      this.#activities.add(events),
      () => writes.close(),
    );
    // A cluster in this process tracks pending watch deliveries itself.
    if (local === undefined) this.#undos.push(this.#activities.add(writes));
    const context: ControllerContext = {
      name,
      client,
      clock: host.clock,
      dialect: host.dialect,
      ids,
      features: host.features,
      host: local,
      events,
      now: () => formatTime(host.clock.now()),
      serves: (kind) => serves(host, kind),
      kinds: () => {
        if (local !== undefined) return local.kinds();
        throw new TypeError(`orchplane: the controller ${name} needs a cluster in this process`);
      },
      informer: <AnyKind extends Kind>(kind: AnyKind): SharedInformer<AnyKind> => {
        const informer = this.#informer(kind, controller);
        if (!informers.includes(informer)) informers.push(informer);
        writes.track(resourceOf(host, kind), informer);
        return informer as unknown as SharedInformer<AnyKind>;
      },
      queue: (reconcile: Reconcile, options: QueueOptions = {}) => {
        const queue = new WorkQueue({
          name: options.name === undefined ? name : `${name} (${options.name})`,
          clock: host.clock,
          workers: options.workers,
          backoff: options.backoff,
          pace: this.#options.pace,
          budget: this.#traffic.budget,
          reconcile: async (key) => {
            if (options.waitsForOwnWrites !== false && !writes.isSeen()) await writes.seen();
            return reconcile(key);
          },
          onError: (error, key) => report(error, key),
        });
        queues.push(queue);
        this.#undos.push(this.#activities.add(queue), () => queue.close());
        if (isStarted) queue.open();
        return queue;
      },
      onClose: (undo) => void this.#undos.push(undo),
      report,
    };
    const started: unknown = controller.start(context);
    if (isPromise(started)) {
      started.then(undefined, (error: unknown) => report(error, 'start'));
      throw new TypeError(`orchplane: the controller ${name} is set up synchronously: its start must return nothing`);
    }
    return Promise.all(informers.map(({ synced }) => synced)).then(() => {
      if (this.#isClosed) return;
      isStarted = true;
      for (const queue of queues) queue.open();
    });
  }

  #informer(kind: Kind, { name, account, readsAsItself }: Controller): SharedInformer<Kind> {
    const as = readsAsItself === true ? accountOf(account, this.#options) : undefined;
    const resource = resourceKey(resourceOf(this.#host, kind));
    const key = as === undefined ? resource : `${resource} for ${name}`;
    const known = this.#informers.get(key);
    if (known !== undefined) return known;
    const transport = this.#transport;
    const client = createClient(as === undefined ? { transport } : { transport: { ...transport, origin: name }, as });
    const informer = new SharedInformer<Kind>(client, kind, (error) => {
      if (!this.#isClosed) this.#options.onError?.(error, `the informer of ${key}`);
    });
    this.#informers.set(key, informer);
    return informer;
  }
}

function clientDefaults({ account, fieldManager: own = MANAGER }: Controller, options: RunOptions): ClientDefaults {
  const as = accountOf(account, options);
  const { fieldManager = own } = options;
  return as === undefined ? { fieldManager } : { fieldManager, as };
}

/** The user of a controller that runs with its own service account. */
function accountOf(account: string | undefined, { accounts }: RunOptions): User | undefined {
  if (accounts !== 'own' || account === undefined) return undefined;
  const slash = account.indexOf('/');
  const namespace = slash === -1 ? 'kube-system' : account.slice(0, slash);
  return {
    user: `system:serviceaccount:${namespace}:${account.slice(slash + 1)}`,
    groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'],
  };
}

function resourceOf(host: Host, kind: Kind): GroupVersionResource {
  return { group: host.dialect.group(kind.group), version: kind.version, resource: kind.names.plural };
}

function serves(host: Host, kind: Kind): boolean {
  return host.resolve === undefined || host.resolve(resourceOf(host, kind)) !== undefined;
}

function isLocal(host: Host): host is LocalHost {
  return host.kinds !== undefined && host.resolve !== undefined && host.activities !== undefined;
}

function isRunnable(host: Host, { name, needs, optional, local }: Controller): boolean {
  if (local === true && !isLocal(host)) {
    if (optional === true) return false;
    throw new TypeError(`orchplane: the controller ${name} needs a cluster in this process`);
  }
  const missing = needs.filter((kind) => !serves(host, kind));
  if (missing.length === 0) return true;
  if (optional === true) return false;
  const names = missing.map((kind) => `${kind.kind} (${resourceKey(resourceOf(host, kind))})`).join(', ');
  throw new TypeError(
    `orchplane: the controller ${name} needs ${names}, which this cluster does not serve: give it the kind when it is made (createCluster({ kinds })), install it before controllers start, or make the controller optional`,
  );
}
