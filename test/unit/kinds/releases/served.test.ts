/** The versions that each release serves, and their warnings. spec: Removed API versions */
import { describe, expect, test } from 'vitest';
import { emulate, RELEASES } from './wire.js';

interface Row {
  readonly path: string;
  readonly kind: string;
  readonly from?: number;
  /** The first minor release that warns. */
  readonly deprecated?: number;
  /** The first minor release that does not serve it. */
  readonly removed?: number;
  /** The text after the semicolon, by the first minor release with that text. */
  readonly use?: Readonly<Record<number, string>>;
}

const FLOW = '/apis/flowcontrol.apiserver.k8s.io';
const flow = (version: string) => `flowcontrol.apiserver.k8s.io/${version}`;
const HPA = 'HorizontalPodAutoscaler';

/** Disabled by default in the reference release. */
const REMOVED: readonly Row[] = [
  ...['FlowSchema', 'PriorityLevelConfiguration'].flatMap((kind): Row[] => {
    const plural = `${kind.toLowerCase()}s`;
    return [
      {
        path: `${FLOW}/v1beta3/${plural}`,
        kind,
        from: 26,
        deprecated: 29,
        removed: 32,
        use: { 29: `${flow('v1')} ${kind}` },
      },
      {
        path: `${FLOW}/v1beta2/${plural}`,
        kind,
        from: 23,
        deprecated: 26,
        removed: 29,
        use: { 26: `${flow('v1beta3')} ${kind}` },
      },
      {
        path: `${FLOW}/v1beta1/${plural}`,
        kind,
        deprecated: 23,
        removed: 26,
        use: { 23: `${flow('v1beta2')} ${kind}` },
      },
    ];
  }),
  {
    path: '/apis/storage.k8s.io/v1beta1/csistoragecapacities',
    kind: 'CSIStorageCapacity',
    deprecated: 24,
    removed: 27,
    use: { 24: 'storage.k8s.io/v1 CSIStorageCapacity' },
  },
  {
    path: '/apis/autoscaling/v2beta2/horizontalpodautoscalers',
    kind: HPA,
    deprecated: 23,
    removed: 26,
    use: { 23: `autoscaling/v2 ${HPA}` },
  },
  {
    path: '/apis/autoscaling/v2beta1/horizontalpodautoscalers',
    kind: HPA,
    deprecated: 22,
    removed: 25,
    use: { 22: `autoscaling/v2beta2 ${HPA}`, 23: `autoscaling/v2 ${HPA}` },
  },
  {
    path: '/apis/batch/v1beta1/cronjobs',
    kind: 'CronJob',
    deprecated: 21,
    removed: 25,
    use: { 21: 'batch/v1 CronJob' },
  },
  {
    path: '/apis/discovery.k8s.io/v1beta1/endpointslices',
    kind: 'EndpointSlice',
    deprecated: 21,
    removed: 25,
    use: { 21: 'discovery.k8s.io/v1 EndpointSlice' },
  },
  { path: '/apis/events.k8s.io/v1beta1/events', kind: 'Event', deprecated: 22, removed: 25 },
  {
    path: '/apis/policy/v1beta1/poddisruptionbudgets',
    kind: 'PodDisruptionBudget',
    deprecated: 21,
    removed: 25,
    use: { 21: 'policy/v1 PodDisruptionBudget' },
  },
  { path: '/apis/node.k8s.io/v1beta1/runtimeclasses', kind: 'RuntimeClass', deprecated: 22, removed: 25 },
  // Removed before the first release that can be emulated, or omitted.
  ...[
    ['/apis/policy/v1beta1/podsecuritypolicies', 25],
    ['/apis/admissionregistration.k8s.io/v1beta1/mutatingwebhookconfigurations', 22],
    ['/apis/apiextensions.k8s.io/v1beta1/customresourcedefinitions', 22],
    ['/apis/apiregistration.k8s.io/v1beta1/apiservices', 22],
    ['/apis/certificates.k8s.io/v1beta1/certificatesigningrequests', 22],
    ['/apis/coordination.k8s.io/v1beta1/leases', 22],
    ['/apis/networking.k8s.io/v1beta1/ingresses', 22],
    ['/apis/networking.k8s.io/v1beta1/ingressclasses', 22],
    ['/apis/rbac.authorization.k8s.io/v1beta1/roles', 22],
    ['/apis/scheduling.k8s.io/v1beta1/priorityclasses', 22],
    ['/apis/storage.k8s.io/v1beta1/csidrivers', 22],
    ['/apis/storage.k8s.io/v1beta1/storageclasses', 22],
    ['/apis/extensions/v1beta1/networkpolicies', 16],
    ['/apis/apps/v1beta2/daemonsets', 16],
  ].map(([path]): Row => ({ path: String(path), kind: '', removed: 0 })),
];

/** Kinds that older releases did not have. Beta and alpha versions must be enabled, with their feature gates. */
const ADDED: readonly (readonly [path: string, from: number, config?: string, gate?: string])[] = [
  [`${FLOW}/v1/flowschemas`, 29],
  [`${FLOW}/v1/prioritylevelconfigurations`, 29],
  ['/apis/autoscaling/v2/horizontalpodautoscalers', 23],
  ['/apis/storage.k8s.io/v1/csistoragecapacities', 24],
  ['/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies', 30],
  ['/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings', 30],
  [
    '/apis/admissionregistration.k8s.io/v1beta1/validatingadmissionpolicies',
    28,
    'admissionregistration.k8s.io/v1beta1',
  ],
  [
    '/apis/admissionregistration.k8s.io/v1alpha1/mutatingadmissionpolicies',
    32,
    'admissionregistration.k8s.io/v1alpha1',
    'MutatingAdmissionPolicy',
  ],
  ['/apis/networking.k8s.io/v1/ipaddresses', 33],
  ['/apis/networking.k8s.io/v1/servicecidrs', 33],
  ['/apis/networking.k8s.io/v1beta1/ipaddresses', 31, 'networking.k8s.io/v1beta1'],
  ['/apis/networking.k8s.io/v1beta1/servicecidrs', 31, 'networking.k8s.io/v1beta1'],
  ['/apis/certificates.k8s.io/v1alpha1/clustertrustbundles', 27, 'certificates.k8s.io/v1alpha1', 'ClusterTrustBundle'],
  ['/apis/certificates.k8s.io/v1beta1/clustertrustbundles', 33, 'certificates.k8s.io/v1beta1', 'ClusterTrustBundle'],
  ['/apis/storage.k8s.io/v1alpha1/volumeattributesclasses', 29, 'storage.k8s.io/v1alpha1', 'VolumeAttributesClass'],
  ['/apis/storage.k8s.io/v1beta1/volumeattributesclasses', 31, 'storage.k8s.io/v1beta1', 'VolumeAttributesClass'],
  ['/apis/resource.k8s.io/v1alpha3/deviceclasses', 31, 'resource.k8s.io/v1alpha3', 'DynamicResourceAllocation'],
  ['/apis/resource.k8s.io/v1beta1/resourceclaims', 32, 'resource.k8s.io/v1beta1', 'DynamicResourceAllocation'],
  ['/apis/resource.k8s.io/v1beta2/resourceslices', 33, 'resource.k8s.io/v1beta2', 'DynamicResourceAllocation'],
  [
    '/apis/coordination.k8s.io/v1alpha2/leasecandidates',
    32,
    'coordination.k8s.io/v1alpha2',
    'CoordinatedLeaderElection',
  ],
  ['/apis/coordination.k8s.io/v1beta1/leasecandidates', 33, 'coordination.k8s.io/v1beta1', 'CoordinatedLeaderElection'],
  [
    '/apis/storagemigration.k8s.io/v1alpha1/storageversionmigrations',
    30,
    'storagemigration.k8s.io/v1alpha1',
    'StorageVersionMigrator',
  ],
];

const minorOf = (release: string): number => Number(release.split('.')[1]);

function expectedWarnings({ path, kind, deprecated, removed, use = {} }: Row, minor: number): string[] {
  if (deprecated === undefined || minor < deprecated) return [];
  const [, , group, version] = path.split('/');
  const named = Object.entries(use).findLast(([since]) => Number(since) <= minor)?.[1];
  const instead = named === undefined ? '' : `; use ${named}`;
  return [`${group}/${version} ${kind} is deprecated in v1.${deprecated}+, unavailable in v1.${removed}+${instead}`];
}

describe.each(RELEASES)('release %s', (release) => {
  const minor = minorOf(release);
  const { send } = emulate(release);

  test.each(REMOVED.map((row) => [row.path, row] as const))('serves or has removed %s', async (path, row) => {
    const { from = 0, removed = 99 } = row;
    const { code, warnings } = await send('GET', path);
    const isServed = from <= minor && minor < removed && row.kind !== '';
    expect(code).toBe(isServed ? 200 : 404);
    expect(warnings).toEqual(isServed ? expectedWarnings(row, minor) : []);
  });

  test.each(ADDED.map((row) => [row[0], row[1], row] as const))('serves %s from 1.%i on', async (path, from, row) => {
    const [, , config, gate] = row;
    const hasGate = gate !== undefined && minor >= from;
    const target =
      config === undefined
        ? { send }
        : emulate(release, { runtimeConfig: config, ...(hasGate ? { featureGates: { [gate]: true } } : {}) });
    expect((await target.send('GET', path)).code).toBe(minor >= from ? 200 : 404);
  });

  test('serves SelfSubjectReview from 1.28 on', async () => {
    const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview', metadata: {} };
    const { code } = await send('POST', '/apis/authentication.k8s.io/v1/selfsubjectreviews', review);
    expect(code).toBe(minor >= 28 ? 201 : 404);
  });

  test('lists its kinds in discovery, each version of a group once', async () => {
    const { body } = await send('GET', '/apis');
    const groups = body.groups as { name: string; versions: { version: string }[]; preferredVersion: object }[];
    for (const { name, versions, preferredVersion } of groups) {
      expect(new Set(versions.map(({ version }) => version)).size, name).toBe(versions.length);
      expect(preferredVersion, name).toEqual(versions[0]);
    }
    const listed = groups.flatMap(({ name, versions }) => versions.map(({ version }) => `/apis/${name}/${version}`));
    for (const { path, kind, from = 0, removed = 99 } of REMOVED) {
      const isServed = from <= minor && minor < removed && kind !== '';
      const [groupVersion = ''] = /^\/apis\/[^/]+\/[^/]+/.exec(path) ?? [];
      if (isServed) expect(listed).toContain(groupVersion);
    }
  });

  test('reports its version', async () => {
    const { body } = await send('GET', '/version');
    expect(body).toMatchObject({
      major: '1',
      minor: String(minor),
      emulationMajor: '1',
      emulationMinor: String(minor),
      minCompatibilityMajor: '1',
      minCompatibilityMinor: String(minor - 1),
      gitVersion: `v1.${minor}.0+orchplane`,
    });
  });
});

test.each([
  ['1.22', 'autoscaling', ['v1', 'v2beta1', 'v2beta2']],
  ['1.24', 'autoscaling', ['v2', 'v1', 'v2beta1', 'v2beta2']],
  ['1.25', 'autoscaling', ['v2', 'v1', 'v2beta2']],
  ['1.33', 'autoscaling', ['v2', 'v1']],
  ['1.22', 'flowcontrol.apiserver.k8s.io', ['v1beta1']],
  ['1.24', 'flowcontrol.apiserver.k8s.io', ['v1beta2', 'v1beta1']],
  ['1.28', 'flowcontrol.apiserver.k8s.io', ['v1beta3', 'v1beta2']],
  ['1.31', 'flowcontrol.apiserver.k8s.io', ['v1', 'v1beta3']],
  ['1.33', 'flowcontrol.apiserver.k8s.io', ['v1']],
  ['1.24', 'batch', ['v1', 'v1beta1']],
  ['1.24', 'discovery.k8s.io', ['v1', 'v1beta1']],
  ['1.24', 'events.k8s.io', ['v1', 'v1beta1']],
  ['1.24', 'node.k8s.io', ['v1', 'v1beta1']],
  ['1.24', 'policy', ['v1', 'v1beta1']],
  ['1.26', 'storage.k8s.io', ['v1', 'v1beta1']],
  ['1.27', 'storage.k8s.io', ['v1']],
] as const)('lists in release %s the group %s as %j, the preferred version first', async (release, group, versions) => {
  const { body } = await emulate(release).send('GET', `/apis/${group}`);
  expect((body.versions as { version: string }[]).map(({ version }) => version)).toEqual(versions);
  expect(body.preferredVersion).toEqual({ groupVersion: `${group}/${versions[0]}`, version: versions[0] });
});

test('behaves the same with the reference release set explicitly or by default', async () => {
  const [explicit, implicit] = [emulate('1.33'), emulate('1.33', { release: undefined })];
  for (const path of ['/apis', '/version', '/openapi/v2', '/openapi/v3']) {
    expect((await explicit.send('GET', path)).body).toEqual((await implicit.send('GET', path)).body);
  }
  expect(explicit.cluster.kinds().length).toBe(implicit.cluster.kinds().length);
});

test.each(['1.21', '1.34', '2.0', '1', 'v1.24'])('rejects the release %s', (release) => {
  expect(() => emulate(release as '1.24')).toThrow(TypeError);
});
