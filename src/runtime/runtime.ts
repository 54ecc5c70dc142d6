/**
 * The controllers that make the pods of a cluster run: nodes, a scheduler and a kubelet.
 */
import type { Controller } from '../controllers/runtime/controller.js';
import { nodeStages } from '../controllers/stages/node-stages.js';
import { stages } from '../controllers/stages/stages.js';
import type { StoredPod } from '../controllers/workloads/pod-state.js';
import { checkRuntimeOptions } from './check-options.js';
import { kubelet } from './kubelet/kubelet.js';
import { metricsObjects } from './metrics-server.js';
import type { NetworkOptions } from './network/network.js';
import { nodeRegistration } from './nodes.js';
import type { Image, Usage } from './program.js';
import { scheduler } from './scheduler/index.js';

export interface RuntimeOptions {
  /**
   * What image names mean, without tag or digest: a function, or something else that starts processes (`processImages` of
   * `orchplane/node`). `*` stands for all other images. A container with an unknown image waits with `ImagePullBackOff`.
   */
  readonly images: Readonly<Record<string, Image>>;
  /** The names of the nodes to create if the cluster has none; `node-1` unless given. */
  readonly nodes?: readonly string[] | undefined;
  /** True: pods may use hostPath volumes, which are directories in memory that the pods of a node share;
   * for processes, directories of this machine. */
  readonly hostPath?: boolean | undefined;
  /**
   * What the files of all containers and volumes in memory may hold together, in bytes; 512 MiB unless given. The pods of one
   * namespace may hold as much as they leave for others: half of it, or less. Above it, writes fail with ENOSPC.
   */
  readonly maxVolumeBytes?: number | undefined;
  readonly network?: NetworkOptions | undefined;
  /**
   * True: a metrics server runs in the cluster, so that `kubectl top` and autoscalers work. Programs tell what they use;
   * a function overrides that.
   */
  readonly metrics?: boolean | ((pod: RunningPod, container: string) => Usage | undefined) | undefined;
}

const DEFAULT_MAX_VOLUME_BYTES = 512 * 1024 * 1024;

/** A pod as the runtime sees it. */
export type RunningPod = StoredPod;

/**
 * Controllers that run pods, as an alternative to `stages()`. Throws TypeError if an option is not valid.
 *
 * @example
 * const web: Program = async ({ listen, untilStopped }) => {
 *   listen(8080, () => new Response('Hello'));
 *   await untilStopped();
 * };
 * const cluster = createCluster({
 *   controllers: controllers([...standardControllers(), ...runtime({ images: { 'shop/web': web } })]),
 * });
 */
export function runtime(options: RuntimeOptions): readonly Controller[] {
  checkRuntimeOptions(options);
  const { images, nodes = ['node-1'], hostPath = false, network = {}, metrics = false } = options;
  const { maxVolumeBytes = DEFAULT_MAX_VOLUME_BYTES } = options;
  return [
    nodeRegistration(nodes),
    stages(nodeStages(), { name: 'runtime-nodes' }),
    scheduler(),
    kubelet({
      images,
      hostPath,
      maxVolumeBytes,
      network,
      hasMetrics: metrics !== false,
      usage: typeof metrics === 'function' ? metrics : undefined,
    }),
    ...(metrics === false ? [] : [metricsObjects()]),
  ];
}
