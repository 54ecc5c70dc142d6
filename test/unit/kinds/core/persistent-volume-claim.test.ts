/** Defaulting, validation and warnings of PersistentVolumeClaims. */
import { PersistentVolumeClaim, type PersistentVolumeClaimInput } from 'orchplane/kinds';
import { testCluster } from 'orchplane/testing';
import { describe, expect, test } from 'vitest';
import { invalidWith } from '../rejections.js';

interface Named {
  metadata: { name: string };
}

const storage = (amount: string) => ({ resources: { requests: { storage: amount } } });
const usual = { accessModes: ['ReadWriteOnce'], ...storage('1Gi') };
const input = (spec: object, metadata: object = {}) =>
  ({ metadata: { name: 'c', ...metadata }, spec: { ...usual, ...spec } }) as PersistentVolumeClaimInput & Named;
const create = (spec: object, options = {}) => testCluster(options).api(PersistentVolumeClaim).create(input(spec));

const claimSource = { kind: 'PersistentVolumeClaim', name: 'x' };

describe('a PersistentVolumeClaim', () => {
  test('starts in phase Pending with volumeMode Filesystem', async () => {
    const { spec, status } = await create({});
    expect(spec).toEqual({ ...usual, volumeMode: 'Filesystem' });
    expect(status).toEqual({ phase: 'Pending' });
  });

  test('has its quantities rounded to milli units, with a warning about fractions of bytes', async () => {
    const warnings: string[] = [];
    const claims = testCluster()
      .with({ onWarning: (warning) => warnings.push(warning) })
      .api(PersistentVolumeClaim);
    expect((await claims.create(input(storage('1000000u')))).spec.resources).toEqual({ requests: { storage: '1' } });
    await claims.create(input(storage('1500100u'), { name: 'd' }));
    expect(warnings).toEqual([
      'spec.resources.requests[storage]: fractional byte value "1501m" is invalid, must be an integer',
    ]);
  });

  test.each([
    ['by the old field', { dataSource: claimSource }],
    ['by the new field', { dataSourceRef: claimSource }],
  ])('has a data source in both fields when it is set %s', async (_how, spec) => {
    const stored = (await create(spec)).spec;
    const shown = { apiGroup: null, ...claimSource };
    expect(JSON.stringify([stored.dataSource, stored.dataSourceRef])).toBe(JSON.stringify([shown, shown]));
    expect(Object.keys(stored)).toEqual(['accessModes', 'resources', 'volumeMode', 'dataSource', 'dataSourceRef']);
  });

  test('drops a dataSource that is neither a claim nor a snapshot', async () => {
    expect((await create({ dataSource: { kind: 'ConfigMap', name: 'x' } })).spec).not.toHaveProperty('dataSource');
    const snapshot = { apiGroup: 'snapshot.storage.orch.io', kind: 'VolumeSnapshot', name: 'x' };
    expect((await create({ dataSource: snapshot })).spec.dataSourceRef).toEqual(snapshot);
  });

  test('keeps a source in another namespace only if the feature gate is enabled', async () => {
    const dataSourceRef = { ...claimSource, namespace: 'other' };
    expect((await create({ dataSourceRef })).spec).not.toHaveProperty('dataSourceRef');
    const options = { featureGates: { CrossNamespaceVolumeDataSource: true } };
    const { spec } = await create({ dataSourceRef }, options);
    expect(spec.dataSourceRef).toMatchObject(dataSourceRef);
    expect(spec).not.toHaveProperty('dataSource');
    await expect(create({ dataSourceRef, dataSource: claimSource }, options)).rejects.toMatchObject(
      invalidWith([
        'spec',
        expect.stringMatching(/^Invalid value: field.Path{.*: may not be specified when dataSourceRef.namespace is/),
      ]),
    );
  });

  test.each([
    [
      'an empty spec',
      { accessModes: [], resources: {} },
      [
        ['spec.accessModes', 'Required value: at least 1 access mode is required'],
        ['spec.resources[storage]', 'Required value'],
      ],
    ],
    [
      'an invalid selector, modes and size',
      { selector: { matchLabels: { 'a b': 'c' } }, accessModes: ['Odd'], ...storage('0') },
      [
        ['spec.selector.matchLabels', expect.stringMatching(/^Invalid value: "a b": name part/)],
        [
          'spec.accessModes',
          'Unsupported value: "Odd": supported values: "ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"',
        ],
        ['spec.resources[storage]', 'Invalid value: "0": must be greater than zero'],
      ],
    ],
    [
      'an invalid class and mode',
      { storageClassName: 'A', volumeMode: 'Tape' },
      [
        ['spec.storageClassName', expect.stringMatching(/^Invalid value: "A": a lowercase RFC 1123/)],
        ['spec.volumeMode', 'Unsupported value: "Tape": supported values: "Block", "Filesystem"'],
      ],
    ],
    [
      'different data sources',
      { dataSource: claimSource, dataSourceRef: { ...claimSource, name: 'y' } },
      [['spec', expect.stringMatching(/^Invalid value: field.Path{name:"dataSource".*}: must match dataSourceRef$/)]],
    ],
    [
      'an empty data source',
      { dataSourceRef: {} },
      (['dataSource', 'dataSourceRef'] as const).flatMap((field) => [
        [`spec.${field}.name`, 'Required value'] as const,
        [`spec.${field}.kind`, 'Required value'] as const,
        [
          `spec.${field}`,
          'Invalid value: "": must be \'PersistentVolumeClaim\' when referencing the default apiGroup',
        ] as const,
      ]),
    ],
    [
      'a data source without a group',
      { dataSourceRef: { apiGroup: 'A_B', kind: 'K', name: 'n' } },
      ['dataSource', 'dataSourceRef'].map(
        (field) =>
          [`spec.${field}.apiGroup`, expect.stringMatching(/^Invalid value: "A_B": a lowercase RFC 1123/)] as const,
      ),
    ],
  ] as const)('rejects a PersistentVolumeClaim with %s', async (_what, spec, causes) => {
    await expect(create(spec)).rejects.toMatchObject(invalidWith(...causes));
  });

  test('keeps a volume attributes class only if the feature gate is enabled', async () => {
    const spec = { volumeAttributesClassName: 'A' };
    expect((await create(spec)).spec).not.toHaveProperty('volumeAttributesClassName');
    await expect(create(spec, { featureGates: { VolumeAttributesClass: true } })).rejects.toMatchObject(
      invalidWith(['spec.volumeAttributesClassName', expect.stringMatching(/^Invalid value: "A": a lowercase/)]),
    );
  });
});

test('a bound claim can change its volume attributes class, but not lose it', async () => {
  const claims = testCluster({ featureGates: { VolumeAttributesClass: true } }).api(PersistentVolumeClaim);
  const made = await claims.create(input({ volumeAttributesClassName: 'gold' }));
  await claims.status.update('c', { ...made, status: { phase: 'Bound' } });
  const silver = await claims.update(input({ volumeAttributesClassName: 'silver' }));
  expect(silver.spec.volumeAttributesClassName).toBe('silver');
  const refusal = (to: string) =>
    ['spec.volumeAttributesClassName', `Forbidden: update from non-nil value to ${to} is forbidden`] as const;
  await expect(claims.update(input({}))).rejects.toMatchObject(
    invalidWith(['spec', expect.stringContaining('spec is immutable after creation')], refusal('nil')),
  );
  await expect(claims.update(input({ volumeAttributesClassName: '' }))).rejects.toMatchObject(
    invalidWith(refusal('an empty string')),
  );
});

describe('an update of a PersistentVolumeClaim', () => {
  const FIXED = expect.stringMatching(
    /^Forbidden: spec is immutable after creation except .* for bound claims\n {2}core\.PersistentVolumeClaimSpec\{\n/,
  );

  async function change(
    [before, after]: readonly [object, object],
    { status, annotations = [{}, {}] }: { status?: object; annotations?: readonly [object, object] } = {},
  ) {
    // Whether a volume can be expanded is decided by an admission plugin.
    const claims = testCluster({ admission: [] }).api(PersistentVolumeClaim);
    const created = await claims.create(input(before, { annotations: annotations[0] }));
    if (status !== undefined) await claims.status.update('c', { ...created, status } as never);
    return claims.update(input(after, { annotations: annotations[1] }));
  }

  test.each([
    ['a volumeName that was absent', [{}, { volumeName: 'v' }], {}],
    ['a storageClassName that was absent', [{}, { storageClassName: 's' }], {}],
    ['an equal size in another notation', [{}, storage('1073741824')], {}],
    [
      'the class in the beta annotation',
      [{}, { storageClassName: 's' }],
      { annotations: [{ 'volume.beta.orch.io/storage-class': 's' }, {}] },
    ],
    ['a smaller size that is above the capacity', [storage('3Gi'), storage('2Gi')], { status: { phase: 'Bound' } }],
  ] as const)('accepts an update of a PersistentVolumeClaim with %s', async (_what, specs, options) => {
    await expect(change(specs, options as never)).resolves.toBeDefined();
  });

  test.each([
    ['another volume', [{ volumeName: 'v' }, { volumeName: 'w' }], {}, [['spec', FIXED]]],
    ['another class', [{ storageClassName: 's' }, { storageClassName: 't' }], {}, [['spec', FIXED]]],
    ['another size before the claim is bound', [{}, storage('2Gi')], {}, [['spec', FIXED]]],
    [
      'another mode',
      [{}, { volumeMode: 'Block' }],
      {},
      [
        ['spec', FIXED],
        ['volumeMode', 'Invalid value: "Block": field is immutable'],
      ],
    ],
    [
      'another annotation',
      [{}, {}],
      { annotations: [{ 'volume.beta.orch.io/storage-class': 's' }, {}] },
      [['metadata.annotations.volume.beta.orch.io/storage-class', 'Invalid value: "": field is immutable']],
    ],
    [
      'a size below the capacity',
      [{}, storage('500Mi')],
      { status: { phase: 'Bound', capacity: { storage: '1Gi' } } },
      [['spec.resources.requests.storage', 'Forbidden: field can not be less than status.capacity']],
    ],
  ] as const)('rejects an update of a PersistentVolumeClaim with %s', async (_what, specs, options, causes) => {
    await expect(change(specs, options as never)).rejects.toMatchObject(invalidWith(...causes));
  });
});

test('validates the resources and statuses in a status update', async () => {
  const claims = testCluster().api(PersistentVolumeClaim);
  const created = await claims.create(input({}));
  const status = {
    phase: 'Bound',
    capacity: { storage: '-1' },
    allocatedResourceStatuses: { cpu: 'NodeResizePending', storage: 'Odd' },
    allocatedResources: { 'a b': '1', storage: '-2' },
    currentVolumeAttributesClassName: 'c',
  };
  await expect(claims.status.update('c', { ...created, status } as never)).rejects.toMatchObject(
    invalidWith(
      ['status.capacity[storage]', 'Invalid value: -1: must be a valid resource quantity'],
      ['status.allocatedResourceStatus', 'Unsupported value: "cpu": supported values: "storage"'],
      [
        'status.allocatedResourceStatus',
        'Unsupported value: storage: supported values: "ControllerResizeInProgress", "ControllerResizeInfeasible", "NodeResizeInProgress", "NodeResizeInfeasible", "NodeResizePending"',
      ],
      ['status.allocatedResources', expect.stringMatching(/^Invalid value: "a b": name part/)],
      ['status.allocatedResources[storage]', 'Invalid value: -2: must be a valid resource quantity'],
    ),
  );
  const fine = { phase: 'Bound', currentVolumeAttributesClassName: 'c' } as const;
  expect((await claims.status.update('c', { ...created, status: fine })).status).toEqual({ phase: 'Bound' });
});
