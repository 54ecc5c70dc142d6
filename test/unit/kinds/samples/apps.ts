/** Samples of the apps group. */
import { ControllerRevision, DaemonSet, Deployment, ReplicaSet, StatefulSet } from 'orchplane/kinds';
import type { KindSample } from '../kind-contract.js';

const spec = {
  selector: { matchLabels: { a: 'b' } },
  template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
};

const workload = {
  body: { spec },
  change: { spec: { ...spec, minReadySeconds: 1 } },
  wireOrder: ['kind', 'apiVersion', 'metadata', 'spec', 'status'],
  deletedAtOnce: true,
  unconditionalUpdate: true,
  createOnUpdate: false,
} as const;

export const samples: readonly KindSample[] = [
  { kind: Deployment, ...workload },
  { kind: ReplicaSet, ...workload },
  { kind: StatefulSet, ...workload },
  { kind: DaemonSet, ...workload },
  {
    kind: ControllerRevision,
    ...workload,
    body: { data: {}, revision: 1 },
    change: { revision: 2 },
    wireOrder: ['kind', 'apiVersion', 'metadata', 'data', 'revision'],
  },
];
