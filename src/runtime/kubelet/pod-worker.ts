/**
 * Runs one pod: decides which containers to start, restart and stop, and writes the pod's status.
 * upstream: pkg/kubelet/kubelet.go SyncPod, pkg/kubelet/kuberuntime/kuberuntime_manager.go computePodActions
 */
import type { Client } from '../../client/client.js';
import type { ControllerContext } from '../../controllers/runtime/controller.js';
import type { ReconcileResult } from '../../controllers/runtime/work-queue.js';
import { kubeletEvent } from '../../controllers/stages/pod-events.js';
import type { StageEvent } from '../../controllers/stages/stage.js';
import { isPodFinished, type StoredPod } from '../../controllers/workloads/pod-state.js';
import { Node } from '../../kinds/core/v1/node/node.js';
import { Pod } from '../../kinds/core/v1/pod/pod.js';
import type { PodStatusInput } from '../../kinds/generated/core-v1.js';
import { StatusError } from '../../meta/errors.js';
import { timeToMs } from '../../text/time/time.js';
import type { Clock, Undo } from '../../util/clock.js';
import { deepEqual } from '../../util/json.js';
import { getOrInsertComputed } from '../../util/once.js';
import { commandBudget } from '../commands.js';
import type { MemoryShare, SharedMemory, SharedVolumes } from '../files/file-tree.js';
import { PodVolumes } from '../files/pod-volumes.js';
import type { ClusterNetwork } from '../network/types.js';
import type { ContainerSpec, ProcessImage } from '../program.js';
import { type ContainerRole, KubeletContainer } from './container.js';
import { executeCommand } from './execute.js';
import { podTexts } from './expansion.js';
import type { Rejection } from './node-admission.js';
import { type CommandResult, inBackground, type PodEnvironment } from './pod-environment.js';
import { type PodEnd, podStatus } from './pod-status.js';
import { SetupError } from './references.js';
import { systemFilesOf } from './system-files.js';

/** What all pods of a runtime share. */
export interface KubeletServices {
  readonly context: ControllerContext;
  readonly network: ClusterNetwork;
  readonly shared: SharedVolumes;
  /** What the texts of containers are taken from. */
  readonly texts: SharedMemory;
  readonly allowsHostPath: boolean;
  imageOf(pod: StoredPod, image: string): ProcessImage | undefined;
  /** Assigns an address to a pod, whatever its status says. */
  allocateAddress(pod: StoredPod): string;
  /** The reason why the node does not admit a pod, if there is one. */
  rejection(pod: StoredPod): Rejection | undefined;
  /** How long to wait before the node rejects the pod. */
  rejectionDelayMs(pod: StoredPod): number;
  clientOf(pod: StoredPod): Client;
  requeue(pod: StoredPod): void;
  busyFor(work: Promise<unknown>): void;
}

const MOUNT_RETRY_MS = 2_000;
/** Each needs memory, and a request may have a hundred thousand. */
const MAX_CONTAINERS = 1_000;
/** A message may contain a name of a megabyte, and each attempt records several Events. */
const MAX_EVENT_MESSAGE = 1024;
const DEADLINE = {
  reason: 'DeadlineExceeded',
  message: 'Pod was active on the node longer than the specified deadline',
};

export class PodWorker implements PodEnvironment {
  readonly context: ControllerContext;
  readonly clock: Clock;
  readonly network: ClusterNetwork;
  readonly volumes: PodVolumes;
  readonly client: Client;
  readonly #services: KubeletServices;
  readonly #containers = new Map<string, KubeletContainer>();
  readonly #timers = new Set<Undo>();
  #pod: StoredPod;
  #podIP: string | undefined;
  readonly texts: MemoryShare;
  readonly #files = new WeakMap<StoredPod['spec'], Readonly<Record<string, Uint8Array>>>();
  /** When the node rejects the pod. */
  #rejectAtMs: number | undefined;
  #isMounted = false;
  /** Why the containers cannot be started, as an Event has reported it. */
  #problem: string | undefined;
  #isInitialized = false;
  /** All main containers have ended. */
  #isFinishing = false;
  #end: PodEnd | undefined;
  #isAbandoned = false;

  constructor(services: KubeletServices, pod: StoredPod) {
    const { context, network, shared, texts, allowsHostPath } = services;
    this.#services = services;
    this.#pod = pod;
    this.context = context;
    this.clock = context.clock;
    this.network = network;
    this.client = services.clientOf(pod);
    this.texts = podTexts(texts.of(pod.metadata.namespace ?? ''));
    const facts = { pod: () => this.#pod, podIPs: () => this.podIPs() };
    this.volumes = new PodVolumes(context, { shared, allowsHostPath, ...facts });
  }

  /** The node rejects the pod, perhaps later. */
  get isRejected(): boolean {
    return this.#rejectAtMs !== undefined;
  }

  get hasInitContainers(): boolean {
    return (this.#pod.spec.initContainers ?? []).length > 0;
  }

  /** Waits for an object that does not exist yet. */
  get isWaitingForObjects(): boolean {
    return !this.#isMounted || [...this.#containers.values()].some((each) => !each.isRunning && each.waitMs > 0);
  }

  current(): StoredPod {
    return this.#pod;
  }

  container(name: string): KubeletContainer | undefined {
    return this.#containers.get(name);
  }

  get containers(): readonly KubeletContainer[] {
    return [...this.#containers.values()];
  }

  containerSpec(name: string): ContainerSpec {
    const { containers, initContainers = [], ephemeralContainers = [] } = this.#pod.spec;
    const found = [...containers, ...initContainers, ...ephemeralContainers].find((each) => each.name === name);
    if (found === undefined) throw new RangeError(`the pod has no container ${name}`);
    return found as ContainerSpec;
  }

  podIPs(): readonly string[] {
    return this.#podIP === undefined ? [] : [this.#podIP];
  }

  allocatable(): Readonly<Record<string, string>> {
    return this.context.informer(Node).get(this.#pod.spec.nodeName ?? '')?.status.allocatable ?? {};
  }

  /** All containers share them: aliases of hosts may have megabytes. */
  systemFiles(): Readonly<Record<string, Uint8Array>> {
    return getOrInsertComputed(this.#files, this.#pod.spec, () => systemFilesOf(this.#pod, this.#podIP ?? ''));
  }

  imageOf(image: string): ProcessImage | undefined {
    return this.#services.imageOf(this.#pod, image);
  }

  record({ type, reason, message, ...details }: StageEvent): void {
    const text = message.length > MAX_EVENT_MESSAGE ? `${message.slice(0, MAX_EVENT_MESSAGE)}...` : message;
    this.context.events.record(this.#pod, type, reason, text, { ...details, fieldManager: 'kubelet' });
  }

  changed(): void {
    this.#services.requeue(this.#pod);
  }

  execute(container: KubeletContainer, command: readonly string[], timeoutMs?: number): Promise<CommandResult> {
    return executeCommand(this, container, command, timeoutMs);
  }

  after(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const undo = this.clock.after(Math.max(0, ms), () => {
        this.#timers.delete(undo);
        resolve();
      });
      this.#timers.add(undo);
    });
  }

  busyFor(work: Promise<unknown>): void {
    this.#services.busyFor(work);
  }

  /** Ends all containers at once, because the pod is gone or the cluster closes. */
  abandon(): void {
    this.#isAbandoned = true;
    for (const undo of this.#timers) undo();
    for (const container of this.#containers.values()) container.abandon();
    this.volumes.own.releaseAll();
  }

  /** Brings the pod one step further. Called after every change of the pod and of its containers. */
  async sync(pod: StoredPod): Promise<ReconcileResult | undefined> {
    this.#pod = pod;
    if (pod.metadata.deletionTimestamp !== undefined) return this.#terminate();
    if (isPodFinished(pod) && this.#end === undefined && this.#containers.size === 0) return undefined;
    const rejection = this.#end || this.#containers.size > 0 ? undefined : this.#services.rejection(pod);
    if (rejection === undefined) this.#rejectAtMs = undefined;
    else {
      this.#rejectAtMs ??= this.clock.now() + this.#services.rejectionDelayMs(pod);
      const waitMs = this.#rejectAtMs - this.clock.now();
      if (waitMs > 0) return { requeueAfterMs: waitMs };
      this.#end = this.#rejected(rejection);
    }
    const { startTime } = pod.status;
    const { activeDeadlineSeconds: seconds } = pod.spec;
    const deadlineMs =
      seconds === undefined || startTime == null ? Infinity : timeToMs(startTime) + seconds * 1000 - this.clock.now();
    if (deadlineMs <= 0 && this.#end === undefined) this.#exceedDeadline();
    if (this.#end !== undefined) {
      await this.#writeStatus();
      if (![...this.#containers.values()].some(({ isRunning }) => isRunning)) this.volumes.own.releaseAll();
      return undefined;
    }
    const nextMs = Math.min(deadlineMs, await this.#progress());
    await this.#writeStatus();
    return nextMs === Infinity ? undefined : { requeueAfterMs: nextMs };
  }

  #rejected({ reason, message }: Rejection): PodEnd {
    this.record(kubeletEvent(this.#pod, { type: 'Warning', reason, message }));
    return { phase: 'Failed', reason, message: `Pod was rejected: ${message}`, isRejected: true };
  }

  #exceedDeadline(): void {
    this.record(kubeletEvent(this.#pod, { type: 'Normal', ...DEADLINE }));
    this.#end = { phase: 'Failed', ...DEADLINE };
    for (const each of this.#containers.values()) this.#stop(each);
  }

  /** Starts what can be started. Returns the time until something is due. */
  async #progress(): Promise<number> {
    const { containers, initContainers = [], ephemeralContainers = [] } = this.#pod.spec;
    if (containers.length + initContainers.length + ephemeralContainers.length > MAX_CONTAINERS) {
      this.#reportProblem('FailedCreatePodSandBox', `the runtime runs at most ${MAX_CONTAINERS} containers of a pod`);
      return Infinity;
    }
    this.#podIP ??= this.#services.allocateAddress(this.#pod);
    this.#addContainers();
    // Programs can use the network when everyone knows their address. The write of the status queues the pod again.
    if (this.#pod.status.podIP !== this.#podIP) return Infinity;
    const { renewAtMs = Infinity } = this.volumes;
    if (!this.#isMounted || renewAtMs <= this.clock.now()) {
      await this.#mount();
      if (this.#isAbandoned) return Infinity;
      // A token that cannot be renewed does not stop the containers.
      if (!this.#isMounted) return MOUNT_RETRY_MS;
    }
    const dueMs = await this.#startContainers();
    return Math.min(dueMs, Math.max(MOUNT_RETRY_MS, (this.volumes.renewAtMs ?? Infinity) - this.clock.now()));
  }

  async #mount(): Promise<void> {
    try {
      await this.volumes.mount();
      this.#isMounted = true;
    } catch (error) {
      if (!(error instanceof SetupError)) throw error;
      this.#reportProblem('FailedMount', error.message);
    }
  }

  #reportProblem(reason: string, message: string): void {
    if (this.#problem !== message) this.record(kubeletEvent(this.#pod, { type: 'Warning', reason, message }));
    this.#problem = message;
  }

  #addContainers(): void {
    const { containers, initContainers = [], ephemeralContainers = [] } = this.#pod.spec;
    const add = (name: string, role: ContainerRole) => {
      if (!this.#containers.has(name)) this.#containers.set(name, new KubeletContainer(this, role, name));
    };
    for (const { name, restartPolicy } of initContainers) add(name, restartPolicy === 'Always' ? 'sidecar' : 'init');
    for (const { name } of containers) add(name, 'main');
    for (const { name } of ephemeralContainers) add(name, 'ephemeral');
  }

  async #startContainers(): Promise<number> {
    const waits: number[] = [];
    const start = async (container: KubeletContainer): Promise<void> => {
      await commandBudget.untilFree(this.clock); // An environment may have megabytes.
      if (container.waitMs > 0) container.showBackOff();
      else if (!this.#isAbandoned) container.start();
      if (!container.isRunning) waits.push(container.waitMs);
    };
    const earliest = () => Math.min(Infinity, ...waits);
    for (const container of this.#withRole('init', 'sidecar')) {
      if (container.role === 'sidecar') {
        if (!container.isRunning && !this.#isFinishing) await start(container);
        if (!container.isStarted && !this.#isInitialized && !this.#isFinishing) return earliest();
        continue;
      }
      if (this.#isInitialized || container.exitCode === 0) continue;
      if (container.exitCode !== undefined && this.#pod.spec.restartPolicy === 'Never') {
        this.#finish('Failed');
        return earliest();
      }
      if (!container.isRunning) await start(container);
      return earliest();
    }
    this.#isInitialized = true;
    const isFirstStart = (container: KubeletContainer) =>
      container.exitCode === undefined && container.log === undefined;
    for (const container of this.#withRole('main')) {
      if (!container.isRunning && (isFirstStart(container) || this.#restarts(container))) await start(container);
    }
    for (const container of this.#withRole('ephemeral')) {
      if (!container.isRunning && isFirstStart(container)) await start(container);
    }
    this.#finishIfEnded();
    return earliest();
  }

  #restarts({ exitCode }: KubeletContainer): boolean {
    const { restartPolicy = 'Always' } = this.#pod.spec;
    // Without an exit code it waits for its back-off.
    return exitCode === undefined || restartPolicy === 'Always' || (restartPolicy === 'OnFailure' && exitCode !== 0);
  }

  #finishIfEnded(): void {
    const mains = this.#withRole('main');
    if (mains.some((each) => each.isRunning || each.exitCode === undefined || this.#restarts(each))) return;
    this.#finish(mains.every(({ exitCode }) => exitCode === 0) ? 'Succeeded' : 'Failed');
  }

  /** All main containers have ended. The pod has its final phase when the others have ended, too. */
  #finish(phase: 'Succeeded' | 'Failed'): void {
    this.#isFinishing = true;
    const rest = [...this.#containers.values()].filter(({ isRunning }) => isRunning);
    if (rest.length === 0) this.#end = { phase };
    for (const each of rest.reverse()) this.#stop(each);
  }

  #stop(container: KubeletContainer, graceMs?: number): void {
    inBackground(this, container.stop(graceMs, `Stopping container ${container.name}`));
  }

  #withRole(...roles: readonly ContainerRole[]): readonly KubeletContainer[] {
    return [...this.#containers.values()].filter(({ role }) => roles.includes(role));
  }

  /** The pod is deleted: stops the containers, sidecars last, and removes the pod when all have ended. */
  async #terminate(): Promise<undefined> {
    const { name, namespace, uid, deletionTimestamp } = this.#pod.metadata;
    const graceMs = Math.max(0, timeToMs(deletionTimestamp ?? '') - this.clock.now());
    const running = this.containers.filter(({ isRunning }) => isRunning);
    const first = running.filter(({ role }) => role !== 'sidecar');
    for (const each of first.length > 0 ? first : running.slice(-1)) this.#stop(each, graceMs);
    if (running.length > 0) {
      await this.#writeStatus();
      return undefined;
    }
    if (this.#containers.size > 0)
      this.#end ??= { phase: this.#withRole('main').every(({ exitCode }) => exitCode === 0) ? 'Succeeded' : 'Failed' };
    if (!isPodFinished(this.#pod)) await this.#writeStatus();
    if (this.#pod.metadata.deletionGracePeriodSeconds === 0) return undefined;
    await this.#ignoringAbsence(() =>
      this.context.client.api(Pod, namespace).delete(name, { gracePeriodSeconds: 0, preconditions: { uid } }),
    );
    return undefined;
  }

  async #writeStatus(): Promise<void> {
    const pod = this.#pod;
    const statuses = (...roles: readonly ContainerRole[]) => this.#withRole(...roles).map((each) => each.status());
    const status: PodStatusInput = podStatus(pod, {
      now: this.context.now(),
      podIP: this.#podIP,
      hostIP: this.#hostIP(),
      isInitialized: this.#isInitialized || !this.hasInitContainers,
      isRunning: this.#isRunning,
      init: statuses('init', 'sidecar'),
      main: statuses('main'),
      ephemeral: statuses('ephemeral'),
      // The phase is final when all containers have ended.
      end: this.#isRunning && !isPodFinished(pod) ? undefined : this.#end,
    });
    const next = { ...pod.status, ...status };
    if (deepEqual(next, pod.status)) return;
    const { name, namespace } = pod.metadata;
    await this.#ignoringAbsence(() =>
      this.context.client
        .api(Pod, namespace)
        .subresource('status')
        .update(name, { ...pod, status: next } as StoredPod),
    );
  }

  get #isRunning(): boolean {
    return [...this.#containers.values()].some(({ isRunning }) => isRunning);
  }

  #hostIP(): string {
    const { addresses = [] } = this.context.informer(Node).get(this.#pod.spec.nodeName ?? '')?.status ?? {};
    return addresses.find(({ type }) => type === 'InternalIP')?.address ?? '';
  }

  /** The pod may be deleted at any time. */
  async #ignoringAbsence(write: () => PromiseLike<unknown>): Promise<void> {
    try {
      await write();
    } catch (error) {
      if (!StatusError.is(error, 'NotFound')) throw error;
    }
  }
}
