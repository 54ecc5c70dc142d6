/// <reference lib="esnext.disposable" preserve="true" />
/**
 * Runs controllers beside a cluster: one set of informers for all, a client for each, and one end.
 */
import { createClient } from '../../client/client.js';
import type { Companion, Host, LocalHost } from '../../client/host.js';
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
import { randomIds } from '../../util/ids.js';
import { isPromise } from '../../util/maybe-promise.js';
import { messageOf } from '../../util/message-of.js';
import { refuseUnknownOptions } from '../../util/options.js';
import type { Controller, ControllerContext, QueueOptions } from './controller.js';
import { createEventRecorder } from './events.js';
import type { Candidate, LeaderElection } from './leader-election.js';
import { OwnWrites, resourceKey } from './own-writes.js';
import { remembering } from './remembering-client.js';
import { SharedInformer } from './shared-informer.js';
import { Traffic } from './traffic.js';
import { type Reconcile, WorkQueue } from './work-queue.js';
import { checkControllers, checkFunction, checkHost } from './wrong-use.js';

export interface RunOptions {
  /**
   * `own`: each acts as its own service account, and may do what roles allow it. `shared`: all act as whoever the host's
   * client is, in a cluster of this process its administrator. `shared` unless said otherwise.
   */
  readonly accounts?: 'own' | 'shared' | undefined;
  /** Who writes fields, of all controllers; absent: each in its own name, those of `orchplane/controllers` as `kube-controller-manager`. */
  readonly fieldManager?: string | undefined;
  /** What passes between a change and the look at it: a test may hold controllers back. A turn of the event loop unless given. */
  readonly pace?: (() => Promise<void>) | undefined;
  /** Controllers work only while this candidate leads: they start when it is elected and end when it leads no more. */
  readonly leaderElection?: LeaderElection | undefined;
  /** Told of everything that goes wrong and is tried again. Absent: it is printed to the console, each failure once. */
  readonly onError?: ((error: unknown, about: string) => void) | undefined;
}

const RUN_OPTIONS = [
  'accounts',
  'fieldManager',
  'pace',
  'leaderElection',
  'onError',
] as const satisfies readonly (keyof RunOptions)[];
const MANAGER = 'kube-controller-manager';

/** Controllers at work. */
export interface RunningControllers extends AsyncDisposable {
  /** Resolves when each has seen all there is and has begun to work; in an election, when that is so for the first time. */
  readonly ready: Promise<void>;
  /** Resolves when there is nothing left to do that needs no passing of time; see `cluster.settle()`. */
  settle(options?: RestOptions): Promise<void>;
  /** Ends them; no timer and no watch is left behind. Again: does nothing. */
  close(): Promise<void>;
}

/**
 * Starts controllers beside a cluster, or against whatever a transport leads to.
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
 * The same as an option of `createCluster`: they start with the cluster, with each of its forks and again after a
 * restore, and end with it.
 *
 * @example
 * const cluster = createCluster({ controllers: controllers([garbageCollector(), cronJobs()]) });
 */
export function controllers(list: readonly Controller[], options: RunOptions = {}): Companion {
  checkControllers('controllers', list);
  const checked = checkedOptions('controllers', options);
  return (host) => start(host, list, checked);
}

/** Throws TypeError for those that cannot be meant. */
function checkedOptions(where: string, options: RunOptions): RunOptions {
  refuseUnknownOptions(where, options, RUN_OPTIONS);
  const { accounts = 'shared', pace, onError } = options;
  if (accounts !== 'own' && accounts !== 'shared')
    throw new TypeError(`orchplane: ${where}: accounts is "own" or "shared", not ${String(accounts)}`);
  checkFunction(where, 'pace', pace);
  checkFunction(where, 'onError', onError);
  if (onError === undefined) return { ...options, onError: printer() };
  const tell = (error: unknown, about: string): void => {
    // Whoever listens must not stop the work that it is told of, and has nobody else to hear its own mistake.
    const complain = (thrown: unknown) =>
      console.error(`orchplane: ${where}: onError threw when it was told of ${about}:`, thrown);
    try {
      const told: unknown = onError(error, about);
      if (isPromise(told)) told.then(undefined, complain);
    } catch (thrown) {
      complain(thrown);
    }
  };
  return { ...options, onError: tell };
}

const MOST_REMEMBERED = 1_000;

/** Prints each failure once: what is tried again fails in the same words. */
function printer(): (error: unknown, about: string) => void {
  const printed = new Set<string>();
  return (error, about) => {
    const text = `${about}: ${messageOf(error)}`;
    const failure = `${about}: ${messageWithoutName(error)}`;
    if (printed.has(failure)) return;
    if (printed.size >= MOST_REMEMBERED) printed.clear();
    printed.add(failure);
    // Refusals say it all; anything else is somebody's mistake, and its place is worth knowing.
    if (StatusError.is(error)) console.error(`orchplane: ${text}`);
    else console.error(`orchplane: ${about}:`, error);
  };
}

/** Each attempt may generate another name for what it cannot make. */
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

/** Runs as long as its candidate leads, and again when it is elected again. */
class ElectedRun implements RunningControllers {
  readonly ready: Promise<void>;
  readonly #candidate: Candidate;
  readonly #host: Host;
  #run: RunningControllers | undefined;
  #isClosed = false;

  constructor(election: LeaderElection, host: Host, begin: () => RunningControllers, options: RunOptions) {
    this.#host = host;
    let isReady = (_ready: Promise<void>): void => undefined;
    this.ready = new Promise((resolve) => {
      isReady = resolve;
    });
    this.ready.catch(() => undefined);
    const onError = (error: unknown) => {
      if (!this.#isClosed) options.onError?.(error, `the election of ${election.name}`);
    };
    this.#candidate = election.campaign(host, {
      onStartedLeading: () => {
        try {
          this.#run = begin();
          isReady(this.#run.ready);
        } catch (error) {
          isReady(Promise.reject(error));
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
    // It tells that it stopped leading, and so ends the run, before it gives the lease back.
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
  readonly #traffic = new Traffic();
  /** The host's, with what is on its way counted. */
  readonly #transport: Transport;
  readonly #informers = new Map<string, SharedInformer<Kind>>();
  readonly #undos: Undo[] = [];
  #isClosed = false;

  constructor(host: Host, list: readonly Controller[], options: RunOptions) {
    this.#host = host;
    this.#options = options;
    this.#activities = host.activities ?? new Activities();
    this.#transport = this.#traffic.over(host);
    const runnable = list.filter((controller) => isRunnable(host, controller));
    this.#undos.push(this.#activities.add(this.#traffic));
    const starts: Promise<void>[] = [];
    try {
      for (const controller of runnable) starts.push(this.#start(controller));
    } catch (error) {
      // One that cannot be set up is a mistake of whoever wrote it: nobody is left half started.
      void this.close();
      for (const each of starts) each.catch(() => undefined);
      throw error;
    }
    this.ready = Promise.all(starts).then(() => undefined);
    // Whoever awaits it sees the rejection; whoever never looks must not be ended by it.
    this.ready.catch(() => undefined);
    const leave = host.clock.join?.(() => this.#traffic.untilStill(this.#activities, host.clock));
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
        // Of one that cannot end, the others must not stay behind.
        this.#options.onError?.(error, 'the end of controllers');
      }
    }
    for (const informer of this.#informers.values()) informer.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Sets it up within the call; resolves when it works. */
  #start(controller: Controller): Promise<void> {
    const host = this.#host;
    const { name } = controller;
    const report = (error: unknown, about: string) => {
      if (!this.#isClosed) this.#options.onError?.(error, `${name}: ${about}`);
    };
    const writes = new OwnWrites(name);
    const transport = writes.over(this.#transport);
    const client = remembering(createClient({ transport, ...clientDefaults(controller, this.#options) }));
    const informers: SharedInformer<Kind>[] = [];
    const queues: WorkQueue[] = [];
    let isStarted = false;
    const local = isLocal(host) ? host : undefined;
    const ids = host.ids ?? randomIds;
    const component = controller.component ?? name;
    // Asked for each event: the same address each time is one that the cluster knows again.
    const eventResource = resourceOf(host, CoreEvent);
    const served = () => host.resolve === undefined || host.resolve(eventResource) !== undefined;
    const events = createEventRecorder({ client, clock: host.clock, ids, component, served, report });
    this.#undos.push(
      () => events.close(),
      this.#activities.add(events),
      () => writes.close(),
    );
    // In this process, deliveries are known to the cluster.
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
        writes.follow(resourceOf(host, kind), informer);
        return informer as unknown as SharedInformer<AnyKind>;
      },
      queue: (reconcile: Reconcile, options: QueueOptions = {}) => {
        const queue = new WorkQueue({
          name: options.name === undefined ? name : `${name} (${options.name})`,
          clock: host.clock,
          workers: options.workers,
          backoff: options.backoff,
          pace: this.#options.pace,
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
    const client = createClient({ transport: this.#transport, ...(as === undefined ? {} : { as }) });
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

/** Who a controller is that runs under an account of its own. */
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
