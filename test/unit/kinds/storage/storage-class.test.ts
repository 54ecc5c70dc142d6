/** The rules of classes of storage and of volume attributes. */
import {
  StorageClass,
  type StorageClassInput,
  VolumeAttributesClass,
  type VolumeAttributesClassInput,
  VolumeAttributesClassV1alpha1,
} from 'orchplane/kinds';
import { testCluster } from 'orchplane/testing';
import { describe, expect, test } from 'vitest';
import { refusal } from '../refusals.js';

interface Named {
  metadata: { name: string };
}

const create = (body: object) =>
  testCluster()
    .api(StorageClass)
    .create({ metadata: { name: 'c' }, provisioner: 'example.com/p', ...body } as StorageClassInput);

const NAME_PART =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";

describe('a storage class', () => {
  test('deletes at once and binds at once unless told otherwise', async () => {
    expect(await create({})).toMatchObject({ reclaimPolicy: 'Delete', volumeBindingMode: 'Immediate' });
    expect(await create({ reclaimPolicy: '' })).toMatchObject({ reclaimPolicy: '' });
  });

  test('tells of labels that have other names today', async () => {
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
    ['a provisioner that is no name', { provisioner: 'A b' }, [['provisioner', `Invalid value: "a b": ${NAME_PART}`]]],
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
      'a policy of volumes only',
      { reclaimPolicy: 'Recycle' },
      [['reclaimPolicy', 'Unsupported value: "Recycle": supported values: "Delete", "Retain"']],
    ],
    [
      'an unknown binding mode',
      { volumeBindingMode: '' },
      [['volumeBindingMode', 'Unsupported value: "": supported values: "Immediate", "WaitForFirstConsumer"']],
    ],
    [
      'topologies with repeated values and keys',
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
      'the same topology twice, in another order',
      { allowedTopologies: [term(['a', '1', '2'], ['b', '3']), term(['b', '3'], ['a', '2', '1'])] },
      [['allowedTopologies[1].matchLabelExpressions', 'Duplicate value: ""']],
    ],
    [
      'an empty topology, which is never the only one',
      { allowedTopologies: [{}] },
      [['allowedTopologies[0].matchLabelExpressions', 'Duplicate value: ""']],
    ],
  ] as const)('with %s is refused', async (_what, body, causes) => {
    await expect(create(body)).rejects.toMatchObject(refusal(...causes));
  });

  test('changes in its smaller things only', async () => {
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
      refusal(
        ['parameters', 'Forbidden: updates to parameters are forbidden.'],
        ['provisioner', 'Forbidden: updates to provisioner are forbidden.'],
        ['reclaimPolicy', 'Forbidden: updates to reclaimPolicy are forbidden.'],
        ['volumeBindingMode', 'Invalid value: "WaitForFirstConsumer": field is immutable'],
      ),
    );
  });
});

describe('a class of volume attributes', () => {
  const cluster = () => testCluster({ featureGates: { VolumeAttributesClass: true }, runtimeConfig: 'api/all=true' });
  const input = (body: object) => ({ metadata: { name: 'c' }, ...body }) as VolumeAttributesClassInput & Named;

  test('needs a driver and parameters', async () => {
    await expect(cluster().api(VolumeAttributesClass).create(input({}))).rejects.toMatchObject(
      refusal(
        ['driverName', 'Required value'],
        ['parameters', 'Required value: must contain at least one key/value pair'],
      ),
    );
  });

  test('stays as it is', async () => {
    const classes = cluster().api(VolumeAttributesClass);
    await classes.create(input({ driverName: 'd', parameters: { a: 'b' } }));
    await expect(classes.update(input({ driverName: 'e', parameters: { a: 'c' } }))).rejects.toMatchObject(
      refusal(
        ['driverName', 'Forbidden: updates to driverName are forbidden.'],
        ['parameters', 'Forbidden: updates to parameters are forbidden.'],
      ),
    );
  });

  test('is the same in its older version', async () => {
    const both = cluster();
    await both.api(VolumeAttributesClassV1alpha1).create(input({ driverName: 'd', parameters: { a: 'b' } }));
    expect(await both.api(VolumeAttributesClass).get('c')).toMatchObject({ driverName: 'd', parameters: { a: 'b' } });
  });
});
