/**
 * Computes the expected number of pods for a disruption budget: the sum of the replicas of their controllers. Pods without a
 * controller do not count.
 */
import { Deployment } from '../../kinds/apps/v1/deployment.js';
import { ReplicaSet } from '../../kinds/apps/v1/replica-set.js';
import { StatefulSet } from '../../kinds/apps/v1/stateful-set.js';
import { ReplicationController } from '../../kinds/core/v1/replication-controller.js';
import type { Kind } from '../../kinds/kind.js';
import type { ServedKind } from '../../kinds/served-kind.js';
import { StatusError } from '../../meta/errors.js';
import { parseApiVersion, qualifiedResource } from '../../meta/gvk.js';
import type { OwnerReference } from '../../meta/object.js';
import { quote } from '../../text/go/go-text.js';
import { ControllerPart } from '../runtime/controller.js';
import { controllerOf, type HasMetadata } from '../runtime/owners.js';
import type { SharedInformer } from '../runtime/shared-informer.js';
import type { StoredPod } from '../workloads/pod-state.js';

export interface ExpectedPods {
  readonly count: number;
  /** Names of pods without a controller. */
  readonly unmanaged: readonly string[];
}

interface Scaled {
  readonly uid: string;
  readonly replicas: number;
}

type Reference = Readonly<OwnerReference>;

/** The common part of workloads with replicas. */
interface Replicated extends HasMetadata {
  readonly spec: { readonly replicas?: number | undefined };
}

/** Resolves the controllers of pods to expected pod counts. */
export class PodExpectations extends ControllerPart {
  readonly #replicaSets = this.#informerOf(ReplicaSet);
  readonly #deployments = this.#informerOf(Deployment);
  readonly #statefulSets = this.#informerOf(StatefulSet);
  readonly #replicationControllers = this.#informerOf(ReplicationController);

  #informerOf(kind: Kind): SharedInformer<Kind> | undefined {
    return this.context.serves(kind) ? this.context.informer(kind) : undefined;
  }

  /** Rejects with the reason if the number cannot be computed. */
  async of(pods: readonly StoredPod[]): Promise<ExpectedPods> {
    const replicas = new Map<string, number>();
    const unmanaged: string[] = [];
    // All pods of a ReplicaSet lead to the same controller, so one lookup per reference is enough.
    const resolved = new Set<string>();
    for (const pod of pods) {
      const reference = controllerOf(pod);
      if (reference === undefined) unmanaged.push(pod.metadata.name);
      else if (!resolved.has(reference.uid)) {
        resolved.add(reference.uid);
        const scaled = this.#builtInController(reference, pod) ?? (await this.#scaleOf(reference, pod));
        if (scaled === undefined) throw new Error(`found no controllers for pod ${quote(pod.metadata.name)}`);
        replicas.set(scaled.uid, scaled.replicas);
      }
    }
    return { count: [...replicas.values()].reduce((sum, count) => sum + count, 0), unmanaged };
  }

  /** The replicas of a built-in controller. */
  #builtInController(reference: Reference, { metadata }: StoredPod): Scaled | undefined {
    const { namespace } = metadata;
    if (isOf(reference, 'ReplicationController', [''])) {
      return scaledBy(this.#replicationControllers, reference, namespace);
    }
    if (isOf(reference, 'StatefulSet', ['apps'])) return scaledBy(this.#statefulSets, reference, namespace);
    if (!isOf(reference, 'ReplicaSet', ['apps', 'extensions'])) return undefined;
    const set = foundBy(this.#replicaSets, reference, namespace);
    const parent = set === undefined ? undefined : controllerOf(set);
    if (parent?.kind !== 'Deployment') return scaledBy(this.#replicaSets, reference, namespace);
    // A ReplicaSet of a Deployment does not count itself.
    return isOf(parent, 'Deployment', ['apps', 'extensions'])
      ? scaledBy(this.#deployments, parent, namespace)
      : undefined;
  }

  /** The replicas of any other controller, from its scale subresource. */
  async #scaleOf(reference: Reference, { metadata }: StoredPod): Promise<Scaled | undefined> {
    const served = this.#servedKind(reference);
    if (served.kind.subresources['scale'] === undefined) {
      throw new Error(`${qualifiedResource(served.gvr)} does not implement the scale subresource`);
    }
    // The scale subresource has the same type for all kinds; any scalable kind serves as the static type.
    const scalable = served.kind as typeof StatefulSet;
    try {
      const scale = await this.context.client
        .api(scalable, metadata.namespace)
        .subresource('scale')
        .get(reference.name);
      if (scale.metadata.uid !== reference.uid) return undefined;
      return { uid: reference.uid, replicas: scale.spec.replicas ?? 0 };
    } catch (error) {
      if (StatusError.is(error, 'NotFound')) return undefined;
      throw error;
    }
  }

  #servedKind({ apiVersion, kind }: Reference): ServedKind {
    const named = parseApiVersion(apiVersion);
    const served = this.context
      .kinds()
      .find(({ gvk }) => gvk.group === named?.group && gvk.version === named.version && gvk.kind === kind);
    if (served === undefined) throw new Error(`no matches for kind ${quote(kind)} in version ${quote(apiVersion)}`);
    return served;
  }
}

function isOf({ apiVersion, kind }: Reference, expected: string, groups: readonly string[]): boolean {
  return kind === expected && groups.includes(parseApiVersion(apiVersion)?.group ?? '?');
}

function foundBy(
  informer: SharedInformer<Kind> | undefined,
  { name, uid }: Reference,
  namespace: string | undefined,
): Replicated | undefined {
  const found = informer?.get(name, namespace) as Replicated | undefined;
  return found?.metadata.uid === uid ? found : undefined;
}

function scaledBy(
  informer: SharedInformer<Kind> | undefined,
  reference: Reference,
  namespace: string | undefined,
): Scaled | undefined {
  const found = foundBy(informer, reference, namespace);
  return found === undefined ? undefined : { uid: found.metadata.uid, replicas: found.spec.replicas ?? 1 };
}
