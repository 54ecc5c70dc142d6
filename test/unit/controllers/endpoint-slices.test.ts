/**
 * EndpointSlice controller and EndpointSliceMirroring controller.
 */

import { endpointSliceMirroring, endpointSlices } from 'orchplane/controllers';
import { EndpointSlice, Endpoints, type EndpointsInput, Node, Pod, Service } from 'orchplane/kinds';
import { describe, expect, test } from 'vitest';
import type { EndpointInput } from '../../../src/kinds/generated/discovery-v1.js';
import { type Serving, serving } from './endpoints-fixture.js';

/** All slices except that of the API server. */
async function slicesIn({ cluster }: Serving) {
  await cluster.settle();
  const { items } = await cluster.api(EndpointSlice).list();
  return items.filter(({ metadata }) => metadata.name !== 'kubernetes');
}

async function sizes(self: Serving): Promise<number[]> {
  return (await slicesIn(self)).map(({ endpoints }) => endpoints?.length ?? 0).sort((a, b) => b - a);
}

async function addresses(self: Serving): Promise<string[]> {
  return (await slicesIn(self)).flatMap(({ endpoints }) => (endpoints ?? []).flatMap((one) => one.addresses)).sort();
}

async function onlySlice(self: Serving) {
  const [slice, ...more] = await slicesIn(self);
  expect(more).toEqual([]);
  if (slice === undefined) throw new Error('there is no slice');
  return slice;
}

describe('EndpointSlice', () => {
  test.each(['orch', 'kubernetes'] as const)(
    'writes labels, owner and endpoints of a slice in the %s dialect',
    async (dialect) => {
      const [domain, group] = dialect === 'orch' ? ['orch.io', 'orch.io'] : ['kubernetes.io', 'k8s.io'];
      const self = await serving([endpointSlices()], { dialect });
      await self.service('svc', { ports: [{ name: 'p', port: 80, appProtocol: 'http' }] }, { l: '1' });
      await self.pod('a', { ip: '10.1.0.1', spec: { hostname: 'host', subdomain: 'svc' } });
      const slice = await onlySlice(self);
      const service = await self.cluster.api(Service).get('svc');
      const { uid } = (await self.cluster.api(Pod).get('a')).metadata;
      expect(slice.metadata).toMatchObject({
        generateName: 'svc-',
        labels: {
          l: '1',
          [`endpointslice.${domain}/managed-by`]: `endpointslice-controller.${group}`,
          [`${domain}/service-name`]: 'svc',
          [`service.${domain}/headless`]: '',
        },
        annotations: { [`endpoints.${domain}/last-change-trigger-time`]: '2030-01-01T00:00:00Z' },
        ownerReferences: [
          {
            apiVersion: 'v1',
            kind: 'Service',
            name: 'svc',
            uid: service.metadata.uid,
            controller: true,
            blockOwnerDeletion: true,
          },
        ],
      });
      expect(slice.metadata.name).toMatch(/^svc-[a-z0-9]{5}$/);
      expect(slice.ports).toEqual([{ name: 'p', protocol: 'TCP', port: 80, appProtocol: 'http' }]);
      expect(slice.addressType).toBe('IPv4');
      expect(slice.endpoints).toEqual([
        {
          addresses: ['10.1.0.1'],
          conditions: { ready: true, serving: true, terminating: false },
          hostname: 'host',
          targetRef: { kind: 'Pod', namespace: 'default', name: 'a', uid },
          nodeName: 'n1',
          zone: 'z1',
        },
      ]);
    },
  );

  test('creates an empty slice first and reuses it for the first endpoint', async () => {
    const self = await serving([endpointSlices()]);
    await self.service('svc');
    const empty = await onlySlice(self);
    expect([empty.endpoints, empty.ports]).toEqual([null, null]);
    await self.pod('a', { ip: '10.1.0.1' });
    expect((await onlySlice(self)).metadata.uid).toBe(empty.metadata.uid);
    await self.cluster.api(Pod).delete('a', { gracePeriodSeconds: 0 });
    const again = await onlySlice(self);
    expect([again.metadata.uid, again.endpoints]).toEqual([empty.metadata.uid, null]);
  });

  test.each([
    ['a ready pod', { ready: true }, {}, { ready: true, serving: true, terminating: false }],
    ['a pod that is not ready', { ready: false }, {}, { ready: false, serving: false, terminating: false }],
    [
      'a published pod that is not ready',
      { ready: false },
      { publishNotReadyAddresses: true },
      { ready: true, serving: false, terminating: false },
    ],
  ] as const)('sets the endpoint conditions of %s', async (_name, setup, spec, conditions) => {
    const self = await serving([endpointSlices()]);
    await self.service('svc', spec);
    await self.pod('a', { ip: '10.1.0.1', ...setup });
    expect((await onlySlice(self)).endpoints?.[0]?.conditions).toEqual(conditions);
  });

  test('keeps a terminating endpoint that still serves', async () => {
    const self = await serving([endpointSlices()]);
    await self.service('svc');
    await self.pod('a', { ip: '10.1.0.1' });
    await onlySlice(self);
    await self.cluster.api(Pod).delete('a');
    expect((await onlySlice(self)).endpoints?.[0]?.conditions).toEqual({
      ready: false,
      serving: true,
      terminating: true,
    });
    await self.cluster.api(Pod).delete('a', { gracePeriodSeconds: 0 });
    expect(await addresses(self)).toEqual([]);
  });

  test('copies the labels of the service and follows their changes', async () => {
    const self = await serving([endpointSlices()]);
    await self.service('svc', {}, { l: '1', 'orch.io/service-name': 'stolen' });
    await self.pod('a', { ip: '10.1.0.1' });
    const first = await onlySlice(self);
    expect(first.metadata.labels).toMatchObject({ l: '1', 'orch.io/service-name': 'svc' });
    await self.cluster.api(Service).edit('svc', (service) => {
      service.metadata.labels = { m: '2' };
    });
    const { labels } = (await onlySlice(self)).metadata;
    expect(labels).toMatchObject({ m: '2', 'orch.io/service-name': 'svc' });
    expect(labels).not.toHaveProperty('l');
  });

  test('writes no slice when nothing changes', async () => {
    const self = await serving([endpointSlices()]);
    await self.service('svc');
    await self.pod('a', { ip: '10.1.0.1' });
    const { resourceVersion } = (await onlySlice(self)).metadata;
    await self.cluster.api(Service).edit('svc', (service) => {
      service.metadata.annotations = { note: 'n' };
    });
    await self.cluster.api(Pod).edit('a', (pod) => {
      pod.metadata.annotations = { note: 'n' };
    });
    expect((await onlySlice(self)).metadata.resourceVersion).toBe(resourceVersion);
  });

  test('restores a slice that another client changes or deletes', async () => {
    const self = await serving([endpointSlices()]);
    await self.service('svc');
    await self.pod('a', { ip: '10.1.0.1' });
    const { name } = (await onlySlice(self)).metadata;
    const strange: EndpointInput = { addresses: ['10.9.9.9'] };
    await self.cluster.api(EndpointSlice).patch(name, { type: 'merge', merge: { endpoints: [strange] } });
    expect(await addresses(self)).toEqual(['10.1.0.1']);
    await self.cluster.api(EndpointSlice).deleteCollection();
    expect(await addresses(self)).toEqual(['10.1.0.1']);
  });

  test('leaves slices of other managers unchanged', async () => {
    const self = await serving([endpointSlices()]);
    await self.cluster.api(EndpointSlice).create({
      metadata: { name: 'mine', labels: { 'orch.io/service-name': 'svc' } },
      addressType: 'IPv4',
      endpoints: [{ addresses: ['10.9.9.9'] }],
    });
    await self.service('svc');
    await self.pod('a', { ip: '10.1.0.1' });
    expect(await addresses(self)).toEqual(['10.1.0.1', '10.9.9.9']);
  });

  test('replaces the slice of an earlier service with the same name', async () => {
    const self = await serving([endpointSlices()]);
    await self.service('svc');
    await self.pod('a', { ip: '10.1.0.1' });
    const before = await onlySlice(self);
    await self.cluster.api(Service).delete('svc');
    // The garbage collector would delete the slice; it does not run here.
    expect((await onlySlice(self)).metadata.uid).toBe(before.metadata.uid);
    await self.service('svc');
    const after = await onlySlice(self);
    expect(after.metadata.uid).not.toBe(before.metadata.uid);
    expect(await addresses(self)).toEqual(['10.1.0.1']);
  });

  test('keeps the slice when the service loses its selector', async () => {
    const self = await serving([endpointSlices()]);
    await self.service('svc');
    await self.pod('a', { ip: '10.1.0.1' });
    await onlySlice(self);
    await self.cluster.api(Service).edit('svc', (service) => {
      delete service.spec.selector;
    });
    await self.cluster.api(Pod).delete('a', { gracePeriodSeconds: 0 });
    expect(await addresses(self)).toEqual(['10.1.0.1']);
  });
});

describe('several EndpointSlices of a service', () => {
  test('fills existing slices before it creates more', async () => {
    const self = await serving([endpointSlices({ maxEndpointsPerSlice: 3 })]);
    await self.service('svc');
    for (let index = 1; index <= 7; index++) await self.pod(`p${index}`, { ip: `10.1.0.${index}` });
    expect(await sizes(self)).toEqual([3, 3, 1]);
    const names = (await slicesIn(self)).map(({ metadata }) => metadata.name);
    await self.cluster.api(Pod).delete('p1', { gracePeriodSeconds: 0 });
    await self.pod('p8', { ip: '10.1.0.8' });
    expect((await sizes(self)).reduce((sum, size) => sum + size)).toBe(7);
    expect((await slicesIn(self)).map(({ metadata }) => metadata.name)).toEqual(names);
    expect(await addresses(self)).toEqual([2, 3, 4, 5, 6, 7, 8].map((index) => `10.1.0.${index}`));
  });

  test('does not move endpoints and deletes empty slices', async () => {
    const self = await serving([endpointSlices({ maxEndpointsPerSlice: 2 })]);
    await self.service('svc');
    for (let index = 1; index <= 4; index++) await self.pod(`p${index}`, { ip: `10.1.0.${index}` });
    expect(await sizes(self)).toEqual([2, 2]);
    await self.cluster.api(Pod).delete('p1', { gracePeriodSeconds: 0 });
    expect(await sizes(self)).toEqual([2, 1]);
    await self.cluster.api(Pod).delete('p2', { gracePeriodSeconds: 0 });
    expect(await sizes(self)).toEqual([2]);
  });

  test('creates separate slices for pods with different ports', async () => {
    const self = await serving([endpointSlices()]);
    await self.service('svc', { ports: [{ name: 'web', port: 80, targetPort: 'http' }] });
    const spec = (containerPort: number) => ({
      containers: [{ name: 'c', image: 'i', ports: [{ name: 'http', containerPort }] }],
    });
    await self.pod('a', { ip: '10.1.0.1', spec: spec(8080) });
    await self.pod('b', { ip: '10.1.0.2', spec: spec(9090) });
    const found = (await slicesIn(self)).map(({ endpoints, ports }) => [
      endpoints?.[0]?.addresses[0],
      ports?.[0]?.port,
    ]);
    expect(found.sort()).toEqual([
      ['10.1.0.1', 8080],
      ['10.1.0.2', 9090],
    ]);
    await self.pod('c', { ip: '10.1.0.3' });
    expect((await slicesIn(self)).map(({ ports }) => ports?.[0]?.port ?? 'none').sort()).toEqual([8080, 9090, 'none']);
  });

  test.each([0, 1001, 1.5])('rejects a limit of %s endpoints per slice', (maxEndpointsPerSlice) => {
    expect(() => endpointSlices({ maxEndpointsPerSlice })).toThrow('must be a whole number from 1 to 1000');
  });
});

describe('nodes of EndpointSlice endpoints', () => {
  test('omits a pod whose node is unknown until the node exists', async () => {
    const self = await serving([endpointSlices()]);
    await self.service('svc');
    await self.pod('a', { ip: '10.1.0.1' });
    await self.pod('b', { ip: '10.1.0.2', node: 'n2' });
    expect(await addresses(self)).toEqual(['10.1.0.1']);
    expect(await self.events()).toEqual([
      'Warning FailedToUpdateEndpointSlices Error updating Endpoint Slices for Service default/svc: ' +
        'skipping Pod b for Service default/svc: Node n2 Not Found (1)',
    ]);
    await self.cluster.clock.advance(1000);
    expect((await self.events())[0]).toContain('(2)');
    await self.node('n2', { 'topology.orch.io/zone': 'z2' });
    expect(await addresses(self)).toEqual(['10.1.0.1', '10.1.0.2']);
    expect((await onlySlice(self)).endpoints?.map(({ zone }) => zone)).toEqual(['z1', 'z2']);
  });

  test('needs no node with publishNotReadyAddresses', async () => {
    const self = await serving([endpointSlices()]);
    await self.service('svc', { publishNotReadyAddresses: true });
    await self.pod('a', { ip: '10.1.0.1', node: undefined });
    expect(await addresses(self)).toEqual(['10.1.0.1']);
    expect((await onlySlice(self)).endpoints?.[0]).not.toHaveProperty('nodeName');
  });

  test('adds a ready pod when it is bound to a node', async () => {
    const self = await serving([endpointSlices()]);
    await self.service('svc');
    await self.pod('a', { ip: '10.1.0.1', node: undefined });
    expect(await addresses(self)).toEqual([]);
    await self.cluster
      .api(Pod)
      .subresource('binding')
      .create('a', { target: { kind: 'Node', name: 'n1' } });
    expect(await addresses(self)).toEqual(['10.1.0.1']);
  });
});

describe('EndpointSlice hints', () => {
  test('removes topology hints that another client wrote', async () => {
    const self = await serving([endpointSlices()]);
    await self.service('svc');
    await self.pod('a', { ip: '10.1.0.1' });
    const { name, endpoints } = { ...(await onlySlice(self)).metadata, ...(await onlySlice(self)) };
    const [endpoint] = endpoints ?? [];
    if (endpoint === undefined) throw new Error('there is no endpoint');
    const hinted = { ...endpoint, hints: { forZones: [{ name: 'z1' }] } };
    await self.cluster.api(EndpointSlice).patch(name, { type: 'merge', merge: { endpoints: [hinted] } });
    expect((await onlySlice(self)).endpoints?.[0]).not.toHaveProperty('hints');
  });

  test('sets the zone hint of ready endpoints with PreferClose', async () => {
    const self = await serving([endpointSlices()]);
    await self.node('bare');
    await self.service('svc');
    await self.pod('a', { ip: '10.1.0.1' });
    await self.pod('b', { ip: '10.1.0.2', ready: false });
    await self.pod('c', { ip: '10.1.0.3', node: 'bare' });
    await onlySlice(self);
    await self.cluster.api(Service).edit('svc', (service) => {
      service.spec.trafficDistribution = 'PreferClose';
    });
    const hints = async () => (await onlySlice(self)).endpoints?.map((endpoint) => endpoint.hints?.forZones?.[0]?.name);
    expect(await hints()).toEqual(['z1', undefined, undefined]);
    await self.status('b', { ip: '10.1.0.2' });
    expect(await hints()).toEqual(['z1', 'z1', undefined]);
    await self.cluster.api(Service).edit('svc', (service) => {
      delete service.spec.trafficDistribution;
    });
    expect(await hints()).toEqual([undefined, undefined, undefined]);
  });

  test('sets node hints with the PreferSameTrafficDistribution feature gate', async () => {
    const self = await serving([endpointSlices()], { featureGates: { PreferSameTrafficDistribution: true } });
    await self.service('svc', { trafficDistribution: 'PreferSameNode' });
    await self.pod('a', { ip: '10.1.0.1' });
    expect((await onlySlice(self)).endpoints?.[0]?.hints).toEqual({
      forZones: [{ name: 'z1' }],
      forNodes: [{ name: 'n1' }],
    });
  });
});

describe('mirrored EndpointSlice', () => {
  async function mirrored(input: Partial<EndpointsInput>, options = {}): Promise<Serving> {
    const self = await serving([endpointSliceMirroring(options), endpointSlices()]);
    await self.cluster.api(Service).create({
      metadata: { name: 'svc' },
      spec: { clusterIP: 'None', ipFamilyPolicy: 'SingleStack', ports: [{ port: 80 }] },
    });
    await self.cluster.api(Endpoints).create({ ...input, metadata: { name: 'svc', ...input.metadata } });
    return self;
  }
  const one = { addresses: [{ ip: '10.2.0.1' }], ports: [{ port: 80 }] };

  test('mirrors manually written Endpoints into a slice', async () => {
    const annotations = {
      note: 'n',
      'kubectl.orch.io/last-applied-configuration': '{}',
      'endpoints.orch.io/last-change-trigger-time': '2030-01-01T00:00:00Z',
    };
    const self = await mirrored({
      metadata: { name: 'svc', labels: { l: '1' }, annotations },
      subsets: [
        {
          addresses: [{ ip: '10.2.0.1', nodeName: 'n1', targetRef: { kind: 'Pod', name: 'a' } }],
          notReadyAddresses: [{ ip: '10.2.0.2', hostname: 'two' }],
          ports: [{ port: 80 }],
        },
      ],
    });
    const slice = await onlySlice(self);
    expect(slice.metadata).toMatchObject({
      generateName: 'svc-',
      labels: {
        l: '1',
        'orch.io/service-name': 'svc',
        'endpointslice.orch.io/managed-by': 'endpointslicemirroring-controller.orch.io',
      },
      ownerReferences: [{ apiVersion: 'v1', kind: 'Endpoints', name: 'svc', controller: true }],
    });
    expect(slice.metadata.annotations).toEqual({ note: 'n' });
    expect(slice.endpoints).toEqual([
      { addresses: ['10.2.0.1'], conditions: { ready: true }, targetRef: { kind: 'Pod', name: 'a' }, nodeName: 'n1' },
      { addresses: ['10.2.0.2'], conditions: { ready: false }, hostname: 'two' },
    ]);
    expect(slice.ports).toEqual([{ name: '', protocol: 'TCP', port: 80 }]);
    expect(self.failures).toEqual([]);
  });

  test('separates address families and ports', async () => {
    const self = await mirrored({
      subsets: [
        { addresses: [{ ip: '10.2.0.1' }, { ip: 'fd00::1' }], ports: [{ port: 80 }] },
        { addresses: [{ ip: '10.2.0.2' }], ports: [{ port: 81 }] },
      ],
    });
    const found = (await slicesIn(self)).map((slice) => `${slice.addressType} ${slice.ports?.[0]?.port}`);
    expect(found.sort()).toEqual(['IPv4 80', 'IPv4 81', 'IPv6 80']);
  });

  test('updates a mirrored slice in place, reuses it for other ports, and writes only changes', async () => {
    const self = await mirrored({ subsets: [one] });
    const first = await onlySlice(self);
    const edit = (subsets: NonNullable<EndpointsInput['subsets']>) =>
      self.cluster.api(Endpoints).patch('svc', { type: 'merge', merge: { subsets } });
    await edit([{ ...one, addresses: [{ ip: '10.2.0.1' }, { ip: '10.2.0.2' }] }]);
    const second = await onlySlice(self);
    expect([second.metadata.uid, second.endpoints?.length]).toEqual([first.metadata.uid, 2]);
    await edit([{ addresses: [{ ip: '10.2.0.1' }], ports: [{ name: 'p', port: 99, protocol: 'UDP' }] }]);
    const third = await onlySlice(self);
    expect([third.metadata.uid, third.ports]).toEqual([first.metadata.uid, [{ name: 'p', protocol: 'UDP', port: 99 }]]);
    await self.cluster.api(Service).edit('svc', (service) => {
      service.metadata.annotations = { note: 'n' };
    });
    expect((await onlySlice(self)).metadata.resourceVersion).toBe(third.metadata.resourceVersion);
    await edit([]);
    expect(await slicesIn(self)).toEqual([]);
  });

  test.each([
    ['Endpoints with the skip-mirror label', { labels: { 'endpointslice.orch.io/skip-mirror': 'true' } }],
    ['Endpoints with a leader election record', { annotations: { 'control-plane.alpha.orch.io/leader': '{}' } }],
  ])('does not mirror %s', async (_name, metadata) => {
    const self = await mirrored({ metadata: { name: 'svc', ...metadata }, subsets: [one] });
    expect(await slicesIn(self)).toEqual([]);
  });

  test('mirrors only Endpoints of existing services without a selector', async () => {
    const self = await mirrored({ subsets: [one] });
    await self.cluster.api(Endpoints).create({ metadata: { name: 'alone' }, subsets: [one] });
    expect(await slicesIn(self)).toHaveLength(1);
    await self.cluster.api(Service).edit('svc', (service) => {
      service.spec.selector = { app: 'x' };
    });
    expect((await onlySlice(self)).metadata.labels?.['endpointslice.orch.io/managed-by']).toBe(
      'endpointslice-controller.orch.io',
    );
    await self.service('alone', { selector: {} });
    expect(await addresses(self)).toEqual(['10.2.0.1']);
    await self.cluster.api(Service).delete('alone');
    expect(await addresses(self)).toEqual([]);
  });

  test('restores a mirrored slice and deletes it with its Endpoints', async () => {
    const self = await mirrored({ subsets: [one] });
    const { name } = (await onlySlice(self)).metadata;
    await self.cluster.api(EndpointSlice).delete(name);
    expect(await addresses(self)).toEqual(['10.2.0.1']);
    const changed = (await onlySlice(self)).metadata.name;
    await self.cluster
      .api(EndpointSlice)
      .patch(changed, { type: 'merge', merge: { endpoints: [{ addresses: ['10.9.9.9'] }] } });
    expect(await addresses(self)).toEqual(['10.2.0.1']);
    await self.cluster.api(Endpoints).delete('svc');
    expect(await slicesIn(self)).toEqual([]);
  });

  test('makes the current Endpoints the owner of a slice of earlier Endpoints', async () => {
    const self = await mirrored({ subsets: [one] });
    const { name, uid, ownerReferences = [] } = (await onlySlice(self)).metadata;
    const earlier = ownerReferences.map((owner) => ({ ...owner, uid: 'earlier' }));
    await self.cluster
      .api(EndpointSlice)
      .patch(name, { type: 'merge', merge: { metadata: { ownerReferences: earlier } } });
    expect((await onlySlice(self)).metadata).toMatchObject({ uid, ownerReferences });
  });

  test('mirrors addresses up to the limit and records an event for the rest', async () => {
    const list = [1, 2, 3].map((index) => ({ ip: `10.2.0.${index}` }));
    const self = await mirrored({ subsets: [{ addresses: list }] }, { maxEndpointsPerSubset: 2 });
    expect(await sizes(self)).toEqual([2]);
    expect(await self.events()).toContainEqual(
      expect.stringContaining(
        'Warning TooManyAddressesToMirror A max of 2 addresses can be mirrored to EndpointSlices per Endpoints subset. 1 addresses were skipped',
      ),
    );
  });
});

test('does not reconcile services when nodes change', async () => {
  const self = await serving([endpointSlices()]);
  await self.service('svc');
  await self.pod('a', { ip: '10.1.0.1' });
  await onlySlice(self);
  await self.cluster.api(Node).edit('n1', (node) => {
    node.metadata.labels = { 'topology.orch.io/zone': 'z9' };
  });
  expect((await onlySlice(self)).endpoints?.[0]?.zone).toBe('z1');
});
