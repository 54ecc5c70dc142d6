/**
 * Keeps the information about nodes between scheduling decisions. Only nodes that have changed, or whose pods have changed,
 * are computed again.
 */
import { ControllerPart } from '../../controllers/runtime/controller.js';
import { Node } from '../../kinds/core/v1/node/node.js';
import { Pod } from '../../kinds/core/v1/pod/pod.js';
import type { Kind } from '../../kinds/kind.js';
import { isRead } from './cluster-changes.js';
import {
  createSnapshot,
  type ImageState,
  imageStates,
  isConsidered,
  NodeInfo,
  type ObjectReader,
  podInfoOf,
  type Snapshot,
  type StoredPod,
} from './snapshot.js';

export class NodeCache extends ControllerPart {
  readonly #nodes = this.context.informer(Node);
  readonly #pods = this.context.informer(Pod);
  readonly #podsOn = this.#pods.index('node', ({ spec }) => (spec.nodeName ? [spec.nodeName] : []));
  readonly #nominated = this.#pods.index('nominated', ({ spec, status }) =>
    (spec.nodeName ?? '') === '' && (status.nominatedNodeName ?? '') !== '' ? [''] : [],
  );
  readonly #infos = new Map<string, NodeInfo>();
  #images: ReadonlyMap<string, ImageState> | undefined;
  /** Pods that have a node but are not bound yet, by uid. */
  readonly #assumed = new Map<string, { readonly pod: StoredPod; readonly nodeName: string }>();
  readonly #objects: ObjectReader = {
    get: (kind, name, namespace) => (this.#has(kind) ? this.context.informer(kind).get(name, namespace) : undefined),
    list: (kind, namespace) => (this.#has(kind) ? this.context.informer(kind).list(namespace) : []),
  };

  start(): void {
    this.#nodes.subscribe(({ object }) => {
      this.#infos.delete(object.metadata.name);
      this.#images = undefined;
    });
    this.#pods.subscribe((event) => {
      this.#infos.delete(event.object.spec.nodeName ?? '');
      if (event.type === 'DELETED') this.forget(event.object);
    });
  }

  /** Counts a pod on a node until it is bound or forgotten. */
  assume(pod: StoredPod, nodeName: string): void {
    this.#assumed.set(pod.metadata.uid, { pod, nodeName });
    this.#infos.delete(nodeName);
  }

  forget({ metadata }: StoredPod): void {
    const assumed = this.#assumed.get(metadata.uid);
    if (assumed === undefined) return;
    this.#assumed.delete(metadata.uid);
    this.#infos.delete(assumed.nodeName);
  }

  snapshot(): Snapshot {
    const { dialect, features, clock } = this.context;
    const nodes = this.#nodes.list().map((node) => {
      const { name } = node.metadata;
      const info = this.#infos.get(name) ?? new NodeInfo(node, this.#podsOf(name).map(podInfoOf));
      this.#infos.set(name, info);
      return info;
    });
    this.#images ??= imageStates(nodes);
    const pending = this.#nominated('').filter(({ metadata }) => !this.#assumed.has(metadata.uid));
    const nowMs = clock.now();
    return createSnapshot({ nodes, pending, images: this.#images, objects: this.#objects, dialect, features, nowMs });
  }

  #podsOf(nodeName: string): readonly StoredPod[] {
    const bound = this.#podsOn(nodeName).filter(isConsidered);
    const assumed = [...this.#assumed.values()].filter(
      (each) => each.nodeName === nodeName && !bound.some(({ metadata }) => metadata.uid === each.pod.metadata.uid),
    );
    return [...bound, ...assumed.map(({ pod }) => pod)];
  }

  #has(kind: Kind): boolean {
    return isRead(kind, this.context);
  }
}
