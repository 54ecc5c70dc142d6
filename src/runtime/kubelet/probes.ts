/**
 * The startup, readiness and liveness probes of a running container.
 * upstream: pkg/kubelet/prober/worker.go
 */
import { containerEvent } from '../../controllers/stages/pod-events.js';
import type { Undo } from '../../util/clock.js';
import { messageOf } from '../../util/message-of.js';
import type { ContainerSpec } from '../program.js';
import { hostOf, portOf, requestOf } from './handlers.js';
import type { CommandResult, PodEnvironment } from './pod-environment.js';

type Probe = NonNullable<ContainerSpec['readinessProbe']>;
type ProbeKind = 'startup' | 'readiness' | 'liveness';

export interface ProbeListener {
  onStarted(): void;
  onReady(isReady: boolean): void;
  /** The container has to be killed. The grace period is the probe's own, if it has one. */
  onUnhealthy(kind: ProbeKind, graceMs: number | undefined): void;
  exec(command: readonly string[], timeoutMs: number): Promise<CommandResult>;
}

const TITLES: Readonly<Record<ProbeKind, string>> = {
  startup: 'Startup',
  readiness: 'Readiness',
  liveness: 'Liveness',
};

export class ProbeLoops {
  readonly #pod: PodEnvironment;
  readonly #spec: ContainerSpec;
  readonly #listener: ProbeListener;
  readonly #timers = new Map<ProbeKind, Undo>();
  #isStopped = false;
  #startedMs = 0;

  constructor(pod: PodEnvironment, spec: ContainerSpec, listener: ProbeListener) {
    this.#pod = pod;
    this.#spec = spec;
    this.#listener = listener;
  }

  /** Readiness and liveness probes wait for the startup probe. */
  start(): void {
    this.#startedMs = this.#pod.clock.now();
    const { startupProbe } = this.#spec;
    if (startupProbe === undefined) this.#startOthers();
    else this.#loop('startup', startupProbe);
  }

  stop(): void {
    this.#isStopped = true;
    for (const undo of this.#timers.values()) undo();
    this.#timers.clear();
  }

  #startOthers(): void {
    const { readinessProbe, livenessProbe } = this.#spec;
    if (readinessProbe !== undefined) this.#loop('readiness', readinessProbe);
    if (livenessProbe !== undefined) this.#loop('liveness', livenessProbe);
  }

  #loop(kind: ProbeKind, probe: Probe): void {
    const { initialDelaySeconds = 0, periodSeconds = 10 } = probe;
    const counts = { successes: 0, failures: 0 };
    const next = (delayMs: number): void => {
      const undo = this.#pod.clock.after(delayMs, () => {
        const round = this.#probeOnce(kind, probe, counts).then((isDone) => {
          if (!isDone && !this.#isStopped) next(periodSeconds * 1000);
        });
        this.#pod.busyFor(round);
      });
      this.#timers.set(kind, undo);
    };
    // The delay counts from the start of the container, also after a startup probe.
    next(Math.max(0, this.#startedMs + initialDelaySeconds * 1000 - this.#pod.clock.now()));
  }

  /** Whether the loop has ended. */
  async #probeOnce(kind: ProbeKind, probe: Probe, counts: { successes: number; failures: number }): Promise<boolean> {
    const { successThreshold = 1, failureThreshold = 3, terminationGracePeriodSeconds } = probe;
    const failure = await this.#failureOf(probe);
    if (this.#isStopped) return true;
    counts.successes = failure === undefined ? counts.successes + 1 : 0;
    counts.failures = failure === undefined ? 0 : counts.failures + 1;
    if (failure === undefined) {
      if (counts.successes < successThreshold) return false;
      if (kind === 'readiness') this.#listener.onReady(true);
      if (kind !== 'startup') return false;
      this.#listener.onStarted();
      this.#startOthers();
      return true;
    }
    const message = `${TITLES[kind]} probe failed: ${failure}`;
    this.#pod.record(
      containerEvent(this.#pod.current(), this.#spec.name, { type: 'Warning', reason: 'Unhealthy', message }),
    );
    if (counts.failures < failureThreshold) return false;
    if (kind === 'readiness') {
      this.#listener.onReady(false);
      return false;
    }
    const graceMs = terminationGracePeriodSeconds === undefined ? undefined : terminationGracePeriodSeconds * 1000;
    this.#listener.onUnhealthy(kind, graceMs);
    return true;
  }

  /** Why the probe failed; undefined: it succeeded. */
  async #failureOf({ exec, httpGet, tcpSocket, grpc, timeoutSeconds = 1 }: Probe): Promise<string | undefined> {
    const timeoutMs = timeoutSeconds * 1000;
    if (exec !== undefined) {
      const { exitCode, output } = await this.#listener.exec(exec.command ?? [], timeoutMs);
      return exitCode === 0 ? undefined : output;
    }
    const timedOut = new AbortController();
    const undo = this.#pod.clock.after(timeoutMs, () => timedOut.abort());
    try {
      if (httpGet !== undefined) return await this.#httpFailure(httpGet, timedOut.signal);
      if (tcpSocket !== undefined) return await this.#tcpFailure(tcpSocket, timedOut.signal);
      return grpc === undefined ? undefined : 'the runtime has no gRPC probes';
    } finally {
      undo();
    }
  }

  async #httpFailure(action: NonNullable<Probe['httpGet']>, signal: AbortSignal): Promise<string | undefined> {
    let request: Request;
    try {
      request = requestOf(this.#pod, this.#spec, action);
    } catch (error) {
      return messageOf(error);
    }
    const failed = (why: string) => `Get ${JSON.stringify(request.url)}: ${why}`;
    try {
      const response = await untilAborted(this.#pod.network.fetch(new Request(request, { signal })), signal);
      await response.body?.cancel();
      const { status } = response;
      return status >= 200 && status < 400 ? undefined : `HTTP probe failed with statuscode: ${status}`;
    } catch (error) {
      if (signal.aborted) return failed('context deadline exceeded (Client.Timeout exceeded while awaiting headers)');
      const { cause } = error as { cause?: unknown };
      return failed(messageOf(cause ?? error));
    }
  }

  async #tcpFailure(action: NonNullable<Probe['tcpSocket']>, signal: AbortSignal): Promise<string | undefined> {
    const host = hostOf(this.#pod, action.host);
    let port: number;
    try {
      port = portOf(this.#spec, action.port);
    } catch (error) {
      return messageOf(error);
    }
    try {
      const connection = await untilAborted(this.#pod.network.connect(host, port), signal);
      await connection.readable.cancel();
      await connection.writable.close();
      return undefined;
    } catch (error) {
      return `dial tcp ${host}:${port}: ${signal.aborted ? 'i/o timeout' : messageOf(error)}`;
    }
  }
}

function untilAborted<Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value> {
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    work.then(resolve, reject);
  });
}
