/** Snapshots of literal objects, and the decision of the scheduler about a pod on them. */
import type { Kind, ObjectOf } from '../../../../src/kinds/kind.js';
import { kubernetesDialect } from '../../../../src/meta/dialect.js';
import { fitMessage } from '../../../../src/runtime/scheduler/fit-message.js';
import { type Preemption, preempt } from '../../../../src/runtime/scheduler/preemption.js';
import { rank } from '../../../../src/runtime/scheduler/rank.js';
import {
  createSnapshot,
  NodeInfo,
  podInfoOf,
  type Snapshot,
  type StoredNode,
  type StoredPod,
} from '../../../../src/runtime/scheduler/snapshot.js';

/** The objects of these tests have only the fields that the scheduler reads. */
function stored<Stored>(object: unknown): Stored {
  return object as Stored;
}

interface AnyObject {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
}

interface PodParts {
  readonly labels?: Record<string, string>;
  readonly namespace?: string;
  readonly metadata?: object;
  readonly spec?: object;
  readonly status?: object;
}

/** A pod; with requests of cpu and memory if they are given. */
export function pod(name: string, requests: object = {}, parts: PodParts = {}): StoredPod {
  const { labels = {}, namespace = 'default', metadata = {}, spec = {}, status = {} } = parts;
  return stored({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace, uid: `uid-${name}`, labels, ...metadata },
    spec: { containers: [{ name: 'c', image: 'app:1', resources: { requests } }], ...spec },
    status: { startTime: '2026-11-18T00:00:00Z', ...status },
  });
}

interface NodeParts {
  readonly labels?: Record<string, string>;
  readonly spec?: object;
  readonly allocatable?: object;
  readonly images?: readonly object[];
  /** The pods on the node. */
  readonly pods?: readonly StoredPod[];
}

export function node(name: string, parts: NodeParts = {}): NodeInfo {
  const { labels = {}, spec = {}, allocatable = {}, images = [], pods = [] } = parts;
  const object = stored<StoredNode>({
    metadata: { name, labels: { 'kubernetes.io/hostname': name, ...labels } },
    spec,
    status: { allocatable: { cpu: '4', memory: '8Gi', pods: '10', ...allocatable }, images },
  });
  return new NodeInfo(object, pods.map(podInfoOf));
}

export function snapshotOf(
  nodes: readonly NodeInfo[],
  objects: readonly AnyObject[] = [],
  pending: readonly StoredPod[] = [],
): Snapshot {
  const list = <AnyKind extends Kind>(kind: AnyKind, namespace?: string) =>
    stored<readonly ObjectOf<AnyKind>[]>(
      objects.filter(
        (each) => each.kind === kind.kind && (namespace === undefined || each.metadata.namespace === namespace),
      ),
    );
  return createSnapshot({
    nodes,
    pending,
    objects: {
      list,
      get: (kind, name, namespace) =>
        list(kind, namespace).find((each) => stored<AnyObject>(each).metadata.name === name),
    },
    dialect: kubernetesDialect,
    features: undefined,
    nowMs: Date.UTC(2026, 10, 18),
  });
}

/** The names of the nodes that fit, the best first; or the reasons why none does. */
export function place(candidate: StoredPod, snapshot: Snapshot): readonly string[] | string {
  const ranking = rank(podInfoOf(candidate), snapshot);
  if ('nodes' in ranking) return ranking.nodes.map(({ name }) => name);
  const { statuses, podProblem } = ranking.failure;
  return fitMessage({ nodeCount: snapshot.nodes.length, statuses, podProblem });
}

/** The weighted scores of one plugin by node; undefined if the plugin does not apply. */
export function scoresOf(plugin: string, candidate: StoredPod, snapshot: Snapshot): Record<string, number | undefined> {
  const ranking = rank(podInfoOf(candidate), snapshot);
  if (!('nodes' in ranking)) throw new Error('the pod does not fit');
  return Object.fromEntries(ranking.nodes.map(({ name, scores }) => [name, scores[plugin]]));
}

export function preemptionFor(candidate: StoredPod, snapshot: Snapshot): Preemption {
  const info = podInfoOf(candidate);
  const ranking = rank(info, snapshot);
  if (!('failure' in ranking)) throw new Error('the pod fits');
  return preempt(info, ranking.failure, snapshot);
}

/** An object of another kind. */
export function object(kind: string, name: string, fields: object = {}, metadata: object = {}): AnyObject {
  return { kind, metadata: { name, ...metadata }, ...fields };
}
