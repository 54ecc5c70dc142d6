/**
 * The startup, readiness and liveness probes of a running container.
 * upstream: pkg/kubelet/prober/worker.go
 */
import { containerEvent } from '../../controllers/stages/pod-events.js';
import type { ByteConnection } from '../../protocol/connection.js';
import { untilAborted } from '../../util/abort.js';
import type { Undo } from '../../util/clock.js';
import { messageOf } from '../../util/message-of.js';
import type { ContainerSpec } from '../program.js';
import { hostOf, portOf, requestOf, sendToPod } from './handlers.js';
import { type CommandResult, inBackground, type PodEnvironment } from './pod-environment.js';

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
        inBackground(this.#pod, round);
      });
      this.#timers.set(kind, undo);
    };
    // The delay counts from the start of the container, also after a startup probe.
    next(Math.max(0, this.#startedMs + initialDelaySeconds * 1000 - this.#pod.clock.now()));
  }

  /** Whether the loop has ended. */
  async #probeOnce(kind: ProbeKind, probe: Probe, counts: { successes: number; failures: number }): Promise<boolean> {
    const { successThreshold = 1, failureThreshold = 3, terminationGracePeriodSeconds } = probe;
    const result = await this.#resultOf(probe);
    if (this.#isStopped) return true;
    if (result.type === 'error') {
      // It says nothing about the container.
      this.#unhealthy(`${TITLES[kind]} probe errored and resulted in unknown state: ${result.message}`);
      return false;
    }
    const isSuccess = result.type === 'success';
    counts.successes = isSuccess ? counts.successes + 1 : 0;
    counts.failures = isSuccess ? 0 : counts.failures + 1;
    if (isSuccess) {
      if (counts.successes < successThreshold) return false;
      if (kind === 'readiness') this.#listener.onReady(true);
      if (kind !== 'startup') return false;
      this.#listener.onStarted();
      this.#startOthers();
      return true;
    }
    this.#unhealthy(`${TITLES[kind]} probe failed: ${result.message}`);
    if (counts.failures < failureThreshold) return false;
    if (kind === 'readiness') {
      this.#listener.onReady(false);
      return false;
    }
    const graceMs =
      terminationGracePeriodSeconds === undefined ? undefined : Number(terminationGracePeriodSeconds) * 1000;
    this.#listener.onUnhealthy(kind, graceMs);
    return true;
  }

  #unhealthy(message: string): void {
    this.#pod.record(
      containerEvent(this.#pod.current(), this.#spec.name, { type: 'Warning', reason: 'Unhealthy', message }),
    );
  }

  async #resultOf({ exec, httpGet, tcpSocket, grpc, timeoutSeconds = 1 }: Probe): Promise<ProbeResult> {
    const timeoutMs = timeoutSeconds * 1000;
    if (exec !== undefined) {
      const { exitCode, output, isStartError = false } = await this.#listener.exec(exec.command ?? [], timeoutMs);
      return exitCode === 0 ? SUCCESS : { type: isStartError ? 'error' : 'failure', message: output };
    }
    const timedOut = new AbortController();
    const undo = this.#pod.clock.after(timeoutMs, () => timedOut.abort());
    try {
      if (httpGet !== undefined) return await this.#httpResult(httpGet, timedOut.signal);
      if (tcpSocket !== undefined) return await this.#tcpResult(tcpSocket, timedOut.signal);
      return grpc === undefined ? SUCCESS : { type: 'failure', message: 'the runtime has no gRPC probes' };
    } finally {
      undo();
    }
  }

  async #httpResult(action: NonNullable<Probe['httpGet']>, signal: AbortSignal): Promise<ProbeResult> {
    let request: Request;
    try {
      request = requestOf(this.#pod, this.#spec, action);
    } catch (error) {
      return { type: 'error', message: messageOf(error) };
    }
    const failed = (why: string): ProbeResult => ({
      type: 'failure',
      message: `Get ${JSON.stringify(request.url)}: ${why}`,
    });
    try {
      const response = await untilAborted(sendToPod(this.#pod, new Request(request, { signal })), signal);
      // Not awaited, because the server may never finish; its end is of no interest.
      response.body?.cancel().catch(() => undefined);
      const { status } = response;
      if (status >= 200 && status < 400) return SUCCESS;
      return { type: 'failure', message: `HTTP probe failed with statuscode: ${status}` };
    } catch (error) {
      if (signal.aborted) return failed('context deadline exceeded (Client.Timeout exceeded while awaiting headers)');
      const { cause } = error as { cause?: unknown };
      return failed(messageOf(cause ?? error));
    }
  }

  async #tcpResult(action: NonNullable<Probe['tcpSocket']>, signal: AbortSignal): Promise<ProbeResult> {
    const host = hostOf(this.#pod, action.host);
    let port: number;
    try {
      port = portOf(this.#spec, action.port);
    } catch (error) {
      return { type: 'error', message: messageOf(error) };
    }
    // Also a connection that is made after the timeout is closed.
    const connected = this.#pod.network.connect(host, port).then(closeConnection);
    try {
      await untilAborted(connected, signal);
      return SUCCESS;
    } catch (error) {
      return {
        type: 'failure',
        message: `dial tcp ${host}:${port}: ${signal.aborted ? 'i/o timeout' : messageOf(error)}`,
      };
    }
  }
}

/** An error means that the probe could not be made. */
type ProbeResult = { readonly type: 'success' } | { readonly type: 'failure' | 'error'; readonly message: string };

const SUCCESS: ProbeResult = { type: 'success' };

function closeConnection({ readable, writable }: ByteConnection): void {
  // The server may have closed it already.
  readable.cancel().catch(() => undefined);
  writable.close().catch(() => undefined);
}
