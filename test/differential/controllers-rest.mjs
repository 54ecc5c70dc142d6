/** Scenarios of Garbage, namespaces, Services, budgets, quotas, autoscalers and volumes. */
import {
  APPS,
  CORE,
  configMap,
  container,
  deployment,
  from,
  kubelet,
  ownedBy,
  POLICY,
  patch,
  pause,
  pod,
  post,
  postClaim,
  remove,
  replicaSet,
  replicas,
  SCALING,
  service,
  statefulSet,
  template,
  volume,
} from './controllers-steps.mjs';

const D = `${APPS}/deployments/d`;

const M = `${CORE}/configmaps`;
export const GARBAGE = {
  'gc-foreground-blocking-chain': [
    configMap('a', {}, 'a'),
    configMap('b', ownedBy('a', { blockOwnerDeletion: true }), 'b'),
    configMap('c', ownedBy('b', { blockOwnerDeletion: true })),
    remove(`${M}/a`, 'Foreground'),
  ],
  'gc-foreground-with-held-dependent': [
    configMap('a', {}, 'a'),
    configMap('b', { ...ownedBy('a', { blockOwnerDeletion: true }), finalizers: ['example.com/hold'] }),
    remove(`${M}/a`, 'Foreground'),
    patch(`${M}/b`, { metadata: { finalizers: null } }),
  ],
  'gc-background-after-foreground-request': [
    configMap('a', {}, 'a'),
    configMap('b', { ...ownedBy('a', { blockOwnerDeletion: true }), finalizers: ['example.com/hold'] }),
    remove(`${M}/a`, 'Foreground'),
    remove(`${M}/a`, 'Background'),
  ],
  'gc-orphan-with-several-owners': [
    configMap('a', {}, 'a'),
    configMap('o', {}, 'o'),
    configMap('b', { ownerReferences: [...ownedBy('a').ownerReferences, ...ownedBy('o').ownerReferences] }),
    remove(`${M}/a`, 'Orphan'),
    remove(`${M}/o`, 'Background'),
  ],
  'gc-wrong-uid': [
    configMap('a', {}, 'a'),
    configMap('b', { ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'a', uid: 'none' }] }),
  ],
};

export const NAMESPACES = {
  'namespace-with-workloads': [
    deployment('d', { replicas: 2 }),
    kubelet('ready'),
    remove('/api/v1/namespaces/{ns}'),
    pause(12_000),
  ],
  'namespace-with-bound-pods': [
    pod('p'),
    kubelet('bound'),
    kubelet('ready'),
    remove('/api/v1/namespaces/{ns}'),
    pause(9_000),
    kubelet('deleted'),
    pause(15_000),
  ],
  'namespace-accounts': [
    remove(`${CORE}/serviceaccounts/default`),
    remove(`${CORE}/configmaps/kube-root-ca.crt`),
    patch(`${CORE}/configmaps/kube-root-ca.crt`, { data: { 'ca.crt': 'x', more: 'y' } }),
  ],
  'account-token-secret': [
    post(`${CORE}/serviceaccounts`, 'a', {}),
    post(`${CORE}/secrets`, 't', {
      metadata: { annotations: { 'kubernetes.io/service-account.name': 'a' } },
      type: 'kubernetes.io/service-account-token',
    }),
    patch(`${CORE}/secrets/t`, { data: { token: null } }),
    remove(`${CORE}/serviceaccounts/a`),
  ],
};

export const SERVICES = {
  'service-readiness-changes': [
    service('x', { selector: { app: 'r' } }),
    replicaSet('r', { replicas: 2 }),
    kubelet('bound'),
    kubelet('ready'),
    kubelet('unready', { count: 1 }),
    kubelet('ready'),
    patch(`${APPS}/replicasets/r`, replicas(1)),
    patch(`${CORE}/services/x`, { spec: { ports: [{ port: 81, targetPort: 8080 }] } }),
    remove(`${CORE}/services/x`),
  ],
  'service-terminating-pod': [
    service('x', { selector: { app: 'r' } }),
    pod('p', { app: 'r' }),
    kubelet('bound'),
    kubelet('ready'),
    remove(`${CORE}/pods/p`),
    kubelet('deleted'),
  ],
  'service-publishes-unready': [
    service('x', { selector: { app: 'r' }, publishNotReadyAddresses: true }),
    pod('p', { app: 'r' }),
    kubelet('bound'),
    kubelet('unready'),
  ],
  'service-headless': [
    service('x', { selector: { app: 'r' }, clusterIP: 'None' }),
    pod('p', { app: 'r' }, { hostname: 'h', subdomain: 'x' }),
    kubelet('bound'),
    kubelet('ready'),
    patch(`${CORE}/services/x`, { metadata: { labels: { l: 'x' } } }),
  ],
  'service-mirrored-endpoints': [
    service('x', {}),
    post(`${CORE}/endpoints`, 'x', { subsets: [{ addresses: [{ ip: '10.8.0.1' }], ports: [{ port: 80 }] }] }),
    patch(`${CORE}/endpoints/x`, { subsets: [{ addresses: [{ ip: '10.8.0.2' }], ports: [{ port: 80 }] }] }),
    patch(`${CORE}/endpoints/x`, { metadata: { labels: { 'endpointslice.kubernetes.io/skip-mirror': 'true' } } }),
    remove(`${CORE}/endpoints/x`),
  ],
  'service-slice-changed-by-hand': [
    service('x', { selector: { app: 'r' } }),
    pod('p', { app: 'r' }),
    kubelet('bound'),
    kubelet('ready'),
    remove(`${CORE}/endpoints/x`),
    remove('/apis/discovery.k8s.io/v1/namespaces/{ns}/endpointslices'),
  ],
};

const budget = (spec) =>
  post(`${POLICY}/poddisruptionbudgets`, 'b', { spec: { selector: { matchLabels: { app: 'd' } }, ...spec } });
export const BUDGETS_AND_QUOTAS = {
  'budget-of-deployment': [
    budget({ minAvailable: 1 }),
    deployment('d', { replicas: 2 }),
    kubelet('ready'),
    patch(D, replicas(1)),
    patch(`${POLICY}/poddisruptionbudgets/b`, { spec: { minAvailable: '50%' } }),
  ],
  'budget-eviction': [
    budget({ maxUnavailable: 1 }),
    deployment('d', { replicas: 2 }),
    kubelet('ready'),
    { id: 'p', method: 'GET', path: `${CORE}/pods`, query: { labelSelector: 'app=d' } },
    post(`${CORE}/pods/${from('p', 'items.0.metadata.name')}/eviction`, from('p', 'items.0.metadata.name'), {
      apiVersion: 'policy/v1',
      kind: 'Eviction',
    }),
    kubelet('ready'),
  ],
  'budget-of-bare-pod': [pod('p', { app: 'd' }), budget({ maxUnavailable: '30%' })],
  'budget-of-statefulset': [
    statefulSet('s', {
      replicas: 2,
      podManagementPolicy: 'Parallel',
      selector: { matchLabels: { app: 'd' } },
      template: template('d'),
    }),
    budget({ maxUnavailable: '50%' }),
    kubelet('ready'),
  ],
  'quota-of-objects': [
    post(`${CORE}/resourcequotas`, 'q', {
      spec: { hard: { pods: '3', 'count/replicasets.apps': '2', 'requests.cpu': '1' } },
    }),
    replicaSet('r', {
      replicas: 2,
      template: template('r', { containers: [{ ...container(), resources: { requests: { cpu: '100m' } } }] }),
    }),
    patch(`${APPS}/replicasets/r`, replicas(1)),
    patch(`${CORE}/resourcequotas/q`, { spec: { hard: { pods: '5' } } }),
    remove(`${APPS}/replicasets/r`),
  ],
};

const autoscaler = (target, spec) =>
  post(`${SCALING}/horizontalpodautoscalers`, 'h', {
    spec: {
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: target },
      minReplicas: 2,
      maxReplicas: 4,
      ...spec,
    },
  });
export const AUTOSCALERS = {
  'autoscaler-without-metrics': [deployment('d', { replicas: 2 }), kubelet('ready'), autoscaler('d'), pause(17_000)],
  'autoscaler-below-minimum': [deployment('d', { replicas: 1 }), kubelet('ready'), autoscaler('d'), pause(17_000)],
  'autoscaler-missing-target': [autoscaler('none'), pause(17_000)],
};

export const VOLUMES = {
  'volume-binds-claim': [
    volume('v'),
    postClaim('c', { storageClassName: '{ns}' }),
    pod('p', {}, { volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'c' } }] }),
    remove(`${CORE}/persistentvolumeclaims/c`),
    remove(`${CORE}/pods/p`),
  ],
  'volume-deleted-after-use': [
    volume('v', { persistentVolumeReclaimPolicy: 'Delete' }),
    postClaim('c', { storageClassName: '{ns}' }),
    remove(`${CORE}/persistentvolumeclaims/c`),
  ],
  'claim-without-class': [
    postClaim('c', { storageClassName: 'none' }),
    postClaim('d', { storageClassName: '' }),
    remove(`${CORE}/persistentvolumeclaims/c`),
  ],
  'claim-prebound': [
    volume('v', { claimRef: { namespace: '{ns}', name: 'c' } }),
    postClaim('c', { storageClassName: '{ns}', volumeName: '{ns}-v' }),
  ],
  'claim-waits-for-first-consumer': [
    post('/apis/storage.k8s.io/v1/storageclasses', '{ns}', {
      provisioner: 'example.com/p',
      volumeBindingMode: 'WaitForFirstConsumer',
    }),
    postClaim('c', { storageClassName: '{ns}' }),
  ],
  'claim-external-provisioner': [
    post('/apis/storage.k8s.io/v1/storageclasses', '{ns}', { provisioner: 'example.com/p' }),
    postClaim('c', { storageClassName: '{ns}' }),
  ],
};
export const VOLUME_CLEANUP = [
  remove('/api/v1/persistentvolumes/{ns}-v'),
  remove('/apis/storage.k8s.io/v1/storageclasses/{ns}'),
];
