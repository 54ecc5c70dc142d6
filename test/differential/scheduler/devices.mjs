/**
 * Generates devices and resource claims for the comparison of schedulers. They have the version that the reference reads;
 * `currentVersion` converts them to that of the library.
 */
import { namespaced } from './clusters.mjs';

const VERSION = 'resource.k8s.io/v1beta1';
const DRIVER = 'gpu.example.com';

export function generateDevices(choices, nodes, namespaces) {
  const { chance, below, pick } = choices;
  if (chance(0.75)) return { objects: [], resourceClaims: [], greedy: new Set() };
  const classes = ['any', 'large'].map((name) => ({
    ...namespaced(VERSION, 'DeviceClass', name),
    spec: {
      selectors: [{ cel: { expression: name === 'any' ? `device.driver == "${DRIVER}"` : expression('size > 40') } }],
    },
  }));
  const slices = nodes
    .filter(() => chance(0.7))
    .map(({ metadata }) => slice(choices, metadata.name, { nodeName: metadata.name }));
  if (chance(0.3)) slices.push(slice(choices, 'network', { allNodes: true }));
  if (chance(0.2)) slices.push(slice(choices, 'zone', { nodeSelector: zoneSelector(pick(['z0', 'z1'])) }));
  const resourceClaims = Array.from({ length: 2 + below(8) }, (_, index) =>
    claim(choices, { namespaces, slices, index }),
  );
  const greedy = resourceClaims.filter(({ spec }) => spec.devices.requests[0].allocationMode === 'All');
  return {
    objects: [...classes, ...slices, ...resourceClaims],
    resourceClaims: resourceClaims.map(({ metadata }) => metadata),
    greedy: new Set(greedy.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`)),
  };
}

function expression(condition) {
  return `device.attributes["${DRIVER}"].${condition}`;
}

function zoneSelector(zone) {
  return {
    nodeSelectorTerms: [{ matchExpressions: [{ key: 'topology.kubernetes.io/zone', operator: 'In', values: [zone] }] }],
  };
}

function slice({ below, pick, chance }, name, nodes) {
  const devices = Array.from({ length: 1 + below(4) }, (_, index) => ({
    name: `d${index}`,
    basic: {
      attributes: { size: { int: pick([16, 40, 80]) }, model: { string: pick(['x', 'y']) } },
      capacity: { memory: { value: pick(['16Gi', '80Gi']) } },
    },
  }));
  const pool = { name, generation: 1, resourceSliceCount: chance(0.95) ? 1 : 2 };
  return {
    ...namespaced(VERSION, 'ResourceSlice', `slice-${name}`),
    spec: { driver: DRIVER, pool, ...nodes, devices },
  };
}

function request({ pick, chance, below }, index) {
  const selectors = [
    {
      cel: {
        expression: pick([
          expression('model == "x"'),
          `device.capacity["${DRIVER}"].memory.compareTo(quantity("20Gi")) > 0`,
        ]),
      },
    },
  ];
  const mode = chance(0.85) ? { allocationMode: 'ExactCount', count: 1 + below(3) } : { allocationMode: 'All' };
  return {
    name: `r${index}`,
    deviceClassName: chance(0.96) ? pick(['any', 'large']) : 'absent',
    ...mode,
    ...(chance(0.5) ? { selectors } : {}),
  };
}

function claim(choices, { namespaces, slices, index }) {
  const { pick, chance, below } = choices;
  const all = Array.from({ length: 1 + below(2) }, (_, at) => request(choices, at));
  // With a request for all devices and another one, or with a constraint, the result of the reference depends on its random
  // order of pools.
  const hasAll = all[0].allocationMode === 'All';
  const requests = hasAll ? [all[0]] : all.filter(({ allocationMode }) => allocationMode !== 'All');
  const constraints = [{ matchAttribute: `${DRIVER}/model`, ...(chance(0.3) ? { requests: ['r0'] } : {}) }];
  const chosen = slices.length > 0 && chance(0.35) ? pick(slices) : undefined;
  return {
    ...namespaced(VERSION, 'ResourceClaim', `devices-${index}`, pick(namespaces), {
      ...(chance(0.02) ? { deletionTimestamp: '2026-11-18T09:00:00Z' } : {}),
    }),
    spec: { devices: { requests, ...(chance(0.3) && !hasAll ? { constraints } : {}) } },
    status: chosen === undefined ? {} : allocated(choices, chosen),
  };
}

function allocated({ pick, chance }, { spec }) {
  const result = { request: 'r0', driver: DRIVER, pool: spec.pool.name, device: pick(spec.devices).name };
  const fields = [{ key: 'metadata.name', operator: 'In', values: [spec.nodeName] }];
  const nodeSelector =
    spec.nodeName === undefined ? spec.nodeSelector : { nodeSelectorTerms: [{ matchFields: fields }] };
  return {
    allocation: { devices: { results: [result] }, ...(nodeSelector === undefined ? {} : { nodeSelector }) },
    ...(chance(0.5) ? { reservedFor: [{ resource: 'pods', name: 'other', uid: 'other' }] } : {}),
  };
}

/** The resource claims of a pod. */
export function podClaims({ choices, devices }, namespace) {
  const { chance, pick } = choices;
  const names = devices.resourceClaims.filter((each) => each.namespace === namespace).map(({ name }) => name);
  if (names.length === 0 || !chance(0.5)) return {};
  const used = [chance(0.97) ? pick(names) : 'absent', ...(chance(0.3) ? [pick(names)] : [])];
  // The same as for two requests of a claim.
  const alone = used.find((name) => devices.greedy.has(`${namespace}/${name}`));
  const claims = alone === undefined ? [...new Set(used)] : [alone];
  return { resourceClaims: claims.map((resourceClaimName, index) => ({ name: `c${index}`, resourceClaimName })) };
}

/** The same object in the version of the library. */
export function currentVersion(object) {
  if (object.kind === 'ResourceSlice') {
    const devices = object.spec.devices.map(({ name, basic }) => ({ name, ...basic }));
    return { ...object, spec: { ...object.spec, devices } };
  }
  if (object.kind !== 'ResourceClaim') return object;
  const requests = object.spec.devices.requests.map(({ name, ...exactly }) => ({ name, exactly }));
  return { ...object, spec: { devices: { ...object.spec.devices, requests } } };
}
