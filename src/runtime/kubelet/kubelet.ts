/**
 * The controller that runs the pods of all nodes of the cluster.
 */
import type { Client } from '../../client/client.js';
import { type Controller, ControllerPart } from '../../controllers/runtime/controller.js';
import { OwnerBackoff } from '../../controllers/runtime/owner-backoff.js';
import { keyOf } from '../../controllers/runtime/shared-informer.js';
import type { ReconcileResult } from '../../controllers/runtime/work-queue.js';
import { isKubeletStopped } from '../../controllers/stages/node-leases.js';
import type { StoredPod } from '../../controllers/workloads/pod-state.js';
import { ConfigMap } from '../../kinds/core/v1/config-map.js';
import { Node } from '../../kinds/core/v1/node/node.js';
import { PersistentVolume } from '../../kinds/core/v1/persistent-volume.js';
import { PersistentVolumeClaim } from '../../kinds/core/v1/persistent-volume-claim.js';
import { Pod } from '../../kinds/core/v1/pod/pod.js';
import { Secret } from '../../kinds/core/v1/secret.js';
import { Service } from '../../kinds/core/v1/service/service.js';
import { errors } from '../../meta/errors.js';
import type { DeepReadonly, ObjectMeta } from '../../meta/object.js';
import type { NodeRuntime, PodReference, PodUsage } from '../../protocol/connection.js';
import type { Activity } from '../../util/activity.js';
import { nextTurn } from '../../util/clock.js';
import { printJson } from '../../util/json.js';
import { getOrInsertComputed } from '../../util/once.js';
import { SharedMemory, SharedVolumes } from '../files/file-tree.js';
import { METRICS_IMAGE, METRICS_NAMESPACE, metricsServer } from '../metrics-server.js';
import { createNetwork, type NetworkOptions } from '../network/network.js';
import { publishServices } from '../network/published-services.js';
import type { ClusterNetwork } from '../network/types.js';
import type { Image, ProcessImage, Usage } from '../program.js';
import { processImageOf } from '../program-process.js';
import { AssignedAddresses } from './assigned-addresses.js';
import { LocalConnections, openConnection } from './connections.js';
import { MAX_RUNTIME_LENGTH } from './expansion.js';
import { imageNamed } from './images.js';
import { rejectionOf } from './node-admission.js';
import { type KubeletServices, PodWorker } from './pod-worker.js';

export interface KubeletOptions {
  /** Whether a metrics server runs in the cluster. */
  readonly hasMetrics: boolean;
  /** What a container uses, for the metrics server. Absent: what programs say. */
  readonly usage: ((pod: StoredPod, container: string) => Usage | undefined) | undefined;
  readonly images: Readonly<Record<string, Image>>;
  /** Whether pods may use hostPath volumes. */
  readonly hostPath: boolean;
  /** What the volumes in memory hold together. */
  readonly maxVolumeBytes: number;
  readonly network: NetworkOptions;
}

export function kubelet(options: KubeletOptions): Controller {
  return {
    name: 'kubelet',
    fieldManager: 'kubelet',
    component: 'kubelet',
    needs: [Pod, Node],
    start: (context) => new Kubelet(context, options).start(),
  };
}

/** `settle` waits this many turns of the event loop for a program to do something. */
const SETTLE_TURNS = 20;

class Kubelet extends ControllerPart<KubeletOptions> implements Activity {
  readonly #addresses = new AssignedAddresses(this.context);
  readonly #network: ClusterNetwork = createNetwork(this.context, this.options.network, this.#addresses);
  readonly #pods = this.context.informer(Pod);
  readonly #nodes = this.context.informer(Node);
  /** By uid. */
  readonly #workers = new Map<string, PodWorker>();
  readonly #images = new Map<Image, ProcessImage>();
  readonly #metricsImage = this.#metricsServer();
  readonly #rejections = new OwnerBackoff();
  readonly #queue = this.context.queue((key) => this.#reconcile(key), { workers: 8 });
  readonly #services: KubeletServices = {
    context: this.context,
    network: this.#network,
    shared: new SharedVolumes(new SharedMemory(this.options.maxVolumeBytes)),
    texts: new SharedMemory(MAX_RUNTIME_LENGTH),
    allowsHostPath: this.options.hostPath,
    imageOf: (pod, name) => this.#imageOf(pod, name),
    allocateAddress: (pod) => this.#allocateAddress(pod),
    rejection: (pod) => this.#rejection(pod),
    rejectionDelayMs: (pod) => this.#rejectionDelayMs(pod),
    clientOf: (pod) => this.#clientOf(pod),
    requeue: (pod) => this.#requeue(pod),
    busyFor: (work) => this.#busyFor(work),
  };
  #busy = 0;
  #hasAdopted = false;

  start(): void {
    const { context } = this;
    for (const kind of [ConfigMap, Secret, Service, PersistentVolumeClaim]) context.informer(kind);
    this.#pods.onKey((key, { type, object }) => {
      if (type === 'DELETED') {
        this.#forget(object);
        this.#addresses.release(object);
      }
      this.#queue.add(key);
    });
    this.#nodes.onKey((name) => {
      for (const worker of this.#workers.values())
        if (worker.current().spec.nodeName === name) this.#requeue(worker.current());
    });
    for (const kind of [ConfigMap, Secret, PersistentVolumeClaim] as const) {
      context.informer(kind).subscribe(({ object }) => this.#wakeWaiting(object.metadata.namespace));
    }
    context.informer(PersistentVolume).subscribe(({ type, object }) => {
      if (type === 'DELETED') this.#removeVolume(object.metadata);
      else this.#wakeWaiting(object.spec.claimRef?.namespace);
    });
    const { sockets } = this.options.network;
    if (sockets?.publish !== undefined)
      publishServices(context, { network: this.#network, addresses: this.#addresses }, sockets);
    const slot = context.host?.runtimeSlot;
    if (slot !== undefined) {
      const runtime = this.#runtime();
      slot.runtime = runtime;
      context.onClose(() => {
        if (slot.runtime === runtime) slot.runtime = undefined;
      });
    }
    const activities = context.host?.activities;
    if (activities !== undefined) context.onClose(activities.add(this));
    context.onClose(() => {
      for (const worker of this.#workers.values()) this.#forget(worker.current());
      for (const image of this.#images.values()) image.removeVolumes?.(this.#services.shared.all());
    });
  }

  isBusy(): boolean {
    return this.#busy > 0;
  }

  busyWith(): readonly string[] {
    return this.#busy === 0 ? [] : [`${this.#busy} programs that have just started`];
  }

  #busyFor(work: Promise<unknown>): void {
    const turns = async (): Promise<void> => {
      for (let turn = 0; turn < SETTLE_TURNS; turn++) await nextTurn();
    };
    this.#busy++;
    const end = () => void this.#busy--;
    Promise.race([work, turns()]).then(end, end);
  }

  #imageOf({ metadata }: StoredPod, name: string): ProcessImage | undefined {
    const { hasMetrics, images } = this.options;
    // It knows the pods of all namespaces.
    const isMetrics = hasMetrics && name === METRICS_IMAGE && metadata.namespace === METRICS_NAMESPACE;
    const image = isMetrics ? this.#metricsImage : imageNamed(name, images);
    // Clients choose the names, so the number of names is not limited.
    return image && getOrInsertComputed(this.#images, image, () => processImageOf(image));
  }

  #metricsServer(): Image {
    const nodes = () => this.#nodes.list().map(({ metadata: { name, labels } }) => ({ name, labels }));
    return metricsServer({ nodes, pods: () => this.#usages() }, this.context.dialect);
  }

  #usages(only?: string): readonly PodUsage[] {
    return [...this.#workers.values()].flatMap((worker) => {
      const pod = worker.current();
      const { name, namespace = '', labels } = pod.metadata;
      if (only !== undefined && namespace !== only) return [];
      const containers = worker.containers
        .filter(({ isRunning }) => isRunning)
        .map((each) => ({ name: each.name, usage: this.options.usage?.(pod, each.name) ?? each.usage }));
      return containers.length === 0
        ? []
        : [{ namespace, name, labels, nodeName: pod.spec.nodeName ?? '', containers }];
    });
  }

  #allocateAddress(pod: StoredPod): string {
    const { hostNetwork, nodeName = '' } = pod.spec;
    if (hostNetwork !== true) return this.#addresses.assign(pod);
    const { addresses = [] } = this.#nodes.get(nodeName)?.status ?? {};
    return this.#addresses.assign(pod, addresses.find(({ type }) => type === 'InternalIP')?.address ?? '127.0.0.1');
  }

  #rejection(pod: StoredPod) {
    const node = this.#nodes.get(pod.spec.nodeName ?? '');
    if (node === undefined) return undefined;
    const others = this.#pods.index('node', ({ spec }) => (spec.nodeName ? [spec.nodeName] : []))(node.metadata.name);
    const admitted = others.filter(({ metadata }) => this.#workers.get(metadata.uid)?.isRejected !== true);
    return rejectionOf(pod, node, admitted);
  }

  /** The owner of a rejected pod replaces it at once, perhaps on the same node. */
  #rejectionDelayMs(pod: StoredPod): number {
    return this.#rejections.waitMs(pod, this.context.clock.now());
  }

  #clientOf({ metadata, spec }: StoredPod): Client {
    const namespace = metadata.namespace ?? '';
    const account = spec.serviceAccountName ?? 'default';
    return this.context.client.with({
      namespace,
      fieldManager: account,
      as: {
        user: `system:serviceaccount:${namespace}:${account}`,
        groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'],
      },
    });
  }

  #requeue(pod: StoredPod): void {
    this.#queue.add(keyOf(pod));
  }

  async #reconcile(key: string): Promise<ReconcileResult | undefined> {
    // The queue starts when the informers have their first lists.
    if (!this.#hasAdopted) this.#addresses.adopt();
    this.#hasAdopted = true;
    const pod = this.#pods.at(key);
    if (pod?.spec.nodeName === undefined || pod.spec.nodeName === '') return undefined;
    const node = this.#nodes.get(pod.spec.nodeName);
    if (node === undefined || isKubeletStopped(node)) return undefined;
    const { uid } = pod.metadata;
    let worker = this.#workers.get(uid);
    if (worker === undefined) {
      worker = new PodWorker(this.#services, pod);
      this.#workers.set(uid, worker);
    }
    return worker.sync(pod);
  }

  #forget({ metadata }: StoredPod): void {
    const worker = this.#workers.get(metadata.uid);
    if (worker === undefined) return;
    worker.abandon();
    this.#workers.delete(metadata.uid);
    this.#inImages(`the end of ${keyOf({ metadata })}`, (image) => image.release?.(metadata.uid, this.#network));
  }

  #removeVolume({ uid, name }: DeepReadonly<ObjectMeta>): void {
    const volume = this.#services.shared.remove(uid);
    if (volume !== undefined) this.#inImages(`the end of ${name}`, (image) => image.removeVolumes?.([volume]));
  }

  #inImages(what: string, action: (image: ProcessImage) => void): void {
    for (const image of this.#images.values()) {
      try {
        action(image);
      } catch (error) {
        // The other images have something to do, too.
        this.context.report(error, what);
      }
    }
  }

  #wakeWaiting(namespace: string | undefined): void {
    for (const worker of this.#workers.values()) {
      if (worker.isWaitingForObjects && worker.current().metadata.namespace === namespace)
        this.#requeue(worker.current());
    }
  }

  #runtime(): NodeRuntime {
    const workerOf = (namespace: string, name: string) => {
      const pod = this.#pods.get(name, namespace);
      return pod === undefined ? undefined : this.#workers.get(pod.metadata.uid);
    };
    const network = this.#network;
    const services = {
      network,
      workerOf,
      nodeFetch: (node: string, request: Request) => this.#nodeFetch(node, request),
    };
    const local = new LocalConnections(
      (request) => openConnection(services, request),
      async (reference, namespace) => this.#podOf(reference, namespace),
    );
    return {
      connect: (request) => openConnection(services, request),
      logs: (pod, options) => local.logs(pod, options),
      exec: (pod, command, options) => local.exec(pod, command, options),
      ...(this.options.hasMetrics ? { usage: (namespace) => this.#usages(namespace) } : {}),
      serverAt: (address) => network.serverAt(address),
    };
  }

  #podOf(reference: PodReference, given: string | undefined): StoredPod {
    const { name = '', namespace } = typeof reference === 'string' ? { name: reference } : reference.metadata;
    const pod = this.#pods.get(name, given ?? namespace ?? 'default');
    if (pod === undefined) throw errors.notFound({ group: '', resource: 'pods' }, name);
    return pod;
  }

  /** The part of kubelet's own API that clients use. */
  async #nodeFetch(node: string, request: Request): Promise<Response> {
    const { pathname } = new URL(request.url);
    if (pathname === '/healthz') return new Response('ok');
    if (pathname !== '/pods' && pathname !== '/pods/') return new Response('404 page not found\n', { status: 404 });
    const items = this.#pods.list().filter(({ spec }) => spec.nodeName === node);
    // Pods may contain bigints.
    const body = printJson({ kind: 'PodList', apiVersion: 'v1', metadata: {}, items });
    return new Response(body, { headers: { 'content-type': 'application/json' } });
  }
}
