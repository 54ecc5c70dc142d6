/** Generates clusters for the comparison of schedulers: nodes, pods on them, pods to place, and what their constraints name. */
import { randomChoices } from '../random.mjs';
import { generateDevices, podClaims } from './devices.mjs';
import { generateStorage, podVolumes } from './storage.mjs';

const NAMESPACES = ['a', 'b', 'c'];
const ZONES = ['z0', 'z1', 'z2'];
const APPS = ['api', 'db', 'web', 'job'];
const IMAGES = [
  ['registry.example.com/api:1', 400],
  ['registry.example.com/db:2', 900],
  ['web:latest', 250],
  ['tools', 40],
  ['registry.example.com:5000/base:3', 1_500],
  ['small:1', 8],
];
const MB = 1024 * 1024;
const HOSTNAME = 'kubernetes.io/hostname';
const ZONE = 'topology.kubernetes.io/zone';
const KEYS = [HOSTNAME, ZONE, ZONE, 'rack', 'topology.kubernetes.io/region'];
const TAINTS = ['dedicated', 'maintenance', 'gpu'];
const EFFECTS = ['NoSchedule', 'PreferNoSchedule', 'PreferNoSchedule', 'NoExecute'];

/** The objects of one cluster. Pods without a node are to be placed in this order. */
export function generateCluster(seed) {
  const choices = randomChoices(seed);
  // In a third of the clusters all nodes are alike, large, and more or less empty, so that more of them fit equally well.
  const isUniform = choices.chance(0.33);
  const nodes = list(choices, 1, choices.chance(0.2) ? 25 : 9, (index) => node(choices, index, isUniform));
  const names = nodes.map(({ metadata }) => metadata.name);
  const storage = generateStorage(choices, nodes, NAMESPACES);
  const devices = generateDevices(choices, nodes, NAMESPACES);
  const context = { choices, names, storage, devices };
  const bound = list(choices, 0, nodes.length * (isUniform ? 1 : 4), (index) =>
    pod(context, `r${index}`, choices.pick(names)),
  );
  const pending = list(choices, 5, 20, (index) => pod(context, `p${index}`));
  return [
    ...NAMESPACES.map((name, index) =>
      namespaced('v1', 'Namespace', name, undefined, { labels: { team: `t${index % 2}` } }),
    ),
    ...nodes,
    ...storage.objects,
    ...devices.objects,
    ...list(choices, 0, 4, (index) => service(choices, index)),
    ...controllers(choices),
    ...list(choices, 0, 3, (index) => budget(choices, index)),
    ...bound,
    ...pending,
  ];
}

function list({ below }, least, most, make) {
  return Array.from({ length: least + below(most - least + 1) }, (_, index) => make(index));
}

export function namespaced(apiVersion, kind, name, namespace, metadata = {}) {
  const uid = `${kind}-${namespace ?? ''}-${name}`;
  return { apiVersion, kind, metadata: { name, ...(namespace === undefined ? {} : { namespace }), uid, ...metadata } };
}

function node(choices, index, isUniform) {
  const { chance, below, pick } = choices;
  const name = `n${String(index).padStart(2, '0')}`;
  const labels = {
    ...(chance(0.95) ? { [HOSTNAME]: name } : {}),
    ...(chance(0.85) ? { [ZONE]: pick(ZONES), 'topology.kubernetes.io/region': pick(['r0', 'r1']) } : {}),
    ...(chance(0.5) ? { disk: pick(['ssd', 'hdd']) } : {}),
    ...(chance(0.5) ? { tier: String(below(6)) } : {}),
    ...(chance(0.6) ? { rack: `k${below(4)}` } : {}),
  };
  const images = IMAGES.filter(() => chance(0.35)).map(([image, size]) => ({
    names: [image.includes(':') ? image : `${image}:latest`],
    sizeBytes: size * MB,
  }));
  return {
    ...namespaced('v1', 'Node', name, undefined, { labels }),
    spec: {
      ...(chance(0.06) ? { unschedulable: true } : {}),
      ...(chance(0.3) ? { taints: list(choices, 1, 2, (at) => taint(choices, at)) } : {}),
    },
    status: {
      allocatable: isUniform ? { cpu: '32', memory: '128Gi', pods: '110' } : allocatable(choices),
      ...(images.length === 0 ? {} : { images }),
    },
  };
}

function allocatable({ chance, pick, below }) {
  return {
    ...(chance(0.98) ? { cpu: `${pick([500, 1000, 2000, 4000, 7910, 16000])}m` } : {}),
    ...(chance(0.98) ? { memory: pick(['1Gi', '2Gi', '4Gi', '7835Mi', '32Gi', '64Gi']) } : {}),
    ...(chance(0.8) ? { 'ephemeral-storage': pick(['10Gi', '100Gi']) } : {}),
    pods: pick(['4', '8', '30', '110']),
    ...(chance(0.3) ? { 'example.com/gpu': String(below(4)) } : {}),
    ...(chance(0.2) ? { 'hugepages-2Mi': '64Mi' } : {}),
  };
}

function taint({ pick, chance }, at) {
  return { key: TAINTS[at], effect: pick(EFFECTS), ...(chance(0.6) ? { value: pick(['x', 'y']) } : {}) };
}

function toleration({ pick, chance }) {
  const key = chance(0.1) ? undefined : pick([...TAINTS, 'node.kubernetes.io/unschedulable']);
  const operator = key === undefined || chance(0.5) ? 'Exists' : 'Equal';
  return {
    ...(key === undefined ? {} : { key }),
    operator,
    ...(operator === 'Equal' ? { value: pick(['x', 'y', '']) } : {}),
    ...(chance(0.5) ? { effect: pick(EFFECTS) } : {}),
  };
}

function requests({ chance, pick }) {
  return {
    ...(chance(0.75) ? { cpu: pick(['0', '50m', '100m', '250m', '0.5', '1', '1500m', '3']) } : {}),
    ...(chance(0.7) ? { memory: pick(['0', '64Mi', '128Mi', '500M', '1Gi', '3Gi']) } : {}),
    ...(chance(0.08) ? { 'ephemeral-storage': pick(['1Gi', '20Gi']) } : {}),
    ...(chance(0.06) ? { 'example.com/gpu': pick(['1', '2']) } : {}),
    ...(chance(0.03) ? { 'hugepages-2Mi': '32Mi' } : {}),
  };
}

function container(choices, name, more = {}) {
  const { pick, chance, below } = choices;
  const port = { containerPort: 80, hostPort: 8000 + below(3), protocol: pick(['TCP', 'TCP', 'UDP']) };
  return {
    name,
    image: pick(IMAGES)[0],
    resources: chance(0.85) ? { requests: requests(choices) } : {},
    ...(chance(0.07)
      ? { ports: [{ ...port, ...(chance(0.4) ? { hostIP: pick(['10.0.0.1', '10.0.0.2', '0.0.0.0']) } : {}) }] }
      : {}),
    ...more,
  };
}

function initContainers(choices) {
  if (!choices.chance(0.15)) return {};
  const make = (index) => container(choices, `i${index}`, choices.chance(0.4) ? { restartPolicy: 'Always' } : {});
  return { initContainers: list(choices, 1, 3, make) };
}

function labelSelector(choices) {
  const { chance, pick } = choices;
  if (chance(0.03)) return undefined;
  if (chance(0.04)) return {};
  if (chance(0.6)) return { matchLabels: { app: pick(APPS) } };
  return {
    matchExpressions: [
      chance(0.5)
        ? { key: 'app', operator: pick(['In', 'NotIn']), values: [pick(APPS), pick(APPS)] }
        : { key: 'version', operator: pick(['Exists', 'DoesNotExist']) },
    ],
  };
}

function nodeTerm(choices, names) {
  const { chance, pick, below } = choices;
  const expression = pick([
    { key: 'disk', operator: 'In', values: ['ssd', pick(['hdd', 'nvme'])] },
    { key: 'disk', operator: 'NotIn', values: ['hdd'] },
    { key: 'rack', operator: pick(['Exists', 'DoesNotExist']) },
    { key: 'tier', operator: pick(['Gt', 'Lt']), values: [String(below(6))] },
    { key: ZONE, operator: 'In', values: [pick(ZONES), pick(ZONES)] },
  ]);
  const field = { key: 'metadata.name', operator: chance(0.8) ? 'In' : 'NotIn', values: [pick([...names, 'absent'])] };
  if (chance(0.12)) return { matchFields: [field], ...(chance(0.3) ? { matchExpressions: [expression] } : {}) };
  return { matchExpressions: [expression] };
}

function nodeAffinity(choices, names) {
  const { chance, below } = choices;
  const required = chance(0.12);
  const preferred = chance(0.15);
  if (!required && !preferred) return {};
  return {
    nodeAffinity: {
      ...(required
        ? {
            requiredDuringSchedulingIgnoredDuringExecution: {
              nodeSelectorTerms: list(choices, 1, 2, () => nodeTerm(choices, names)),
            },
          }
        : {}),
      ...(preferred
        ? {
            preferredDuringSchedulingIgnoredDuringExecution: list(choices, 1, 3, () => ({
              weight: 1 + below(100),
              preference: nodeTerm(choices, names),
            })),
          }
        : {}),
    },
  };
}

function affinityTerm(choices) {
  const { chance, pick } = choices;
  const selector = labelSelector(choices);
  return {
    topologyKey: pick(KEYS),
    ...(selector === undefined ? {} : { labelSelector: selector }),
    ...(chance(0.15) ? { namespaces: [pick(NAMESPACES)] } : {}),
    ...(chance(0.15) ? { namespaceSelector: chance(0.3) ? {} : { matchLabels: { team: pick(['t0', 't1']) } } } : {}),
  };
}

function podAffinity(choices, name, requiredShare) {
  const { chance, below } = choices;
  const required = chance(requiredShare);
  const preferred = chance(0.12);
  if (!required && !preferred) return {};
  return {
    [name]: {
      ...(required
        ? { requiredDuringSchedulingIgnoredDuringExecution: list(choices, 1, 2, () => affinityTerm(choices)) }
        : {}),
      ...(preferred
        ? {
            preferredDuringSchedulingIgnoredDuringExecution: list(choices, 1, 2, () => ({
              weight: 1 + below(100),
              podAffinityTerm: affinityTerm(choices),
            })),
          }
        : {}),
    },
  };
}

function affinity({ choices, names }) {
  const parts = {
    ...nodeAffinity(choices, names),
    ...podAffinity(choices, 'podAffinity', 0.07),
    ...podAffinity(choices, 'podAntiAffinity', 0.1),
  };
  return Object.keys(parts).length === 0 ? {} : { affinity: parts };
}

function spread(choices) {
  const { chance, pick, below } = choices;
  if (!chance(0.2)) return {};
  const constraint = () => {
    const selector = labelSelector(choices);
    const whenUnsatisfiable = pick(['DoNotSchedule', 'ScheduleAnyway']);
    return {
      maxSkew: 1 + below(3),
      topologyKey: pick(KEYS),
      whenUnsatisfiable,
      ...(selector === undefined ? {} : { labelSelector: selector }),
      ...(whenUnsatisfiable === 'DoNotSchedule' && chance(0.2) ? { minDomains: 1 + below(4) } : {}),
      ...(chance(0.2) ? { nodeAffinityPolicy: pick(['Honor', 'Ignore']) } : {}),
      ...(chance(0.2) ? { nodeTaintsPolicy: pick(['Honor', 'Ignore']) } : {}),
      ...(selector !== undefined && chance(0.2) ? { matchLabelKeys: ['version'] } : {}),
    };
  };
  return { topologySpreadConstraints: list(choices, 1, 2, constraint) };
}

function pod(context, name, nodeName) {
  const { choices, names } = context;
  const { chance, pick, below } = choices;
  const namespace = pick(NAMESPACES);
  const labels = { app: pick(APPS), ...(chance(0.4) ? { version: `v${below(3)}` } : {}) };
  const isTerminating = nodeName !== undefined && chance(0.05);
  const metadata = {
    ...(chance(0.95) ? { labels } : {}),
    ...(chance(0.2) ? { ownerReferences: [owner(choices, namespace)] } : {}),
    ...(isTerminating ? { deletionTimestamp: '2026-11-18T09:00:00Z', deletionGracePeriodSeconds: 30 } : {}),
  };
  const spec = {
    schedulerName: 'default-scheduler',
    ...(nodeName === undefined ? {} : { nodeName }),
    priority: pick([0, 0, 0, 0, 10, 100, 1000, -5]),
    ...(chance(0.05) ? { preemptionPolicy: 'Never' } : {}),
    ...initContainers(choices),
    containers: list(choices, 1, 2, (index) => container(choices, `c${index}`)),
    ...(chance(0.05) ? { overhead: { cpu: '100m', memory: '64Mi' } } : {}),
    ...(chance(0.03)
      ? { resources: { requests: { cpu: pick(['200m', '2']), ...(chance(0.5) ? { memory: '256Mi' } : {}) } } }
      : {}),
    ...(chance(0.08)
      ? { nodeSelector: pick([{ disk: 'ssd' }, { rack: `k${below(4)}` }, { [ZONE]: pick(ZONES) }]) }
      : {}),
    ...affinity(context),
    ...spread(choices),
    ...(chance(0.35) ? { tolerations: list(choices, 1, 2, () => toleration(choices)) } : {}),
    ...podVolumes(context, namespace, name),
    ...podClaims(context, namespace),
  };
  const status =
    nodeName === undefined
      ? chance(0.04) && spec.resourceClaims === undefined // otherwise it is a race in the reference whether it counts
        ? { phase: 'Pending', nominatedNodeName: pick([...names, 'gone']) }
        : { phase: 'Pending' }
      : { phase: 'Running', startTime: startTime(name), ...(isTerminating ? { conditions: [disruption] } : {}) };
  return { ...namespaced('v1', 'Pod', name, namespace, metadata), spec, status };
}

const disruption = { type: 'DisruptionTarget', status: 'True', reason: 'PreemptionByScheduler' };

/** Different for each pod of a cluster, in no particular order. */
function startTime(name) {
  const number = Number(name.slice(1));
  return new Date(Date.UTC(2026, 10, 1) + ((number * 7919) % 10007) * 60_000).toISOString().replace('.000Z', 'Z');
}

function owner({ pick, chance }, namespace) {
  const [apiVersion, kind] = pick([
    ['apps/v1', 'ReplicaSet'],
    ['apps/v1', 'StatefulSet'],
    ['v1', 'ReplicationController'],
    ['batch/v1', 'Job'],
  ]);
  const name = `c-${pick(APPS)}`;
  return { apiVersion, kind, name, uid: `${kind}-${namespace}-${name}`, controller: chance(0.9) };
}

function controllers({ chance }) {
  const make = ([apiVersion, kind], namespace, app) => {
    const labels = { app };
    const selector = kind === 'ReplicationController' ? labels : { matchLabels: labels };
    const template = { metadata: { labels }, spec: { containers: [] } };
    return { ...namespaced(apiVersion, kind, `c-${app}`, namespace), spec: { selector, template } };
  };
  const kinds = [
    ['apps/v1', 'ReplicaSet'],
    ['apps/v1', 'StatefulSet'],
    ['v1', 'ReplicationController'],
  ];
  return kinds.flatMap((kind) =>
    NAMESPACES.flatMap((namespace) => APPS.filter(() => chance(0.5)).map((app) => make(kind, namespace, app))),
  );
}

function service({ pick, chance }, index) {
  const selector = pick([{ app: pick(APPS) }, { app: pick(APPS), version: 'v1' }]);
  return { ...namespaced('v1', 'Service', `s${index}`, pick(NAMESPACES)), spec: chance(0.9) ? { selector } : {} };
}

function budget({ pick, below }, index) {
  return {
    ...namespaced('policy/v1', 'PodDisruptionBudget', `b${index}`, pick(NAMESPACES)),
    spec: { selector: { matchLabels: { app: pick(APPS) } }, minAvailable: 1 },
    status: { disruptionsAllowed: below(3), currentHealthy: 1, desiredHealthy: 1, expectedPods: 1 },
  };
}
