/** Validation of StorageClasses and VolumeAttributesClasses. */
import {
  StorageClass,
  type StorageClassInput,
  VolumeAttributesClass,
  type VolumeAttributesClassInput,
  VolumeAttributesClassV1alpha1,
} from 'orchplane/kinds';
import { testCluster } from 'orchplane/testing';
import { describe, expect, test } from 'vitest';
import { invalidWith } from '../rejections.js';

interface Named {
  metadata: { name: string };
}

const create = (body: object) =>
  testCluster()
    .api(StorageClass)
    .create({ metadata: { name: 'c' }, provisioner: 'example.com/p', ...body } as StorageClassInput);

const NAME_PART =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";

describe('a StorageClass', () => {
  test('has reclaimPolicy Delete and volumeBindingMode Immediate by default', async () => {
    expect(await create({})).toMatchObject({ reclaimPolicy: 'Delete', volumeBindingMode: 'Immediate' });
    expect(await create({ reclaimPolicy: '' })).toMatchObject({ reclaimPolicy: '' });
  });

  test('warns about deprecated labels', async () => {
    const warnings: string[] = [];
    const classes = testCluster({ client: { onWarning: (text) => warnings.push(text) } }).api(StorageClass);
    const allowedTopologies = [term(['k', 'v'], ['beta.orch.io/os', 'v'])];
    await classes.create({ metadata: { name: 'c' }, provisioner: 'p', allowedTopologies });
    expect(warnings).toEqual([
      'allowedTopologies[0].matchLabelExpressions[1].key: deprecated since v1.14; use "orch.io/os" instead',
    ]);
  });

  const term = (...expressions: readonly [key: string, ...values: string[]][]) => ({
    matchLabelExpressions: expressions.map(([key, ...values]) => ({ key, values })),
  });

  test.each([
    ['no provisioner', { provisioner: '' }, [['provisioner', 'Required value']]],
    ['an invalid provisioner', { provisioner: 'A b' }, [['provisioner', `Invalid value: "a b": ${NAME_PART}`]]],
    ['an empty parameter', { parameters: { '': 'x' } }, [['parameters', 'Invalid value: "": field can not be empty.']]],
    [
      'too many parameters',
      { parameters: Object.fromEntries(Array.from({ length: 513 }, (_, index) => [`k${index}`, ''])) },
      [['parameters', 'Too long: may not be more than 512 bytes']],
    ],
    [
      'large parameters',
      { parameters: { k: 'v'.repeat(256 * 1024) } },
      [['parameters', 'Too long: may not be more than 262144 bytes']],
    ],
    [
      'a reclaimPolicy that only volumes support',
      { reclaimPolicy: 'Recycle' },
      [['reclaimPolicy', 'Unsupported value: "Recycle": supported values: "Delete", "Retain"']],
    ],
    [
      'an unknown binding mode',
      { volumeBindingMode: '' },
      [['volumeBindingMode', 'Unsupported value: "": supported values: "Immediate", "WaitForFirstConsumer"']],
    ],
    [
      'topologies with duplicate values and keys',
      { allowedTopologies: [term(['zone', 'a', 'a'], ['zone', 'b'])] },
      [
        ['allowedTopologies[0].matchLabelExpressions[0].values[1]', 'Duplicate value: "a"'],
        ['allowedTopologies[0].matchLabelExpressions[1].key', 'Duplicate value: "zone"'],
      ],
    ],
    [
      'a topology without values',
      { allowedTopologies: [term(['zone'])] },
      [['allowedTopologies[0].matchLabelExpressions[0].values', 'Required value']],
    ],
    [
      'a duplicate topology in another order',
      { allowedTopologies: [term(['a', '1', '2'], ['b', '3']), term(['b', '3'], ['a', '2', '1'])] },
      [['allowedTopologies[1].matchLabelExpressions', 'Duplicate value: ""']],
    ],
    [
      'an empty topology',
      { allowedTopologies: [{}] },
      [['allowedTopologies[0].matchLabelExpressions', 'Duplicate value: ""']],
    ],
  ] as const)('rejects a StorageClass with %s', async (_what, body, causes) => {
    await expect(create(body)).rejects.toMatchObject(invalidWith(...causes));
  });

  test('allows changes of allowVolumeExpansion, but not of provisioner and parameters', async () => {
    const classes = testCluster().api(StorageClass);
    const created = await classes.create({ metadata: { name: 'c' }, provisioner: 'p' });
    expect(await classes.update({ ...created, allowVolumeExpansion: true })).toMatchObject({
      allowVolumeExpansion: true,
    });
    await expect(
      classes.update({
        metadata: { name: 'c' },
        provisioner: 'q',
        parameters: { a: 'b' },
        reclaimPolicy: 'Retain',
        volumeBindingMode: 'WaitForFirstConsumer',
      }),
    ).rejects.toMatchObject(
      invalidWith(
        ['parameters', 'Forbidden: updates to parameters are forbidden.'],
        ['provisioner', 'Forbidden: updates to provisioner are forbidden.'],
        ['reclaimPolicy', 'Forbidden: updates to reclaimPolicy are forbidden.'],
        ['volumeBindingMode', 'Invalid value: "WaitForFirstConsumer": field is immutable'],
      ),
    );
  });
});

describe('a VolumeAttributesClass', () => {
  const cluster = () => testCluster({ featureGates: { VolumeAttributesClass: true }, runtimeConfig: 'api/all=true' });
  const input = (body: object) => ({ metadata: { name: 'c' }, ...body }) as VolumeAttributesClassInput & Named;

  test('requires a driver and parameters', async () => {
    await expect(cluster().api(VolumeAttributesClass).create(input({}))).rejects.toMatchObject(
      invalidWith(
        ['driverName', 'Required value'],
        ['parameters', 'Required value: must contain at least one key/value pair'],
      ),
    );
  });

  test('rejects changes of a VolumeAttributesClass', async () => {
    const classes = cluster().api(VolumeAttributesClass);
    await classes.create(input({ driverName: 'd', parameters: { a: 'b' } }));
    await expect(classes.update(input({ driverName: 'e', parameters: { a: 'c' } }))).rejects.toMatchObject(
      invalidWith(
        ['driverName', 'Forbidden: updates to driverName are forbidden.'],
        ['parameters', 'Forbidden: updates to parameters are forbidden.'],
      ),
    );
  });

  test('serves the same VolumeAttributesClass in v1alpha1', async () => {
    const both = cluster();
    await both.api(VolumeAttributesClassV1alpha1).create(input({ driverName: 'd', parameters: { a: 'b' } }));
    expect(await both.api(VolumeAttributesClass).get('c')).toMatchObject({ driverName: 'd', parameters: { a: 'b' } });
  });
});
