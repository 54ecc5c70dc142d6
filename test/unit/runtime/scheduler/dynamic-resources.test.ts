/** Resource claims: which devices a pod gets, and what the scheduler writes. */
import { defaultAdmission, taintNodesByCondition } from 'orchplane/admission';
import { controllers } from 'orchplane/controllers';
import { DeviceClass, Node, Pod, ResourceClaim, ResourceSlice } from 'orchplane/kinds';
import { testCluster } from 'orchplane/testing';
import { describe, expect, test } from 'vitest';
import { compilationCost, selectsDevice } from '../../../../src/cel/index.js';
import { featureGates } from '../../../../src/kinds/feature-gates.js';
import { scheduler } from '../../../../src/runtime/scheduler/index.js';
import {
  allocateDevices,
  type StoredResourceClaim,
} from '../../../../src/runtime/scheduler/plugins/device-allocator.js';
import { SearchBudget } from '../../../../src/runtime/scheduler/plugins/device-search-budget.js';
import { cpuTimer } from '../../../fixtures/cpu-time.js';
import { node, object, place, pod, snapshotOf } from './fixture.js';

const DRIVER = 'gpu.example.com';
const expression = (text: string) => [{ cel: { expression: text } }];
const anyClass = object('DeviceClass', 'any', { spec: { selectors: expression(`device.driver == "${DRIVER}"`) } });

function slice(name: string, devices: readonly object[], fields: object = { nodeName: name }, pool: object = {}) {
  const spec = { driver: DRIVER, pool: { name, generation: 1, resourceSliceCount: 1, ...pool }, ...fields, devices };
  return object('ResourceSlice', `slice-${name}`, { spec });
}

const device = (name: string, model = 'x', size = 10) => ({
  name,
  attributes: { model: { string: model }, size: { int: size } },
});

function claim(requests: readonly object[], more: object = {}, status: object = {}) {
  const spec = { devices: { requests, ...more } };
  return object('ResourceClaim', 'c', { spec, status }, { namespace: 'default' });
}

const request = (name = 'r', exactly: object = {}) => ({
  name,
  exactly: { deviceClassName: 'any', count: 1, ...exactly },
});
const user = pod(
  'p',
  {},
  {
    spec: { containers: [{ resources: {} }], resourceClaims: [{ name: 'gpu', resourceClaimName: 'c' }] },
  },
);
const nodes = [node('a'), node('b')];
const NOWHERE = '0/2 nodes are available: 2 cannot allocate all claims.';

describe('DynamicResources', () => {
  test.each<[string, object, readonly string[] | string]>([
    ['one device', claim([request()]), ['a', 'b']],
    ['more devices than a node has', claim([request('r', { count: 2 })]), ['b']],
    ['devices for two requests', claim([request('r'), request('s')]), ['b']],
    ['too many devices', claim([request('r', { count: 3 })]), NOWHERE],
    [
      'devices by an attribute',
      claim([request('r', { selectors: expression(`device.attributes["${DRIVER}"].model == "y"`) })]),
      ['b'],
    ],
    [
      'devices with the same attribute',
      claim([request('r', { count: 2 })], { constraints: [{ matchAttribute: `${DRIVER}/model` }] }),
      NOWHERE,
    ],
    ['all devices', claim([request('r', { allocationMode: 'All' })]), ['a', 'b']],
    [
      'a class that does not exist',
      claim([request('r', { deviceClassName: 'none' })]),
      '0/2 nodes are available: request r: device class none does not exist.',
    ],
  ])('accepts the nodes with %s', (_name, wanted, expected) => {
    const slices = [slice('a', [device('d0')]), slice('b', [device('d0'), device('d1', 'y')])];
    expect(place(user, snapshotOf(nodes, [anyClass, ...slices, wanted as ReturnType<typeof object>]))).toEqual(
      expected,
    );
  });

  test('does not use devices of other claims', () => {
    const results = [{ driver: DRIVER, pool: 'a', device: 'd0' }];
    const other = object('ResourceClaim', 'other', { spec: {}, status: { allocation: { devices: { results } } } });
    const objects = [anyClass, slice('a', [device('d0')]), slice('b', [device('d0')]), claim([request()])];
    expect(place(user, snapshotOf(nodes, objects))).toEqual(['a', 'b']);
    expect(place(user, snapshotOf(nodes, [...objects, other]))).toEqual(['b']);
  });

  test('gives admin access to devices that are in use, and keeps them available', () => {
    const used = (adminAccess: boolean | null) => {
      const results = [{ driver: DRIVER, pool: 'a', device: 'd0', adminAccess }];
      return object('ResourceClaim', 'other', { spec: {}, status: { allocation: { devices: { results } } } });
    };
    const objects = [anyClass, slice('a', [device('d0')])];
    const features = featureGates({ DynamicResourceAllocation: true, DRAAdminAccess: true });
    const admin = request('r', { count: 2, adminAccess: true });
    const allocated = (other: ReturnType<typeof object>, ...requests: object[]) => {
      const snapshot = { ...snapshotOf([node('a')], [...objects, other]), features };
      const wanted = claim(requests) as unknown as Parameters<typeof allocateDevices>[0][number];
      const [allocation] = allocateDevices([wanted], node('a'), snapshot) ?? [];
      return allocation?.devices.results?.map(({ request: name, ...result }) => [
        name,
        result.device,
        result.adminAccess,
      ]);
    };
    expect(allocated(used(null), request('r', { adminAccess: true }))).toEqual([['r', 'd0', true]]);
    expect(allocated(used(null), request())).toBeUndefined();
    expect(allocated(used(null), request('r', { adminAccess: false }))).toBeUndefined();
    expect(allocated(used(true), request())).toEqual([['r', 'd0', null]]);
    expect(allocated(used(true), admin, request('s'))).toEqual([
      ['r', 'd0', true],
      ['r', 'd0', true],
      ['s', 'd0', null],
    ]);
    expect(() => place(user, snapshotOf(nodes, [...objects, claim([admin])]))).toThrow(
      'claim default/c, request r: admin access is requested, but the feature is disabled',
    );
  });

  test('ignores slices of an old generation', () => {
    const old = slice('a', [device('d0')]);
    const current = object('ResourceSlice', 'new', {
      spec: { driver: DRIVER, pool: { name: 'a', generation: 2, resourceSliceCount: 1 }, nodeName: 'a', devices: [] },
    });
    expect(place(user, snapshotOf(nodes, [anyClass, old, current, claim([request()])]))).toBe(NOWHERE);
  });

  test('keeps a pod on the nodes of a claim that is allocated', () => {
    const term = { matchFields: [{ key: 'metadata.name', operator: 'In', values: ['b'] }] };
    const allocation = { devices: {}, nodeSelector: { nodeSelectorTerms: [term] } };
    const allocated = claim([request()], {}, { allocation });
    expect(place(user, snapshotOf(nodes, [anyClass, allocated]))).toEqual(['b']);
    expect(place(user, snapshotOf([node('a')], [anyClass, allocated]))).toBe(
      '0/1 nodes are available: 1 resourceclaim not available on the node.',
    );
  });

  test('reports an expression that fails', () => {
    const failing = claim([request('r', { selectors: expression(`device.attributes["${DRIVER}"].absent == "y"`) })]);
    const snapshot = snapshotOf(nodes, [anyClass, slice('a', [device('d0')]), failing]);
    expect(() => place(user, snapshot)).toThrow(
      'running "DynamicResources" filter plugin: claim default/c: selector #0: CEL runtime error: no such key: absent',
    );
  });

  test('accepts a node with enough devices although there are too many combinations on the others', () => {
    const devices = (count: number) => Array.from({ length: count }, (_, index) => device(`d${index}`));
    // Each request alone could be met on the first node.
    const wanted = claim([request('r', { count: 16 }), request('s', { count: 16 })]);
    const objects = [anyClass, slice('a', devices(31)), slice('b', devices(32)), wanted];
    expect(place(user, snapshotOf(nodes, objects))).toEqual(['b']);
  });

  test('does not try combinations of devices if a request selects none', () => {
    const devices = Array.from({ length: 40 }, (_, index) => device(`d${index}`));
    const selectors = expression(`device.attributes["${DRIVER}"].model == "absent"`);
    const impossible = claim([request('r', { count: 20 }), request('s', { selectors })]);
    expect(place(user, snapshotOf(nodes, [anyClass, slice('a', devices), impossible]))).toBe(NOWHERE);
  });

  test('tries each set of devices for a request once', () => {
    // No two of the ten devices that both requests need have the same model.
    const devices = Array.from({ length: 20 }, (_, index) => device(`d${index}`, index < 10 ? 'x' : `m${index}`));
    const constraints = [{ matchAttribute: `${DRIVER}/model` }];
    const wanted = claim([request('r', { count: 8 }), request('s', { count: 2 })], { constraints });
    const objects = [anyClass, slice('a', devices.slice(1)), slice('b', devices), wanted];
    expect(place(user, snapshotOf(nodes, objects))).toEqual(['b']);
  });

  test('limits the cost of selectors, and evaluates a device once for all nodes', () => {
    const list = '[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]';
    const text = `!${list}.all(a, ${list}.all(b, ${list}.all(c, a + b + c >= 0)))`;
    const wanted = claim([request('r', { selectors: expression(text) })]);
    const devices = Array.from({ length: 10 }, (_, index) => device(`d${index}`));
    const snapshot = snapshotOf(nodes, [anyClass, slice('shared', devices, { allNodes: true })]);
    const allocate = (budget: SearchBudget) =>
      nodes.map((each) => allocateDevices([wanted as unknown as StoredResourceClaim], each, snapshot, budget));
    expect(allocate(new SearchBudget())).toEqual([undefined, undefined]);
    let cost = 0;
    const attributes = { model: { string: 'x' } };
    selectsDevice(expression(text), { driver: DRIVER, attributes }, (each) => {
      cost = each;
    });
    expect(cost).toBeGreaterThan(2_000);
    const ofClass = 20;
    const whole =
      10 * (cost + ofClass) + compilationCost([...expression(`device.driver == "${DRIVER}"`), ...expression(text)]);
    expect(allocate(new SearchBudget({ cost: whole }))).toEqual([undefined, undefined]);
    expect(() => allocate(new SearchBudget({ cost: whole - 1 }))).toThrow(
      'the selectors of devices exceed the cost limit',
    );
  });

  test('counts constraints in the limit of a search', () => {
    const devices = Array.from({ length: 100 }, (_, index) => device(`d${index}`, 'x', index));
    const names = Array.from({ length: 32 }, (_, index) => `r${index}`);
    const requests = [...Array.from({ length: 28 }, (_, index) => `x${index}`), ...names.slice(28)];
    const constraints = names.map((name) => ({
      matchAttribute: `${DRIVER}/${name === 'r31' ? 'size' : 'model'}`,
      requests,
    }));
    const wanted = claim(
      names.map((name) => request(name)),
      { constraints },
    );
    const snapshot = snapshotOf(nodes, [anyClass, slice('a', devices)]);
    const spentMs = cpuTimer();
    const budget = new SearchBudget({ tries: 30_000 });
    expect(allocateDevices([wanted as unknown as StoredResourceClaim], node('a'), snapshot, budget)).toBeUndefined();
    expect(spentMs()).toBeLessThan(1500);
  });

  test('describes the allocation with its configuration and its nodes', () => {
    const opaque = { driver: DRIVER, parameters: { a: 1 } };
    const configured = object('DeviceClass', 'any', { spec: { config: [{ opaque }] } });
    const zone = { matchExpressions: [{ key: 'zone', operator: 'In', values: ['z1'] }] };
    const shared = slice('shared', [device('d0')], { nodeSelector: { nodeSelectorTerms: [zone] } });
    const [host] = [node('a', { labels: { zone: 'z1' } })];
    const wanted = claim([request('r')], {
      config: [
        { requests: ['r'], opaque },
        { requests: ['other'], opaque },
      ],
    });
    const snapshot = snapshotOf([host as ReturnType<typeof node>], [configured, shared, wanted]);
    const [stored] = snapshot.objects.list(ResourceClaim);
    expect(allocateDevices(stored === undefined ? [] : [stored], host as ReturnType<typeof node>, snapshot)).toEqual([
      {
        devices: {
          results: [{ request: 'r', driver: DRIVER, pool: 'shared', device: 'd0', adminAccess: null }],
          config: [
            { source: 'FromClass', requests: ['r'], opaque },
            { source: 'FromClaim', requests: ['r'], opaque },
          ],
        },
        nodeSelector: { nodeSelectorTerms: [zone] },
      },
    ]);
  });
});

describe('resource claims in a cluster', () => {
  async function withDevices(count: number) {
    const cluster = testCluster({
      runtimeConfig: { 'resource.orch.io/v1beta2': true },
      featureGates: { DynamicResourceAllocation: true },
      admission: defaultAdmission.filter((plugin) => plugin !== taintNodesByCondition),
      controllers: controllers([scheduler()]),
    });
    await cluster.api(Node).create({ metadata: { name: 'a' }, status: { allocatable: { pods: '10' } } });
    await cluster.api(DeviceClass).create({ metadata: { name: 'any' }, spec: {} });
    await cluster.api(ResourceSlice).create({
      metadata: { name: 'a' },
      spec: {
        driver: DRIVER,
        nodeName: 'a',
        pool: { name: 'a', generation: 1, resourceSliceCount: 1 },
        devices: Array.from({ length: count }, (_, index) => ({ name: `d${index}` })),
      },
    });
    return cluster;
  }

  const wanting = (name: string) => ({
    metadata: { name },
    spec: {
      containers: [{ name: 'c', image: 'app:1' }],
      resourceClaims: [{ name: 'gpu', resourceClaimName: name }],
    },
  });

  const claimNamed = (name: string) => ({
    metadata: { name },
    spec: { devices: { requests: [{ name: 'r', exactly: { deviceClassName: 'any' } }] } },
  });

  test('allocates a claim and reserves it for its pod before the pod is bound', async () => {
    const cluster = await withDevices(1);
    const { metadata } = await cluster.api(Pod).create(wanting('web'));
    await cluster.settle();
    // There is no claim yet, so nothing is reported.
    expect((await cluster.api(Pod).get('web')).status.conditions).toBeUndefined();
    await cluster.api(ResourceClaim).create(claimNamed('web'));
    await cluster.settle();
    expect((await cluster.api(Pod).get('web')).spec.nodeName).toBe('a');
    const claimed = await cluster.api(ResourceClaim).get('web');
    expect(claimed.metadata.finalizers).toEqual(['resource.orch.io/delete-protection']);
    expect(claimed.status).toMatchObject({
      allocation: { devices: { results: [{ request: 'r', driver: DRIVER, pool: 'a', device: 'd0' }] } },
      reservedFor: [{ resource: 'pods', name: 'web', uid: metadata.uid }],
    });
  });

  test('reports that there are no devices left', async () => {
    const cluster = await withDevices(1);
    for (const name of ['one', 'two']) {
      await cluster.api(ResourceClaim).create(claimNamed(name));
      await cluster.api(Pod).create(wanting(name));
    }
    await cluster.settle();
    const { status } = await cluster.api(Pod).get('two');
    expect(status.conditions?.[0]?.message).toBe(
      '0/1 nodes are available: 1 cannot allocate all claims. still not schedulable, preemption: 0/1 nodes are available: ' +
        '1 Preemption is not helpful for scheduling.',
    );
  });
});
