/** Validation of CSIDrivers, CSINodes and CSIStorageCapacities. */
import {
  CSIDriver,
  type CSIDriverInput,
  CSINode,
  type CSINodeInput,
  CSIStorageCapacity,
  type CSIStorageCapacityInput,
} from 'orchplane/kinds';
import { testCluster } from 'orchplane/testing';
import { describe, expect, test } from 'vitest';
import { invalidWith } from '../rejections.js';

interface Named {
  metadata: { name: string };
}

const SUBDOMAIN =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

describe('a CSIDriver', () => {
  const input = (spec: object, metadata: object = {}) =>
    ({ metadata: { name: 'd', ...metadata }, spec }) as CSIDriverInput & Named;
  const drivers = (featureGates = {}) => testCluster({ featureGates }).api(CSIDriver);

  test('sets the defaults of a CSIDriver', async () => {
    expect((await drivers().create(input({ volumeLifecycleModes: [] }))).spec).toEqual({
      attachRequired: true,
      podInfoOnMount: false,
      volumeLifecycleModes: ['Persistent'],
      storageCapacity: false,
      fsGroupPolicy: 'ReadWriteOnceWithFSType',
      requiresRepublish: false,
      seLinuxMount: false,
    });
  });

  test('keeps the update period only if the feature gate is enabled', async () => {
    const spec = { nodeAllocatableUpdatePeriodSeconds: 9 };
    expect((await drivers().create(input(spec))).spec).not.toHaveProperty('nodeAllocatableUpdatePeriodSeconds');
    await expect(drivers({ MutableCSINodeAllocatableCount: true }).create(input(spec))).rejects.toMatchObject(
      invalidWith([
        'spec.nodeAllocatableUpdatePeriodSeconds',
        'Invalid value: 9: must be greater than or equal to 10 seconds',
      ]),
    );
  });

  test.each([
    [
      'an unknown fsGroupPolicy',
      { fsGroupPolicy: 'Always' },
      [
        [
          'spec.fsGroupPolicy',
          'Unsupported value: "Always": supported values: "File", "None", "ReadWriteOnceWithFSType"',
        ],
      ],
    ],
    [
      'an unknown lifecycle mode',
      { volumeLifecycleModes: ['Forever'] },
      [['spec.volumeLifecycleModes', 'Unsupported value: "Forever": supported values: "Persistent", "Ephemeral"']],
    ],
    [
      'duplicate audiences and expirations out of range',
      {
        tokenRequests: [
          { audience: 'a', expirationSeconds: 599 },
          { audience: 'a', expirationSeconds: 1 },
          { audience: 'b', expirationSeconds: 2 ** 32 + 1 },
        ],
      },
      [
        [
          'spec.tokenRequests[0].expirationSeconds',
          'Invalid value: 599: may not specify a duration less than 10 minutes',
        ],
        ['spec.tokenRequests[1].audience', 'Duplicate value: "a"'],
        [
          'spec.tokenRequests[2].expirationSeconds',
          'Invalid value: 4294967297: may not specify a duration larger than 2^32 seconds',
        ],
      ],
    ],
  ] as const)('rejects a CSIDriver with %s', async (_what, spec, causes) => {
    await expect(drivers().create(input(spec))).rejects.toMatchObject(invalidWith(...causes));
  });

  test('gets a generation with its first change', async () => {
    const api = drivers();
    const created = await api.create(input({}));
    expect(created.metadata.generation).toBeUndefined();
    const labelled = await api.update({ ...created, metadata: { ...created.metadata, labels: { a: 'b' } } });
    expect(labelled.metadata.generation).toBeUndefined();
    const changed = await api.update({ ...labelled, spec: { ...labelled.spec, podInfoOnMount: true } });
    expect(changed.metadata.generation).toBe(1);
    const { resourceVersion } = changed.metadata;
    await expect(
      api.update(input({ attachRequired: false, volumeLifecycleModes: ['Ephemeral'] }, { resourceVersion })),
    ).rejects.toMatchObject(
      invalidWith(
        ['spec.attachedRequired', 'Invalid value: false: field is immutable'],
        ['spec.volumeLifecycleModes', 'Invalid value: []storage.VolumeLifecycleMode{"Ephemeral"}: field is immutable'],
      ),
    );
  });
});

describe('a CSINode', () => {
  const input = (drivers: unknown, metadata: object = {}) =>
    ({ metadata: { name: 'n', ...metadata }, spec: { drivers } }) as CSINodeInput & Named;
  const create = (drivers: unknown) => testCluster().api(CSINode).create(input(drivers));

  test('stores empty lists as null', async () => {
    const nodes = testCluster({ dialect: 'kubernetes' }).api(CSINode);
    expect((await nodes.create(input([]))).spec).toEqual({ drivers: null });
    expect((await create([{ name: 'D', nodeID: 'n', topologyKeys: [] }])).spec.drivers).toEqual([
      { name: 'D', nodeID: 'n', topologyKeys: null },
    ]);
  });

  test.each([
    [
      'a driver without fields',
      [{}],
      [
        ['spec.drivers[0].name', 'Required value'],
        ['spec.drivers[0].name', `Invalid value: "": ${SUBDOMAIN}`],
        ['spec.drivers[0].nodeID', 'Required value'],
      ],
    ],
    [
      'long names and a negative count',
      [{ name: 'a'.repeat(64), nodeID: 'b'.repeat(257), allocatable: { count: -1 } }],
      [
        ['spec.drivers[0].name', 'Too long: may not be more than 63 bytes'],
        ['spec.drivers[0].nodeID', `Invalid value: "${'b'.repeat(257)}": must be 256 characters or less`],
        ['spec.drivers[0].allocatable.count', 'Invalid value: -1: must be greater than or equal to 0'],
      ],
    ],
    [
      'a duplicate driver',
      [
        { name: 'a', nodeID: 'n' },
        { name: 'a', nodeID: 'n' },
      ],
      [['spec.drivers[1].name', 'Duplicate value: "a"']],
    ],
    [
      'duplicate topology keys',
      [{ name: 'a', nodeID: 'n', topologyKeys: ['k', 'k'] }],
      [['spec.drivers[0]', 'Duplicate value: "k"']],
    ],
    [
      'an empty topology key',
      [{ name: 'a', nodeID: 'n', topologyKeys: [''] }],
      [
        ['spec.drivers[0]', 'Required value'],
        ['spec.drivers[0]', 'Invalid value: "": name part must be non-empty'],
        ['spec.drivers[0]', expect.stringContaining('Invalid value: "": name part must consist of')],
      ],
    ],
  ] as const)('rejects %s', async (_what, drivers, causes) => {
    await expect(create(drivers)).rejects.toMatchObject(invalidWith(...causes));
  });

  test('allows adding and removing drivers, but not changing them', async () => {
    const nodes = testCluster().api(CSINode);
    const one = { name: 'a', nodeID: 'n', topologyKeys: ['k'] };
    const { metadata } = await nodes.create(input([one]));
    const version = { resourceVersion: metadata.resourceVersion };
    await expect(nodes.update(input([{ ...one, allocatable: { count: 1 } }], version))).rejects.toMatchObject(
      invalidWith([
        'spec.drivers',
        'Invalid value: storage.CSINodeDriver{Name:"a", NodeID:"n", TopologyKeys:[]string{"k"}, Allocatable:(*storage.VolumeNodeResources)(0xc000000000)}: field is immutable',
      ]),
    );
    await expect(nodes.update(input([{ name: 'b', nodeID: 'n' }], version))).resolves.toBeDefined();
  });

  test('reports each problem twice on update', async () => {
    const nodes = testCluster().api(CSINode);
    const { metadata } = await nodes.create(input([]));
    const changed = nodes.update(input([{ name: 'a' }], { resourceVersion: metadata.resourceVersion }));
    const problem = ['spec.drivers[0].nodeID', 'Required value'] as const;
    await expect(changed).rejects.toMatchObject(invalidWith(problem, problem));
  });

  test('allows changes of the allocatable count if the feature gate is enabled', async () => {
    const nodes = testCluster({ featureGates: { MutableCSINodeAllocatableCount: true } }).api(CSINode);
    const { metadata } = await nodes.create(input([{ name: 'a', nodeID: 'n' }]));
    const version = { resourceVersion: metadata.resourceVersion };
    await expect(
      nodes.update(input([{ name: 'a', nodeID: 'm', allocatable: { count: 1 } }], version)),
    ).rejects.toMatchObject({ reason: 'Invalid' });
    await expect(
      nodes.update(input([{ name: 'a', nodeID: 'n', allocatable: { count: 1 } }], version)),
    ).resolves.toMatchObject({ spec: { drivers: [{ allocatable: { count: 1 } }] } });
  });
});

describe('a CSIStorageCapacity', () => {
  const input = (body: object, metadata: object = {}) =>
    ({ metadata: { name: 'c', ...metadata }, storageClassName: 'fast', ...body }) as CSIStorageCapacityInput & Named;

  test('rejects a negative capacity and an invalid class name', async () => {
    const capacities = testCluster().api(CSIStorageCapacity);
    const bad = { storageClassName: 'A', capacity: '-1', nodeTopology: { matchLabels: { a: '-' } } };
    await expect(capacities.create(input(bad))).rejects.toMatchObject(
      invalidWith(
        ['nodeTopology.matchLabels', expect.stringContaining('Invalid value: "-": a valid label must be')],
        ['storageClassName', `Invalid value: "A": ${SUBDOMAIN}`],
        ['capacity', 'Invalid value: "-1": must be greater than or equal to 0'],
      ),
    );
  });

  test('warns about deprecated labels', async () => {
    const warnings: string[] = [];
    const capacities = testCluster({ client: { onWarning: (text) => warnings.push(text) } }).api(CSIStorageCapacity);
    const nodeTopology = {
      matchLabels: { 'beta.orch.io/arch': 'v' },
      matchExpressions: [{ key: 'beta.orch.io/os', operator: 'Exists' as const }],
    };
    await capacities.create({ metadata: { name: 'c' }, storageClassName: 's', nodeTopology });
    expect(warnings).toEqual([
      'nodeTopology.matchExpressions[0].key: beta.orch.io/os is deprecated since v1.14; use "orch.io/os" instead',
      'nodeTopology.matchLabels.beta.orch.io/arch: deprecated since v1.14; use "orch.io/arch" instead',
    ]);
  });

  test('has an immutable topology and class', async () => {
    const capacities = testCluster().api(CSIStorageCapacity);
    const nodeTopology = { matchLabels: { zone: 'a' } };
    const { metadata } = await capacities.create(input({ nodeTopology }));
    const version = { resourceVersion: metadata.resourceVersion };
    const matchExpressions = [{ key: 'k', operator: 'Exists' }];
    await expect(
      capacities.update(input({ nodeTopology: { matchExpressions }, storageClassName: 'slow' }, version)),
    ).rejects.toMatchObject(
      invalidWith(
        [
          'nodeTopology',
          'Invalid value: v1.LabelSelector{MatchLabels:map[string]string(nil), MatchExpressions:[]v1.LabelSelectorRequirement{v1.LabelSelectorRequirement{Key:"k", Operator:"Exists", Values:[]string(nil)}}}: field is immutable',
        ],
        ['storageClassName', 'Invalid value: "slow": field is immutable'],
      ),
    );
    await expect(capacities.update(input({}, version))).rejects.toMatchObject(
      invalidWith(['nodeTopology', 'Invalid value: "null": field is immutable']),
    );
    await expect(capacities.update(input({ nodeTopology, capacity: '1Ki' }, version))).resolves.toBeDefined();
  });
});
