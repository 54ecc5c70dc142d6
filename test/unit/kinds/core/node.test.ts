/** Defaulting, validation and warnings of Nodes. */
import { mergePatch } from 'orchplane';
import { Node, type NodeInput } from 'orchplane/kinds';
import { testCluster } from 'orchplane/testing';
import { describe, expect, test } from 'vitest';
import { rejectionCauses } from '../rejections.js';

type Spec = NonNullable<NodeInput['spec']>;
type Status = NonNullable<NodeInput['status']>;

const create = (spec: Spec, status: Status = {}) =>
  testCluster()
    .api(Node)
    .create({ metadata: { name: 'n' }, spec, status });

describe('Node defaults', () => {
  test.each<[string, Spec, Spec]>([
    ['podCIDR sets podCIDRs', { podCIDR: '10.0.0.0/24' }, { podCIDR: '10.0.0.0/24', podCIDRs: ['10.0.0.0/24'] }],
    [
      'podCIDRs sets podCIDR',
      { podCIDRs: ['10.0.0.0/24', 'fd00::/64'] },
      { podCIDR: '10.0.0.0/24', podCIDRs: ['10.0.0.0/24', 'fd00::/64'] },
    ],
    [
      'podCIDR takes precedence',
      { podCIDR: '10.0.0.0/24', podCIDRs: ['10.0.1.0/24'] },
      { podCIDR: '10.0.0.0/24', podCIDRs: ['10.0.0.0/24'] },
    ],
    ['configSource is dropped', { configSource: {} }, {}],
  ])('sets the Node defaults: %s', async (_, given, stored) => {
    expect((await create(given)).spec).toMatchObject(stored);
    expect((await create(given)).spec).not.toHaveProperty('configSource');
  });

  test('defaults allocatable to the capacity', async () => {
    const { status } = await create({}, { capacity: { cpu: '4' } });
    expect(status).toMatchObject({ capacity: { cpu: '4' }, allocatable: { cpu: '4' } });
    expect(status.nodeInfo.kubeletVersion).toBe('');
    expect(status.daemonEndpoints).toEqual({ kubeletEndpoint: { Port: 0 } });
  });
});

describe('Node validation', () => {
  test.each<[string, Spec, string[]]>([
    [
      'an invalid range',
      { podCIDR: 'x' },
      ['spec.podCIDRs[0]: Invalid value: "x": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)'],
    ],
    [
      'a repeated range and two ranges of a family',
      { podCIDRs: ['10.0.0.0/24', '10.0.0.0/24'] },
      [
        'spec.podCIDRs: Invalid value: []string{"10.0.0.0/24", "10.0.0.0/24"}: may specify no more than one CIDR for each IP family',
      ],
    ],
    ['taints without an effect', { taints: [{ key: 'a' } as never] }, ['metadata.taints[0].effect: Required value']],
  ])('rejects %s', async (_, spec, problems) => {
    expect(await rejectionCauses(create(spec))).toEqual(problems);
  });

  test('rejects negative quantities in capacity and allocatable', async () => {
    expect(await rejectionCauses(create({}, { capacity: { cpu: '-1' } }))).toEqual([
      'status.capacity.cpu: Invalid value: "-1": must be greater than or equal to 0',
      'status.allocatable.cpu: Invalid value: "-1": must be greater than or equal to 0',
    ]);
  });

  test('rejects changes of fields that can be set once', async () => {
    const nodes = testCluster().api(Node);
    const spec: Spec = { podCIDR: '10.0.0.0/24', providerID: 'x://1' };
    await nodes.create({ metadata: { name: 'n' }, spec });
    const cidr = 'spec.podCIDRs: Forbidden: node updates may not change podCIDR except from "" to valid';
    const provider = 'spec.providerID: Forbidden: node updates may not change providerID except from "" to valid';
    expect(await rejectionCauses(nodes.update({ metadata: { name: 'n' }, spec: {} }))).toEqual([cidr, provider]);
    expect(
      await rejectionCauses(nodes.update({ metadata: { name: 'n' }, spec: { ...spec, podCIDR: '10.0.1.0/24' } })),
    ).toEqual([cidr]);
    expect(
      await rejectionCauses(nodes.update({ metadata: { name: 'n' }, spec: { ...spec, externalID: 'e' } })),
    ).toEqual(['spec.externalID: Forbidden: may not be updated']);
  });
});

test('accepts a podCIDR and a providerID that were absent', async () => {
  const nodes = testCluster().api(Node);
  await nodes.create({ metadata: { name: 'n' } });
  const spec: Spec = { podCIDR: '10.0.0.0/24', providerID: 'x://1' };
  expect((await nodes.update({ metadata: { name: 'n' }, spec })).spec).toMatchObject(spec);
});

test('validates an update like a create before it validates the change', async () => {
  const nodes = testCluster().api(Node);
  await nodes.create({ metadata: { name: 'n' }, spec: { providerID: 'a', podCIDR: '10.0.0.0/24' } });
  const spec = {
    providerID: 'b',
    podCIDRs: ['10.0.0.0/24', '10.0.1.0/24'],
    taints: [{ key: 'k', effect: '' as never }],
  };
  expect(await rejectionCauses(nodes.update({ metadata: { name: 'n', finalizers: ['x'] }, spec }))).toEqual([
    'metadata.finalizers[0]: Invalid value: "x": name is neither a standard finalizer name nor is it fully qualified',
    'metadata.taints[0].effect: Required value',
    'spec.podCIDRs: Invalid value: []string{"10.0.0.0/24", "10.0.1.0/24"}: may specify no more than one CIDR for each IP family',
    'metadata.finalizers[0]: Invalid value: "x": name is neither a standard finalizer name nor is it fully qualified',
    'spec.podCIDRs: Forbidden: node updates may not change podCIDR except from "" to valid',
    'spec.providerID: Forbidden: node updates may not change providerID except from "" to valid',
    'metadata.taints[0].effect: Required value',
  ]);
});

test('warns about unused fields and ambiguous CIDRs', async () => {
  const warnings: string[] = [];
  const nodes = testCluster({ client: { onWarning: (text) => warnings.push(text) } }).api(Node);
  await nodes.create({ metadata: { name: 'n' }, spec: { externalID: 'e', podCIDR: '10.0.0.1/24' } });
  expect(warnings).toEqual([
    'spec.externalID: this field is deprecated, and is unused by Kubernetes',
    'spec.podCIDRs[0]: CIDR value "10.0.0.1/24" is ambiguous in this context (should be "10.0.0.0/24" or "10.0.0.1/32"?)',
  ]);
});

describe('the status of a Node', () => {
  test('keeps the status of a Node on a spec update and the spec on a status update', async () => {
    const nodes = testCluster().api(Node);
    await nodes.create({ metadata: { name: 'n' }, status: { capacity: { cpu: '1' } } });
    const updated = await nodes.update({ metadata: { name: 'n' }, status: { capacity: { cpu: '2' } } });
    expect(updated.status.capacity).toEqual({ cpu: '1' });
    const patched = await nodes.status.patch(
      'n',
      mergePatch({ spec: { unschedulable: true }, status: { capacity: { cpu: '3' } } }),
    );
    expect(patched.spec.unschedulable).toBeUndefined();
    expect(patched.status.capacity).toEqual({ cpu: '3' });
  });

  test('does not make the writer of an empty allocatable the owner of its default', async () => {
    const nodes = testCluster().api(Node);
    await nodes.create({ metadata: { name: 'n' }, spec: { podCIDR: '10.0.0.0/24' } });
    const { metadata, status } = await nodes.status.patch(
      'n',
      mergePatch({ status: { allocatable: {}, capacity: { cpu: '1' } } }),
    );
    expect(status.allocatable).toEqual({ cpu: '1' });
    const fieldsV1 = { 'f:status': { 'f:capacity': { '.': {}, 'f:cpu': {} } } };
    expect(metadata.managedFields).toContainEqual(expect.objectContaining({ subresource: 'status', fieldsV1 }));
  });

  test('rejects duplicate addresses in the status of a Node', async () => {
    const nodes = testCluster().api(Node);
    await nodes.create({ metadata: { name: 'n' } });
    const address = { type: 'InternalIP', address: '10.0.0.1' };
    const patch = nodes.status.patch('n', mergePatch({ status: { addresses: [address, address] } }));
    expect(await rejectionCauses(patch)).toEqual([
      'status.addresses[1]: Duplicate value: core.NodeAddress{Type:"InternalIP", Address:"10.0.0.1"}',
    ]);
  });

  test('selects Nodes by spec.unschedulable', async () => {
    const nodes = testCluster().api(Node);
    await nodes.create({ metadata: { name: 'n' }, spec: { unschedulable: true } });
    expect((await nodes.list({ fields: 'spec.unschedulable=true' })).items).toHaveLength(1);
    expect((await nodes.list({ fields: 'spec.unschedulable=false' })).items).toHaveLength(0);
  });
});
