/** Scenarios of Deployments, ReplicaSets, StatefulSets and DaemonSets. */
import {
  APPS,
  CORE,
  claim,
  container,
  daemonSet,
  deployment,
  failed,
  kubelet,
  newImage,
  node,
  patch,
  pause,
  pod,
  post,
  remove,
  replicaSet,
  replicas,
  statefulSet,
  template,
} from './controllers-steps.mjs';

const D = `${APPS}/deployments/d`;
const S = `${APPS}/statefulsets/s`;
const DS = `${APPS}/daemonsets/w`;
const onOwnNodes = (spec) => ({
  template: template('w', { nodeSelector: { own: '{ns}' }, ...spec }),
});
const readyAll = (rounds) => Array.from({ length: rounds }, () => kubelet('ready'));

export const DEPLOYMENTS = {
  'rollout-to-the-end': [deployment('d', { replicas: 3 }), kubelet('ready'), patch(D, newImage('i:2')), ...readyAll(4)],
  'rollout-in-parts': [
    deployment('d', { replicas: 4, strategy: { rollingUpdate: { maxSurge: 1, maxUnavailable: 1 } } }),
    kubelet('ready'),
    patch(D, newImage('i:2')),
    ...Array.from({ length: 5 }, () => kubelet('ready', { count: 1 })),
  ],
  'rollout-then-rollback': [
    deployment('d', { replicas: 2 }),
    kubelet('ready'),
    patch(D, newImage('i:2')),
    ...readyAll(3),
    patch(D, newImage('i:1')),
    ...readyAll(3),
  ],
  'rollout-change-during-rollout': [
    deployment('d', { replicas: 2 }),
    kubelet('ready'),
    patch(D, newImage('i:2')),
    patch(D, newImage('i:3')),
    ...readyAll(3),
  ],
  'pause-and-resume': [
    deployment('d', { replicas: 2 }),
    kubelet('ready'),
    patch(D, { spec: { paused: true } }),
    patch(D, newImage('i:2')),
    patch(D, replicas(3)),
    patch(D, { spec: { paused: false } }),
    ...readyAll(3),
  ],
  'scale-during-rollout': [
    deployment('d', { replicas: 4, strategy: { rollingUpdate: { maxSurge: 2, maxUnavailable: 1 } } }),
    kubelet('ready'),
    patch(D, newImage('i:2')),
    patch(D, replicas(8)),
    ...Array.from({ length: 12 }, () => kubelet('ready', { count: 1 })),
  ],
  'recreate-with-bound-pods': [
    deployment('d', { replicas: 2, strategy: { type: 'Recreate' } }),
    kubelet('bound'),
    kubelet('ready'),
    patch(D, newImage('i:2')),
    kubelet('deleted', { count: 1 }),
    kubelet('deleted'),
    kubelet('ready'),
  ],
  'deployment-scale-to-zero-and-back': [
    deployment('d', { replicas: 2 }),
    kubelet('ready'),
    patch(D, replicas(0)),
    patch(D, replicas(1)),
    kubelet('ready'),
  ],
  'deployment-quota-exceeded': [
    post(`${CORE}/resourcequotas`, 'q', { spec: { hard: { pods: '1' } } }),
    deployment('d', { replicas: 2 }),
  ],
  'deployment-foreground-deletion': [deployment('d', { replicas: 2 }), kubelet('ready'), remove(D, 'Foreground')],
  'deployment-orphan-and-adopt': [
    deployment('d', { replicas: 1 }),
    kubelet('ready'),
    remove(D, 'Orphan'),
    deployment('d', { replicas: 1 }),
  ],
  'deployment-labels-and-annotations': [
    deployment('d', { replicas: 1 }),
    patch(D, { metadata: { annotations: { note: 'n' }, labels: { l: 'x' } } }),
    patch(D, { spec: { template: { metadata: { annotations: { restarted: '1' } } } } }),
    patch(D, { spec: { minReadySeconds: 2 } }),
    kubelet('ready'),
    pause(4_000),
  ],
  'deployment-selector-too-broad': [
    deployment('d', { replicas: 1, selector: { matchLabels: { app: 'd' } }, minReadySeconds: 1 }),
    kubelet('ready'),
    kubelet('unready'),
  ],
};

export const REPLICA_SETS = {
  'replicaset-adopts-and-trims': [
    pod('p1', { app: 'r' }),
    pod('p2', { app: 'r' }),
    pod('p3', { app: 'r' }),
    replicaSet('r', { replicas: 2 }),
    patch(`${APPS}/replicasets/r`, replicas(4)),
  ],
  'replicaset-orphan': [replicaSet('r', { replicas: 2 }), remove(`${APPS}/replicasets/r`, 'Orphan')],
  'replicaset-foreground-bound': [
    replicaSet('r', { replicas: 2 }),
    kubelet('bound'),
    kubelet('ready'),
    remove(`${APPS}/replicasets/r`, 'Foreground'),
    kubelet('deleted'),
  ],
  'replicaset-pods-fail': [
    replicaSet('r', { replicas: 2 }),
    kubelet('ready'),
    failed(1, { count: 1 }),
    kubelet('ready'),
  ],
  'replicaset-scale-down-prefers-unready': [
    replicaSet('r', { replicas: 3 }),
    kubelet('ready', { count: 2 }),
    patch(`${APPS}/replicasets/r`, replicas(2)),
    patch(`${APPS}/replicasets/r`, replicas(0)),
  ],
  'replicaset-pod-rejected': [
    post(`${CORE}/limitranges`, 'l', { spec: { limits: [{ type: 'Container', max: { cpu: '1' } }] } }),
    replicaSet('r', {
      replicas: 1,
      template: template('r', { containers: [{ ...container(), resources: { limits: { cpu: '2' } } }] }),
    }),
  ],
  'replicationcontroller-adopts': [
    pod('p1', { app: 'rc' }),
    post(`${CORE}/replicationcontrollers`, 'rc', { spec: { replicas: 2, template: template('rc') } }),
    kubelet('ready'),
    remove(`${CORE}/replicationcontrollers/rc`),
  ],
};

export const STATEFUL_SETS = {
  'statefulset-ordered-start': [statefulSet('s', { replicas: 3 }), ...readyAll(3)],
  'statefulset-parallel-start-and-stop': [
    statefulSet('s', { replicas: 3, podManagementPolicy: 'Parallel' }),
    kubelet('ready'),
    patch(S, replicas(1)),
    patch(S, replicas(2)),
  ],
  'statefulset-scale-down-bound': [
    statefulSet('s', { replicas: 3, podManagementPolicy: 'Parallel' }),
    kubelet('bound'),
    kubelet('ready'),
    patch(S, { spec: { replicas: 1, podManagementPolicy: 'Parallel' } }),
    kubelet('deleted'),
  ],
  'statefulset-update': [
    statefulSet('s', { replicas: 2 }),
    ...readyAll(2),
    patch(S, newImage('i:2')),
    ...readyAll(3),
    patch(S, newImage('i:1')),
    ...readyAll(3),
  ],
  'statefulset-claims-kept': [
    statefulSet('s', { replicas: 1, volumeClaimTemplates: [claim('data')] }),
    kubelet('ready'),
    patch(S, replicas(0)),
    remove(S),
  ],
  'statefulset-claims-deleted': [
    statefulSet('s', {
      replicas: 2,
      podManagementPolicy: 'Parallel',
      volumeClaimTemplates: [claim('data')],
      persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Delete', whenScaled: 'Delete' },
    }),
    kubelet('ready'),
    patch(S, replicas(1)),
    patch(S, { spec: { persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain' } } }),
    patch(S, { spec: { persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Delete' } } }),
    remove(S),
  ],
  'statefulset-failed-pod': [statefulSet('s', { replicas: 2 }), kubelet('ready'), failed(1), kubelet('ready')],
  'statefulset-first-ordinal': [
    statefulSet('s', { replicas: 2, ordinals: { start: 3 } }),
    ...readyAll(2),
    patch(S, { spec: { ordinals: { start: 4 } } }),
    kubelet('ready'),
  ],
  'statefulset-orphan': [
    statefulSet('s', { replicas: 1 }),
    kubelet('ready'),
    remove(S, 'Orphan'),
    statefulSet('s', { replicas: 1 }),
  ],
  'statefulset-quota': [
    post(`${CORE}/resourcequotas`, 'q', { spec: { hard: { pods: '0' } } }),
    statefulSet('s', { replicas: 1 }),
  ],
  'statefulset-min-ready': [
    statefulSet('s', { replicas: 2, minReadySeconds: 2 }),
    kubelet('ready'),
    pause(4_000),
    kubelet('ready'),
    pause(4_000),
  ],
};

export const DAEMON_SETS = {
  'daemonset-two-nodes-update': [
    node('a', { own: '{ns}' }),
    node('b', { own: '{ns}' }),
    daemonSet('w', onOwnNodes()),
    kubelet('ready'),
    patch(DS, newImage('i:2')),
    ...readyAll(2),
    node('c', { own: '{ns}' }),
    remove(DS),
  ],
  'daemonset-surge': [
    node('a', { own: '{ns}' }),
    daemonSet('w', { ...onOwnNodes(), updateStrategy: { rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } } }),
    kubelet('ready'),
    patch(DS, newImage('i:2')),
    kubelet('ready'),
  ],
  'daemonset-on-delete': [
    node('a', { own: '{ns}' }),
    daemonSet('w', { ...onOwnNodes(), updateStrategy: { type: 'OnDelete' } }),
    kubelet('ready'),
    patch(DS, newImage('i:2')),
    patch(DS, { metadata: { labels: { l: 'x' } } }),
    patch(DS, newImage('i:1')),
  ],
  'daemonset-node-cordoned-and-gone': [
    node('a', { own: '{ns}' }),
    daemonSet('w', onOwnNodes()),
    kubelet('ready'),
    patch('/api/v1/nodes/{ns}-a', { spec: { unschedulable: true } }),
    patch('/api/v1/nodes/{ns}-a', { metadata: { labels: { own: null } } }),
    patch('/api/v1/nodes/{ns}-a', { metadata: { labels: { own: '{ns}' } } }),
    remove('/api/v1/nodes/{ns}-a'),
  ],
  'daemonset-no-nodes': [
    daemonSet('w', onOwnNodes()),
    patch(DS, { spec: { minReadySeconds: 3 } }),
    remove(DS, 'Foreground'),
  ],
};
export const NODE_CLEANUP = ['a', 'b', 'c'].map((name) => remove(`/api/v1/nodes/{ns}-${name}`));
