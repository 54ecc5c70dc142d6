/** Validation of ResourceSlices, in every version. */
import { testCluster } from 'orchplane/testing';
import { describe, expect, test } from 'vitest';
import {
  ResourceSlice,
  type ResourceSliceInput,
  ResourceSliceV1alpha3,
  ResourceSliceV1beta1,
  type ResourceSliceV1beta1Input,
} from '../../../../src/kinds/index.js';
import { rejectionCauses } from '../rejections.js';

const ALL = { DynamicResourceAllocation: true, DRAPartitionableDevices: true, DRADeviceTaints: true };
const clusterOf = (featureGates: Record<string, boolean> = ALL) =>
  testCluster({ featureGates, runtimeConfig: 'api/all=true' });

const least = { driver: 'd', pool: { name: 'p', generation: 0, resourceSliceCount: 1 }, nodeName: 'n' };
const input = (spec: object) =>
  ({ metadata: { name: 'a' }, spec: { ...least, ...spec } }) as ResourceSliceInput & { metadata: { name: string } };
const create = (spec: object, gates = ALL) => clusterOf(gates).api(ResourceSlice).create(input(spec));
const device = (more: object = {}, name = 'x') => ({ name, ...more });

const ONE_OF = 'exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required';
const OWN =
  'exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` is set to true in the ResourceSlice spec';
const counters = (...names: string[]) => Object.fromEntries(names.map((name) => [name, { value: '1' }]));
const numbered = (count: number) => counters(...Array.from({ length: count }, (_, index) => `c${index}`));
const IDENTIFIER =
  "a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric characters or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName', regex used for validation is '[A-Za-z_][A-Za-z0-9_]*')";

describe('a ResourceSlice', () => {
  test.each([
    ['no node selection', { nodeName: undefined }, [`spec: Required value: ${ONE_OF}`]],
    [
      'an empty node name',
      { nodeName: '' },
      [
        'spec.nodeName: Invalid value: "": must be either unset or set to a non-empty string',
        `spec: Required value: ${ONE_OF}`,
      ],
    ],
    [
      'false node selections',
      { allNodes: false, perDeviceNodeSelection: false },
      [
        'spec.allNodes: Invalid value: false: must be either unset or set to true',
        'spec.perDeviceNodeSelection: Invalid value: false: must be either unset or set to true',
      ],
    ],
    [
      'two node selections',
      { allNodes: true },
      [`spec: Invalid value: "{\`nodeName\`, \`allNodes\`}": ${ONE_OF}, but multiple fields are set`],
    ],
    [
      'two node selector terms',
      {
        nodeName: undefined,
        nodeSelector: {
          nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['n'] }] }, {}],
        },
      },
      [
        'spec.nodeSelector.nodeSelectorTerms: Invalid value: []core.NodeSelectorTerm{core.NodeSelectorTerm{MatchExpressions:[]core.NodeSelectorRequirement(nil), MatchFields:[]core.NodeSelectorRequirement{core.NodeSelectorRequirement{Key:"metadata.name", Operator:"In", Values:[]string{"n"}}}}, core.NodeSelectorTerm{MatchExpressions:[]core.NodeSelectorRequirement(nil), MatchFields:[]core.NodeSelectorRequirement(nil)}}: must have exactly one node selector term',
      ],
    ],
    [
      'a selector without terms',
      { nodeName: undefined, nodeSelector: {} },
      [
        'spec.nodeSelector.nodeSelectorTerms: Required value: must have at least one node selector term',
        'spec.nodeSelector.nodeSelectorTerms: Invalid value: []core.NodeSelectorTerm(nil): must have exactly one node selector term',
      ],
    ],
    [
      'an invalid pool',
      { pool: { generation: -1 } },
      [
        'spec.pool.name: Required value',
        'spec.pool.resourceSliceCount: Invalid value: 0: must be greater than zero',
        'spec.pool.generation: Invalid value: -1: must be greater than or equal to zero',
      ],
    ],
    ['a duplicate device', { devices: [device(), device()] }, ['spec.devices[1].name: Duplicate value: "x"']],
    [
      'too many devices',
      { devices: Array.from({ length: 129 }, (_, index) => device({}, `x${index}`)) },
      ['spec.devices: Too many: 129: must have at most 128 items'],
    ],
    [
      'counters without names',
      {
        sharedCounters: [{}, { name: 's', counters: counters('a.b') }, { name: 's', counters: counters('a') }],
      },
      [
        'spec.sharedCounters[0].name: Required value',
        'spec.sharedCounters[0].counters: Required value',
        'spec.sharedCounters[1].counters[a.b]: Invalid value: "a.b": must not contain dots',
        'spec.sharedCounters[2].name: Duplicate value: "s"',
      ],
    ],
    [
      'too many counters',
      { sharedCounters: [{ name: 's', counters: numbered(33) }] },
      ['spec.sharedCounters: Invalid value: 33: the total number of shared counters must not exceed 32'],
    ],
  ])('rejects %s', async (_what, spec, expected) => {
    expect(await rejectionCauses(create(spec))).toEqual(expected);
  });

  test.each([
    [
      'invalid attribute names',
      { attributes: { 'a-b': { int: 1 }, '/x': { int: 1 }, 'd/': { int: 1 } } },
      [
        `spec.devices[0].attributes[/x]: Required value: the domain must not be empty`,
        `spec.devices[0].attributes[a-b]: Invalid value: "a-b": ${IDENTIFIER}`,
        `spec.devices[0].attributes[d/]: Required value: the name must not be empty`,
      ],
    ],
    [
      'attributes with no value, several values or invalid values',
      {
        attributes: {
          a: {},
          b: { int: 0, bool: false },
          c: { string: 'x'.repeat(65) },
          d: { version: '1.0' },
          e: { version: '1.2.3-a.0+b' },
        },
      },
      [
        'spec.devices[0].attributes[a]: Required value: exactly one value must be specified',
        'spec.devices[0].attributes[b]: Invalid value: resource.DeviceAttribute{IntValue:(*int64)(0xc000000000), BoolValue:(*bool)(0xc000000000), StringValue:(*string)(nil), VersionValue:(*string)(nil)}: exactly one value must be specified',
        'spec.devices[0].attributes[c].string: Too long: may not be more than 64 bytes',
        'spec.devices[0].attributes[d].version: Invalid value: "1.0": must be a string compatible with semver.org spec 2.0.0',
      ],
    ],
    [
      'too many attributes and capacities',
      { capacity: Object.fromEntries(Array.from({ length: 33 }, (_, index) => [`c${index}`, { value: '1' }])) },
      ['spec.devices[0]: Invalid value: 33: the total number of attributes and capacities must not exceed 32'],
    ],
    [
      'too many taints',
      { taints: Array.from({ length: 5 }, () => ({ key: 'k', effect: 'NoSchedule' })) },
      ['spec.devices[0].taints: Too many: 5: must have at most 4 items'],
    ],
    [
      'counters of an unknown counter set',
      {
        consumesCounters: [
          { counterSet: 's', counters: counters('b') },
          { counterSet: 't', counters: counters('a') },
          {},
        ],
      },
      [
        'spec.devices[0].consumesCounters[2].counterSet: Required value',
        'spec.devices[0].consumesCounters[2].counters: Required value',
        'spec.devices[0].consumesCounters[0].counters: Invalid value: "b": must reference a counter defined in the ResourceSlice sharedCounters',
        'spec.devices[0].consumesCounters[1].counterSet: Invalid value: "t": must reference a counterSet defined in the ResourceSlice sharedCounters',
        'spec.devices[0].consumesCounters[2].counterSet: Invalid value: "": must reference a counterSet defined in the ResourceSlice sharedCounters',
      ],
    ],
    [
      'its own node selection',
      { allNodes: true },
      [
        'spec.devices[0]: Invalid value: "null": `nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set to true in the ResourceSlice spec',
      ],
    ],
  ])('rejects a device with %s', async (_what, facts, expected) => {
    const spec = { devices: [device(facts)], sharedCounters: [{ name: 's', counters: counters('a') }] };
    expect(await rejectionCauses(create(spec))).toEqual(expected);
  });

  test.each([
    [{}, [`spec.devices[0]: Required value: ${OWN}`]],
    [
      { nodeName: '', allNodes: false },
      [
        'spec.devices[0].nodeName: Invalid value: "": must not be empty',
        'spec.devices[0].allNodes: Invalid value: false: must be either unset or set to true',
        `spec.devices[0]: Required value: ${OWN}`,
      ],
    ],
    [{ nodeName: 'n', allNodes: true }, [`spec.devices[0]: Invalid value: "{\`nodeName\`, \`allNodes\`}": ${OWN}`]],
  ])('rejects the device %o of a ResourceSlice with per-device node selection', async (facts, expected) => {
    const spec = { nodeName: undefined, perDeviceNodeSelection: true, devices: [device(facts)] };
    expect(await rejectionCauses(create(spec))).toEqual(expected);
  });

  test('sets timeAdded of device taints, and drops fields whose feature gate is disabled', async () => {
    const taint = { key: 'k', effect: 'NoSchedule' };
    const spec = {
      devices: [device({ taints: [taint], consumesCounters: [{ counterSet: 's', counters: counters('a') }] })],
      sharedCounters: [{ name: 's', counters: counters('a') }],
    };
    const kept = await create(spec);
    expect(kept.spec.devices?.[0]?.taints).toEqual([{ ...taint, timeAdded: '2030-01-01T00:00:00Z' }]);
    const bare = await create(spec, { DynamicResourceAllocation: true } as typeof ALL);
    expect(bare.spec).toEqual({ ...least, devices: [device()] });
  });

  test('has an immutable pool name, driver and node', async () => {
    const slices = clusterOf().api(ResourceSlice);
    const slice = await slices.create(input({}));
    const { nodeName: _, ...rest } = slice.spec;
    const moved = { ...rest, driver: 'e', pool: { ...rest.pool, name: 'q' }, allNodes: true };
    expect(await rejectionCauses(slices.update({ ...slice, spec: moved }))).toEqual([
      'spec.pool.name: Invalid value: "q": field is immutable',
      'spec.driver: Invalid value: "e": field is immutable',
      'spec.nodeName: Invalid value: "null": field is immutable',
    ]);
    const grown = await slices.update({ ...slice, spec: { ...slice.spec, devices: [device()] } });
    expect([slice.metadata.generation, grown.metadata.generation]).toEqual([1, 2]);
  });

  test('selects ResourceSlices by node and driver', async () => {
    const slices = clusterOf().api(ResourceSliceV1beta1);
    await slices.create(input({}) as ResourceSliceV1beta1Input);
    const found = async (fields: string) => (await slices.list({ fields })).items.length;
    expect(await Promise.all(['spec.nodeName=n', 'spec.driver=d', 'spec.driver=e'].map(found))).toEqual([1, 1, 0]);
    await expect(found('spec.x=y')).rejects.toMatchObject({
      message: 'field label not supported for resource.orch.io/v1beta1, Kind=ResourceSlice: spec.x',
    });
  });

  test('drops an applied false when the fields of the manager are in an older version', async () => {
    const cluster = clusterOf();
    const { nodeName: _, ...rest } = least;
    const older = { metadata: { name: 'a' }, spec: { ...rest, allNodes: true } } as never;
    await cluster.api(ResourceSliceV1alpha3).apply(older, { fieldManager: 'm' });
    const applied = { metadata: { name: 'a' }, spec: { ...rest, allNodes: false } } as never;
    expect(await rejectionCauses(cluster.api(ResourceSlice).apply(applied, { fieldManager: 'm' }))).toEqual([
      `spec: Required value: ${ONE_OF}`,
    ]);
  });

  test('converts a ResourceSlice between nested and flat devices', async () => {
    const cluster = clusterOf();
    const facts = { attributes: { a: { int: 0 } }, capacity: { c: { value: '1Gi' } } };
    const spec = { ...least, devices: [{ name: 'x', basic: facts }, { name: 'y' }] };
    const api = cluster.api(ResourceSliceV1beta1);
    const created = await api.create({ metadata: { name: 'a' }, spec } as ResourceSliceV1beta1Input);
    expect(created.spec.devices).toEqual([
      { name: 'x', basic: facts },
      { name: 'y', basic: {} },
    ]);
    expect((await cluster.api(ResourceSlice).get('a')).spec.devices).toEqual([{ name: 'x', ...facts }, { name: 'y' }]);
    const alpha = cluster.api(ResourceSliceV1alpha3);
    const seen = await alpha.get('a');
    expect(seen.spec.devices?.[0]?.basic).toEqual({ ...facts, capacity: { c: '1Gi' } });
    const labels = { k: 'v' };
    const updated = await alpha.update({ ...seen, metadata: { ...seen.metadata, labels } });
    expect(updated.metadata).toMatchObject({ labels, generation: 1 });
    expect((await api.get('a')).spec).toEqual(created.spec);
    const bad = { ...least, devices: [{ name: 'x', basic: { attributes: { a: {} } } }] };
    expect(
      await rejectionCauses(api.create({ metadata: { name: 'b' }, spec: bad } as ResourceSliceV1beta1Input)),
    ).toEqual(['spec.devices[0].attributes[a]: Required value: exactly one value must be specified']);
  });
});
