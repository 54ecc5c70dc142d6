/**
 * One container of a pod over all its runs: start, hooks, probes, stop and back-off, and its status.
 * upstream: pkg/kubelet/kuberuntime/kuberuntime_container.go
 */
import { containerEvent, containerStartEvents } from '../../controllers/stages/pod-events.js';
import { allocatedTo, containerIdOf, containerStatus, statusNamed } from '../../controllers/stages/pod-parts.js';
import type { ContainerStateInput, ContainerStatusInput } from '../../kinds/generated/core-v1.js';
import { formatDuration } from '../../text/time/duration.js';
import { own } from '../../util/json.js';
import { messageOf } from '../../util/message-of.js';
import type { FileTree, MemoryVolume } from '../files/file-tree.js';
import type { ContainerSpec, ProcessExit, ProcessImage, RunningProcess, Usage } from '../program.js';
import { fillRoot, terminationMessage } from './container-files.js';
import { InputStream } from './container-input.js';
import { ContainerLog, logMemoryOf } from './container-log.js';
import { environmentOf } from './environment.js';
import { expanded, TextBudget } from './expansion.js';
import { type Handler, runHandler } from './handlers.js';
import { backOffMs, FIRST_BACK_OFF_MS, MAX_BACK_OFF_MS, pullFailure } from './image-pull.js';
import { inBackground, type PodEnvironment } from './pod-environment.js';
import { ProbeLoops } from './probes.js';
import { SetupError } from './references.js';

export type ContainerRole = 'init' | 'sidecar' | 'main' | 'ephemeral';

type Terminated = NonNullable<ContainerStateInput['terminated']>;
type Waiting = NonNullable<ContainerStateInput['waiting']>;

/** A run of the container. */
export interface ContainerRun {
  readonly process: RunningProcess;
  readonly image: ProcessImage;
  startedAt: string;
  readonly startedMs: number;
  readonly env: Readonly<Record<string, string>>;
  readonly budget: TextBudget;
  readonly files: FileTree;
  readonly input: InputStream;
  readonly probes: ProbeLoops;
  /** Aborts when the process has ended. Reactions to `process.exit` would stay in memory until then. */
  readonly ended: AbortSignal;
}

/** The back-off is forgotten when a container has run for this time. */
const BACK_OFF_RESET_MS = 2 * MAX_BACK_OFF_MS;
const MIN_GRACE_MS = 2_000;

export class KubeletContainer {
  /** What the container says that it uses. */
  usage: Usage = {};
  readonly role: ContainerRole;
  readonly name: string;
  readonly #pod: PodEnvironment;
  #waiting: Waiting;
  #run: ContainerRun | undefined;
  /** The process of the run has started. */
  #isUp = false;
  #terminated: Terminated | undefined;
  #last: Terminated | undefined;
  #restarts = 0;
  #log: ContainerLog | undefined;
  #previousLog: ContainerLog | undefined;
  #isStarted = false;
  #isReady = false;
  /** No start before this time. */
  #backOffUntilMs = 0;
  #crashes = 0;
  #pullFailures = 0;
  #stopping: Promise<void> | undefined;

  constructor(pod: PodEnvironment, role: ContainerRole, name: string) {
    this.#pod = pod;
    this.role = role;
    this.name = name;
    this.#waiting = { reason: pod.hasInitContainers && role !== 'ephemeral' ? 'PodInitializing' : 'ContainerCreating' };
    this.#continueFrom(statusNamed(pod.current(), name));
  }

  /** The pod ran before this runtime started, for example in the cluster that this one is a fork of. */
  #continueFrom(before: ReturnType<typeof statusNamed>): void {
    if (before?.containerID === undefined) return;
    const { running, terminated } = before.state;
    const now = this.#pod.context.now();
    const lost = { exitCode: 255, reason: 'Unknown', startedAt: running?.startedAt ?? now, finishedAt: now };
    const policy = this.#pod.current().spec.restartPolicy ?? 'Always';
    if (this.role === 'main' && (policy === 'Never' || (policy === 'OnFailure' && terminated?.exitCode === 0))) {
      // It is not started again.
      const unknown = { ...lost, exitCode: 137, reason: 'ContainerStatusUnknown', containerID: before.containerID };
      this.#restarts = before.restartCount;
      this.#terminated = (terminated as Terminated | undefined) ?? unknown;
      return;
    }
    this.#restarts = before.restartCount + 1;
    this.#last = (terminated as Terminated | undefined) ?? { ...lost, containerID: before.containerID };
  }

  get run(): ContainerRun | undefined {
    return this.#run;
  }

  get log(): ContainerLog | undefined {
    return this.#log;
  }

  /** While the container waits for its restart, the log of the run that has ended. */
  get previousLog(): ContainerLog | undefined {
    return this.#run === undefined && this.#terminated === undefined ? this.#log : this.#previousLog;
  }

  get isRunning(): boolean {
    return this.#run !== undefined;
  }

  get exitCode(): number | undefined {
    return this.#terminated?.exitCode;
  }

  /** The startup probe has succeeded, or there is none. */
  get isStarted(): boolean {
    return this.#isStarted;
  }

  get isReady(): boolean {
    return this.#isReady;
  }

  /** Milliseconds until the container may be started; 0: now. */
  get waitMs(): number {
    return Math.max(0, this.#backOffUntilMs - this.#pod.clock.now());
  }

  get #spec(): ContainerSpec {
    return this.#pod.containerSpec(this.name);
  }

  /** Starts the container. If that is not possible yet, its status says why, and it can be started again later. */
  start(): void {
    const spec = this.#spec;
    const image = this.#pod.imageOf(spec.image ?? '');
    if (image === undefined) {
      this.#failPull(spec);
      return;
    }
    const root = this.#pod.volumes.own.create();
    const budget = new TextBudget(this.#pod.texts);
    try {
      this.#begin(spec, image, root, budget);
    } catch (error) {
      this.#pod.volumes.own.release(root);
      budget.release();
      const reason = error instanceof SetupError ? 'CreateContainerConfigError' : 'RunContainerError';
      this.#wait({ reason, message: messageOf(error) }, FIRST_BACK_OFF_MS);
      this.#event('Warning', 'Failed', `Error: ${messageOf(error)}`);
    }
  }

  #begin(spec: ContainerSpec, image: ProcessImage, root: MemoryVolume, budget: TextBudget): void {
    const pod = this.#pod;
    const facts = { pod: pod.current(), container: spec, podIPs: pod.podIPs(), allocatable: pod.allocatable() };
    const env = environmentOf(pod.context, { ...facts, budget });
    const expand = (word: string) => expanded(word, (name) => own(env, name), budget);
    fillRoot(root, pod, spec);
    const files = pod.volumes.treeOf(spec, root, { env, budget });
    const log = new ContainerLog(pod.clock, logMemoryOf(pod.context));
    const input = new InputStream(spec.stdin === true);
    const process = image.start({
      pod: pod.current(),
      container: spec,
      command: (spec.command ?? []).map(expand),
      args: (spec.args ?? []).map(expand),
      env,
      files,
      stdin: input.stream,
      stdout: (bytes) => log.write('stdout', bytes),
      stderr: (bytes) => log.write('stderr', bytes),
      network: pod.network,
      client: pod.client,
      clock: pod.clock,
      onUsage: (usage) => {
        this.usage = usage;
      },
    });
    // A restart: what was the state becomes the last state.
    if (this.#terminated !== undefined) this.#last = this.#terminated;
    if (this.#log !== undefined) {
      this.#previousLog = this.#log;
      this.#restarts++;
    }
    this.#log = log;
    this.#terminated = undefined;
    const probes = new ProbeLoops(pod, spec, {
      onStarted: () => this.#setStarted(),
      onReady: (isReady) => this.#setReady(isReady),
      onUnhealthy: (kind, graceMs) => {
        inBackground(pod, this.stop(graceMs, `Container ${this.name} failed ${kind} probe, will be restarted`));
      },
      exec: (command, timeoutMs) => pod.execute(this, command, timeoutMs),
    });
    const ended = new AbortController();
    const times = { startedAt: pod.context.now(), startedMs: pod.clock.now() };
    const run: ContainerRun = { process, image, ...times, env, files, budget, input, probes, ended: ended.signal };
    this.#run = run;
    this.#isUp = false;
    const ending = process.exit.then((exit) => this.#onExit(run, exit)).finally(() => ended.abort());
    inBackground(pod, ending);
    pod.busyFor(process.exit);
    const onStart = () => this.#onStart(run);
    if (process.started === undefined) onStart();
    else inBackground(pod, process.started.then(onStart));
  }

  #onStart(run: ContainerRun): void {
    if (this.#run !== run || this.#isUp) return;
    const spec = this.#spec;
    run.startedAt = this.#pod.context.now();
    this.#isUp = true;
    for (const event of containerStartEvents(this.#pod.current(), spec)) this.#pod.record(event);
    const handler = spec.lifecycle?.postStart;
    if (handler === undefined) this.#startProbes(run);
    else inBackground(this.#pod, this.#runPostStart(run, handler));
    this.#pod.changed();
  }

  #startProbes(run: ContainerRun): void {
    const { startupProbe, readinessProbe } = this.#spec;
    this.#isStarted = startupProbe === undefined;
    this.#isReady = this.#isStarted && readinessProbe === undefined;
    run.probes.start();
  }

  /** The container is not probed, and not ready, before the hook has ended. */
  async #runPostStart(run: ContainerRun, handler: Handler): Promise<void> {
    const failure = await runHandler(this.#pod, this.#spec, handler, (command) => this.#pod.execute(this, command));
    if (this.#run !== run || this.#stopping !== undefined) return;
    if (failure === undefined) {
      this.#startProbes(run);
      this.#pod.changed();
      return;
    }
    this.#event('Warning', 'FailedPostStartHook', 'PostStartHook failed');
    await this.stop(undefined, 'FailedPostStartHook');
  }

  /**
   * Stops the running container: the preStop hook, SIGTERM, and SIGKILL after the grace period. `why` is the message of
   * the Killing event. Resolves when the container has ended. A later call can only shorten the time.
   */
  stop(graceMs: number | undefined, why: string): Promise<void> {
    const run = this.#run;
    if (run === undefined) return Promise.resolve();
    const grace = graceMs ?? Number(this.#pod.current().spec.terminationGracePeriodSeconds ?? 30) * 1000;
    // A preStop hook that takes the whole time leaves the process a moment for its end.
    const hasHook = grace > 0 && this.#spec.lifecycle?.preStop !== undefined;
    const killMs = Math.max(0, grace) + (hasHook ? MIN_GRACE_MS : 0);
    const undo = this.#pod.clock.after(killMs, () => run.process.kill('SIGKILL'), { background: killMs > 0 });
    inBackground(this.#pod, run.process.exit.then(undo));
    this.#stopping ??= this.#stopGracefully(run, grace, why);
    this.#pod.busyFor(run.process.exit);
    return this.#stopping;
  }

  async #stopGracefully(run: ContainerRun, graceMs: number, why: string): Promise<void> {
    this.#event('Normal', 'Killing', why);
    run.probes.stop();
    const handler = this.#spec.lifecycle?.preStop;
    if (handler !== undefined && graceMs > 0) {
      const { clock } = this.#pod;
      const beganMs = clock.now();
      const hook = runHandler(this.#pod, this.#spec, handler, (command) => this.#pod.execute(this, command));
      const failure = await Promise.race([hook, run.process.exit.then(() => undefined), this.#pod.after(graceMs)]);
      if (typeof failure === 'string') this.#event('Warning', 'FailedPreStopHook', 'PreStopHook failed');
      const leftMs = Math.max(MIN_GRACE_MS, graceMs - (clock.now() - beganMs));
      const undo = clock.after(leftMs, () => run.process.kill('SIGKILL'), { background: true });
      inBackground(this.#pod, run.process.exit.then(undo));
    }
    run.process.kill('SIGTERM');
    this.#pod.busyFor(run.process.exit);
    await run.process.exit;
  }

  #onExit(run: ContainerRun, { exitCode, reason }: ProcessExit): void {
    if (this.#run !== run) return;
    // It may have ended before its start was noticed.
    this.#onStart(run);
    const { clock } = this.#pod;
    run.probes.stop();
    run.input.close();
    this.#log?.end();
    this.#run = undefined;
    run.budget.release();
    this.#stopping = undefined;
    this.usage = {};
    this.#isReady = this.role === 'init' && exitCode === 0;
    this.#isStarted = false;
    const message = terminationMessage(this.#spec, { files: run.files, log: this.#log, exitCode });
    this.#pod.volumes.own.release(run.files.root);
    this.#terminated = {
      exitCode,
      reason: reason ?? (exitCode === 0 ? 'Completed' : 'Error'),
      ...(message === '' ? {} : { message }),
      startedAt: run.startedAt,
      finishedAt: this.#pod.context.now(),
      containerID: containerIdOf(this.#pod.current(), this.name, this.#restarts),
    };
    if (clock.now() - run.startedMs >= BACK_OFF_RESET_MS) this.#crashes = 0;
    // The first restart is immediate.
    this.#backOffUntilMs = this.#crashes === 0 ? 0 : clock.now() + backOffMs(this.#crashes);
    this.#crashes++;
    this.#pod.changed();
  }

  /** The container waits for its next start. */
  showBackOff(): void {
    if (this.#terminated === undefined) return;
    const { name, namespace, uid } = this.#pod.current().metadata;
    const time = formatDuration(BigInt(backOffMs(this.#crashes - 1)) * 1_000_000n);
    this.#last = this.#terminated;
    this.#terminated = undefined;
    this.#waiting = {
      reason: 'CrashLoopBackOff',
      message: `back-off ${time} restarting failed container=${this.name} pod=${name}_${namespace}(${uid})`,
    };
    const restarting = `Back-off restarting failed container ${this.name} in pod ${name}_${namespace}(${uid})`;
    this.#event('Warning', 'BackOff', restarting);
  }

  #failPull(spec: ContainerSpec): void {
    const before = { waitingReason: this.#waiting.reason, failures: this.#pullFailures };
    const { waiting, events, delayMs } = pullFailure(spec, before);
    if (waiting.reason === 'ErrImagePull') this.#pullFailures++;
    for (const { type, reason, message } of events) this.#event(type, reason, message);
    this.#wait(waiting, delayMs);
  }

  /** Sets the reason why the container does not run. The pod tries again after the delay. */
  #wait(waiting: Waiting, delayMs: number): void {
    this.#waiting = waiting;
    if (this.#terminated !== undefined) this.#last = this.#terminated;
    this.#terminated = undefined;
    this.#backOffUntilMs = this.#pod.clock.now() + delayMs;
    this.#pod.changed();
  }

  #setStarted(): void {
    this.#isStarted = true;
    if (this.#spec.readinessProbe === undefined) this.#isReady = true;
    this.#pod.changed();
  }

  #setReady(isReady: boolean): void {
    if (this.#isReady === isReady) return;
    this.#isReady = isReady;
    this.#pod.changed();
  }

  #event(type: 'Normal' | 'Warning', reason: string, message: string): void {
    this.#pod.record(containerEvent(this.#pod.current(), this.name, { type, reason, message }));
  }

  status(): ContainerStatusInput {
    const pod = this.#pod.current();
    const spec = this.#spec;
    const lastState = this.#last === undefined ? {} : { terminated: this.#last };
    // A restart counts when the container has started.
    const isRestarting = this.#run !== undefined && !this.#isUp && this.#previousLog !== undefined;
    const facts = { isReady: this.#isReady, restarts: isRestarting ? this.#restarts - 1 : this.#restarts };
    if (this.#run !== undefined && this.#isUp) {
      const state = { running: { startedAt: this.#run.startedAt } };
      return { ...containerStatus(pod, spec, { state, ...facts }), lastState, started: this.#isStarted };
    }
    if (this.#terminated !== undefined) {
      return { ...containerStatus(pod, spec, { state: { terminated: this.#terminated }, ...facts }), lastState };
    }
    if (this.#log !== undefined && this.#restarts > 0) {
      return { ...containerStatus(pod, spec, { state: { waiting: this.#waiting }, ...facts }), lastState };
    }
    return {
      name: this.name,
      state: { waiting: this.#waiting },
      lastState,
      ready: false,
      restartCount: 0,
      image: spec.image ?? '',
      imageID: '',
      started: false,
      ...(this.#pod.podIPs().length === 0 ? {} : allocatedTo(spec)),
    };
  }

  /** Ends a run at once, without events, because the cluster closes. */
  abandon(): void {
    this.#run?.probes.stop();
    this.#run?.process.kill('SIGKILL');
    this.#run?.budget.release();
  }
}
