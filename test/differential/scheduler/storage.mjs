/** Generates storage for the comparison of schedulers: classes, volumes, claims, drivers, and the volumes of pods. */
import { namespaced } from './clusters.mjs';

const ZONE = 'topology.kubernetes.io/zone';
const DRIVER = 'csi.example.com';
const LIMITED = 'limited.example.com';

/** Volumes of a class have the prefix of the class. */
const CLASSES = [
  { name: 'fast', provisioner: DRIVER, volumeBindingMode: 'Immediate' },
  { name: 'local', provisioner: 'kubernetes.io/no-provisioner', volumeBindingMode: 'WaitForFirstConsumer' },
  { name: 'later', provisioner: DRIVER, volumeBindingMode: 'WaitForFirstConsumer' },
  { name: 'limited', provisioner: LIMITED, volumeBindingMode: 'WaitForFirstConsumer' },
];

export function generateStorage(choices, nodes, namespaces) {
  const { below, chance } = choices;
  if (chance(0.4)) return { objects: [], claims: [] };
  const volumes = Array.from({ length: 4 + below(12) }, (_, index) => volume(choices, nodes, index));
  const claims = Array.from({ length: 4 + below(16) }, (_, index) => claim(choices, { namespaces, volumes, index }));
  const objects = [
    ...CLASSES.map((each) => storageClass(choices, each)),
    ...volumes,
    ...claims,
    ...csiObjects(choices, nodes, volumes),
  ];
  return { objects, claims: claims.map(({ metadata }) => metadata) };
}

function storageClass({ chance, pick }, { name, ...fields }) {
  const isRestricted = name === 'later' && chance(0.4);
  const terms = [{ matchLabelExpressions: [{ key: ZONE, values: [pick(['z0', 'z1']), 'z2'] }] }];
  return {
    ...namespaced('storage.k8s.io/v1', 'StorageClass', name),
    ...fields,
    ...(isRestricted ? { allowedTopologies: terms } : {}),
  };
}

function volume({ pick, chance, below }, nodes, index) {
  const { labels } = pick(nodes).metadata;
  const className = pick(['fast', 'local', 'local', 'later']);
  const name = `${className}-${index}`;
  const key = pick(['kubernetes.io/hostname', ZONE]);
  const affinity = { key, operator: 'In', values: [labels[key] ?? 'z1'] };
  const isRestricted = className === 'local' || chance(0.4);
  const zone = { [chance(0.5) ? ZONE : 'failure-domain.beta.kubernetes.io/zone']: pick(['z0', 'z1', 'z2', 'z0__z1']) };
  return {
    ...namespaced('v1', 'PersistentVolume', name, undefined, {
      labels: { ...(chance(0.3) ? zone : {}), grade: pick(['a', 'b']) },
    }),
    spec: {
      storageClassName: className,
      // All sizes differ, so that the smallest is unique.
      capacity: { storage: `${1 + below(5) * 20 + index}Gi` },
      accessModes: pick([['ReadWriteOnce'], ['ReadWriteOnce', 'ReadOnlyMany'], ['ReadWriteOncePod', 'ReadWriteOnce']]),
      volumeMode: chance(0.95) ? 'Filesystem' : 'Block',
      ...(className === 'local'
        ? { local: { path: '/data' } }
        : { csi: { driver: DRIVER, volumeHandle: `h${index}` } }),
      ...(isRestricted
        ? { nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [affinity] }] } } }
        : {}),
    },
    status: { phase: chance(0.85) ? 'Available' : pick(['Released', 'Pending']) },
  };
}

function claim(choices, { namespaces, volumes, index }) {
  const { pick, chance, below } = choices;
  const namespace = pick(namespaces);
  const name = `claim-${index}`;
  const free = volumes.filter(({ spec }) => spec.claimRef === undefined);
  const isBound = chance(0.5) && free.length > 0;
  const bound = isBound ? pick(free) : undefined;
  const isNamed = bound !== undefined || chance(0.04);
  const annotations = {
    ...(bound !== undefined && chance(0.95) ? { 'pv.kubernetes.io/bind-completed': 'yes' } : {}),
    ...(bound === undefined && chance(0.06) ? { 'volume.kubernetes.io/selected-node': `n0${below(5)}` } : {}),
  };
  const result = {
    ...namespaced('v1', 'PersistentVolumeClaim', name, namespace, {
      annotations,
      ...(chance(0.02) ? { deletionTimestamp: '2026-11-18T09:00:00Z' } : {}),
    }),
    spec: {
      accessModes: [pick(['ReadWriteOnce', 'ReadWriteOnce', 'ReadWriteOncePod'])],
      resources: { requests: { storage: `${1 + below(60)}Gi` } },
      ...(chance(0.96)
        ? {
            storageClassName:
              bound?.spec.storageClassName ?? pick(['fast', 'local', 'local', 'later', 'limited', 'absent']),
          }
        : {}),
      ...(isNamed ? { volumeName: bound?.metadata.name ?? 'absent' } : {}),
      ...(bound === undefined && chance(0.2) ? { selector: { matchLabels: { grade: 'a' } } } : {}),
    },
    status: { phase: chance(0.02) ? 'Lost' : isNamed ? 'Bound' : 'Pending' },
  };
  if (bound !== undefined) bound.spec.claimRef = { namespace, name, uid: result.metadata.uid };
  else if (free.length > 0 && chance(0.05)) pick(free).spec.claimRef = { namespace, name };
  return result;
}

function csiObjects({ chance, below, pick }, nodes, volumes) {
  const csiNodes = nodes
    .filter(() => chance(0.6))
    .map(({ metadata }) => ({
      ...namespaced('storage.k8s.io/v1', 'CSINode', metadata.name),
      spec: {
        drivers: [{ name: DRIVER, nodeID: metadata.name, topologyKeys: [], allocatable: { count: 1 + below(4) } }],
      },
    }));
  const attachments = volumes
    .filter(({ spec }) => spec.csi !== undefined && chance(0.2))
    .map(({ metadata }) => ({
      ...namespaced('storage.k8s.io/v1', 'VolumeAttachment', `at-${metadata.name}`),
      spec: { attacher: DRIVER, nodeName: pick(nodes).metadata.name, source: { persistentVolumeName: metadata.name } },
    }));
  const driver = {
    ...namespaced('storage.k8s.io/v1', 'CSIDriver', LIMITED),
    spec: { storageCapacity: chance(0.8) },
  };
  const capacities = ['z0', 'z1', 'z2']
    .filter(() => chance(0.6))
    .map((zone) => ({
      ...namespaced('storage.k8s.io/v1', 'CSIStorageCapacity', `cap-${zone}`, 'a'),
      storageClassName: 'limited',
      nodeTopology: { matchLabels: { [ZONE]: zone } },
      capacity: `${below(80)}Gi`,
      ...(chance(0.2) ? { maximumVolumeSize: '10Gi' } : {}),
    }));
  return [...csiNodes, ...attachments, driver, ...capacities];
}

/** The volumes of a pod: mostly claims of its namespace. */
export function podVolumes({ choices, storage }, namespace, podName) {
  const { chance, pick } = choices;
  const claims = storage.claims.filter((each) => each.namespace === namespace).map(({ name }) => name);
  const volumes = [];
  if (claims.length > 0 && chance(0.35)) {
    volumes.push(chance(0.97) ? pick(claims) : 'absent');
    if (chance(0.3)) volumes.push(pick(claims));
  }
  const sources = [...new Set(volumes)].map((claimName) => ({ persistentVolumeClaim: { claimName } }));
  if (chance(0.03)) sources.push(disk(choices));
  if (chance(0.01)) sources.push({ ephemeral: { volumeClaimTemplate: { spec: {} } } });
  if (sources.length === 0) return {};
  return { volumes: sources.map((source, index) => ({ name: `v${index}-${podName}`, ...source })) };
}

function disk({ pick, chance }) {
  const readOnly = chance(0.5);
  return pick([
    { gcePersistentDisk: { pdName: 'd', readOnly } },
    { awsElasticBlockStore: { volumeID: 'd' } },
    { iscsi: { targetPortal: 'p', iqn: 'q', lun: 0, readOnly } },
    { rbd: { monitors: [pick(['m0', 'm1']), 'm2'], image: 'i', pool: 'p', readOnly } },
  ]);
}
