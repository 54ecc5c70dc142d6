/**
 * What the containers of a pod use from their pod.
 */
import type { Client } from '../../client/client.js';
import type { ControllerContext } from '../../controllers/runtime/controller.js';
import { keyOf } from '../../controllers/runtime/shared-informer.js';
import type { StageEvent } from '../../controllers/stages/stage.js';
import type { StoredPod } from '../../controllers/workloads/pod-state.js';
import type { Clock } from '../../util/clock.js';
import type { MemoryShare } from '../files/file-tree.js';
import type { PodVolumes } from '../files/pod-volumes.js';
import type { ClusterNetwork } from '../network/types.js';
import type { ContainerSpec, ProcessImage } from '../program.js';
import type { KubeletContainer } from './container.js';

export interface PodEnvironment {
  readonly context: ControllerContext;
  readonly clock: Clock;
  readonly network: ClusterNetwork;
  readonly volumes: PodVolumes;
  /** A client with the pod's service account. */
  readonly client: Client;
  readonly hasInitContainers: boolean;
  /** What the variables, arguments and paths of its running containers are taken from. */
  readonly texts: MemoryShare;
  /** The newest state of the pod. */
  current(): StoredPod;
  containerSpec(name: string): ContainerSpec;
  podIPs(): readonly string[];
  /** The allocatable resources of the pod's node. */
  allocatable(): Readonly<Record<string, string>>;
  /** Files such as `/etc/hosts`, by path. */
  systemFiles(): Readonly<Record<string, Uint8Array>>;
  /** Undefined: the image does not exist. */
  imageOf(image: string): ProcessImage | undefined;
  record(event: StageEvent): void;
  /** A container has changed: the pod has to be synchronized. */
  changed(): void;
  /** Runs a command in a running container. The output is standard output and standard error together. */
  execute(container: KubeletContainer, command: readonly string[], timeoutMs?: number): Promise<CommandResult>;
  /** Resolves after a time on the cluster's clock, or when the pod ends. */
  after(ms: number): Promise<void>;
  /** `settle` waits for this for some turns of the event loop. */
  busyFor(work: Promise<unknown>): void;
}

/** Reports the failure of work that nothing waits for: an unhandled rejection would end the process. */
export function inBackground(pod: Pick<PodEnvironment, 'context' | 'current'>, work: Promise<unknown>): void {
  work.catch((error: unknown) => pod.context.report(error, keyOf(pod.current())));
}

export interface CommandResult {
  /** Undefined: the command could not be started, or took too long. */
  readonly exitCode: number | undefined;
  readonly output: string;
  /** The command could not be started. */
  readonly isStartError?: boolean;
}
