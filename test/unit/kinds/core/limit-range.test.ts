/** Defaulting and validation of LimitRanges. */
import { jsonPatch } from 'orchplane';
import { LimitRange, type LimitRangeInput } from 'orchplane/kinds';
import { testCluster } from 'orchplane/testing';
import { describe, expect, test } from 'vitest';

type Limit = NonNullable<LimitRangeInput['spec']>['limits'][number];

function create(...limits: Limit[]) {
  return testCluster()
    .api(LimitRange)
    .create({ metadata: { name: 'l' }, spec: { limits } });
}

async function causesOf(...limits: Limit[]): Promise<string[]> {
  const error: unknown = await create(...limits).catch((failure: unknown) => failure);
  const { causes } = (error as { status: { details: { causes: { field: string; message: string }[] } } }).status
    .details;
  // Replaces the Go syntax of a quantity by its text.
  return causes.map(({ field, message }) =>
    `${field}: ${message}`.replace(/resource\.Quantity\{.*s:"(.*?)".*?\}:/, '$1:'),
  );
}

describe('LimitRange defaults', () => {
  test.each<[string, Omit<Limit, 'type'>, Omit<Limit, 'type'>]>([
    [
      'default and defaultRequest from max',
      { max: { cpu: '1' } },
      { max: { cpu: '1' }, default: { cpu: '1' }, defaultRequest: { cpu: '1' } },
    ],
    ['defaultRequest from min', { min: { cpu: '1' } }, { min: { cpu: '1' }, defaultRequest: { cpu: '1' } }],
    [
      'only missing values',
      { default: { cpu: '1' }, defaultRequest: { cpu: '500m' } },
      { default: { cpu: '1' }, defaultRequest: { cpu: '500m' } },
    ],
    ['values rounded up to thousandths', { defaultRequest: { cpu: '100u' } }, { defaultRequest: { cpu: '1m' } }],
  ])('sets LimitRange defaults for containers: %s', async (_, given, stored) => {
    expect((await create({ type: 'Container', ...given })).spec.limits).toEqual([{ type: 'Container', ...stored }]);
  });

  test('treats an empty list of a container as absent', async () => {
    const ranges = testCluster().api(LimitRange);
    const created = await ranges.create({ metadata: { name: 'l' }, spec: { limits: [{ type: 'Container' }] } });
    const patched = await ranges.patch('l', jsonPatch([{ op: 'add', path: '/spec/limits/0/default', value: {} }]));
    expect(patched.metadata).toEqual(created.metadata);
  });

  test('sets no LimitRange defaults for pods, and null for absent limits', async () => {
    expect((await create({ type: 'Pod', max: { cpu: '1' } })).spec.limits).toEqual([
      { type: 'Pod', max: { cpu: '1' } },
    ]);
    const ranges = testCluster({ dialect: 'kubernetes' }).api(LimitRange);
    expect((await ranges.create({ metadata: { name: 'l' } })).spec.limits).toBeNull();
  });

  test('sets the name to the uid if it is absent', async () => {
    const { metadata } = await testCluster()
      .api(LimitRange)
      .create({ metadata: {}, spec: { limits: [] } });
    expect(metadata.name).toMatch(/^[0-9a-f-]{36}$/);
  });
});

describe('LimitRange validation', () => {
  test.each<[string, Limit[], string[]]>([
    [
      'an unknown type',
      [{ type: 'Node' }],
      ['spec.limits[0].type: Invalid value: "Node": must be a standard limit type or fully qualified'],
    ],
    ['a repeated type', [{ type: 'Pod' }, { type: 'Pod' }], ['spec.limits[1].type: Duplicate value: "Pod"']],
    [
      'defaults for pods',
      [{ type: 'Pod', default: { cpu: '1' }, defaultRequest: { cpu: '1' } }],
      [
        "spec.limits[0].default: Forbidden: may not be specified when `type` is 'Pod'",
        "spec.limits[0].defaultRequest: Forbidden: may not be specified when `type` is 'Pod'",
      ],
    ],
    [
      'claims without storage',
      [{ type: 'PersistentVolumeClaim' }],
      [
        'spec.limits[0].limits: Required value: either minimum or maximum storage value is required, but neither was provided',
      ],
    ],
    [
      'unknown resources',
      [{ type: 'Pod', max: { gpu: '1' } }],
      [
        'spec.limits[0].max[gpu]: Invalid value: gpu: must be a standard resource type or fully qualified',
        'spec.limits[0].max[gpu]: Invalid value: gpu: must be a standard resource for containers',
      ],
    ],
    [
      'a minimum above the maximum',
      [{ type: 'Pod', min: { cpu: '3' }, max: { cpu: '2' } }],
      ['spec.limits[0].min[cpu]: Invalid value: 3: min value 3 is greater than max value 2'],
    ],
    [
      'a default outside of the bounds',
      [
        {
          type: 'Container',
          min: { cpu: '2' },
          max: { cpu: '3' },
          default: { cpu: '4' },
          defaultRequest: { cpu: '1' },
        },
      ],
      [
        'spec.limits[0].defaultRequest[cpu]: Invalid value: 1: min value 2 is greater than default request value 1',
        'spec.limits[0].default[cpu]: Invalid value: 3: default value 4 is greater than max value 3',
      ],
    ],
    [
      'a request above its limit',
      [{ type: 'Container', default: { cpu: '1' }, defaultRequest: { cpu: '2' } }],
      [
        'spec.limits[0].defaultRequest[cpu]: Invalid value: 2: default request value 2 is greater than default limit value 1',
      ],
    ],
    [
      'a ratio below one',
      [{ type: 'Pod', maxLimitRequestRatio: { cpu: '500m' } }],
      ['spec.limits[0].maxLimitRequestRatio[cpu]: Invalid value: 500m: ratio 500m is less than 1'],
    ],
    [
      'a ratio that the bounds do not allow',
      [{ type: 'Pod', min: { cpu: '1' }, max: { cpu: '2' }, maxLimitRequestRatio: { cpu: '3' } }],
      ['spec.limits[0].maxLimitRequestRatio[cpu]: Invalid value: 3: ratio 3 is greater than max/min = 2.000000'],
    ],
    [
      'extended resources whose request differs from the limit',
      [{ type: 'Container', default: { 'example.com/gpu': '2' }, defaultRequest: { 'example.com/gpu': '1' } }],
      [
        'spec.limits[0].defaultRequest[example.com/gpu]: Invalid value: 1: default value 2 must equal to defaultRequest value 1 in example.com/gpu',
      ],
    ],
  ])('rejects a LimitRange with %s', async (_, limits, problems) => {
    expect(await causesOf(...limits)).toEqual(problems);
  });

  test('applies to updates', async () => {
    const ranges = testCluster().api(LimitRange);
    await ranges.create({ metadata: { name: 'l' }, spec: { limits: [] } });
    await expect(
      ranges.update({ metadata: { name: 'l' }, spec: { limits: [{ type: 'Node' }] } }),
    ).rejects.toMatchObject({
      reason: 'Invalid',
    });
  });
});
