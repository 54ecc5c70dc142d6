/** The Service of the API server, with its address and endpoints. Expected values are those of a kube-apiserver 1.33. */
import { createCluster } from 'orchplane';
import { controllers, standardControllers } from 'orchplane/controllers';
import { EndpointSlice, Endpoints, IPAddress, Namespace, Service, ServiceCIDR } from 'orchplane/kinds';
import { testCluster } from 'orchplane/testing';
import { describe, expect, test } from 'vitest';

const INTERVAL = 10_000;

const kubernetes = () => {
  const cluster = testCluster({ dialect: 'kubernetes' });
  return {
    cluster,
    clock: cluster.clock,
    services: cluster.api(Service),
    endpoints: cluster.api(Endpoints),
    slices: cluster.api(EndpointSlice),
    addresses: cluster.api(IPAddress),
  };
};

describe('a new cluster', () => {
  test('has the Service of the API server at the first address of the range', async () => {
    const { services } = kubernetes();
    const service = await services.get('kubernetes');
    expect(service).toEqual({
      kind: 'Service',
      apiVersion: 'v1',
      metadata: {
        name: 'kubernetes',
        namespace: 'default',
        uid: expect.any(String),
        resourceVersion: '4',
        creationTimestamp: service.metadata.creationTimestamp,
        labels: { component: 'apiserver', provider: 'kubernetes' },
        managedFields: [
          {
            manager: 'kube-apiserver',
            operation: 'Update',
            apiVersion: 'v1',
            time: service.metadata.creationTimestamp,
            fieldsType: 'FieldsV1',
            fieldsV1: {
              'f:metadata': { 'f:labels': { '.': {}, 'f:component': {}, 'f:provider': {} } },
              'f:spec': {
                'f:clusterIP': {},
                'f:internalTrafficPolicy': {},
                'f:ipFamilyPolicy': {},
                'f:ports': {
                  '.': {},
                  'k:{"port":443,"protocol":"TCP"}': {
                    '.': {},
                    'f:name': {},
                    'f:port': {},
                    'f:protocol': {},
                    'f:targetPort': {},
                  },
                },
                'f:sessionAffinity': {},
                'f:type': {},
              },
            },
          },
        ],
      },
      spec: {
        ports: [{ name: 'https', protocol: 'TCP', port: 443, targetPort: 6443 }],
        clusterIP: '10.0.0.1',
        clusterIPs: ['10.0.0.1'],
        type: 'ClusterIP',
        sessionAffinity: 'None',
        ipFamilies: ['IPv4'],
        ipFamilyPolicy: 'SingleStack',
        internalTrafficPolicy: 'Cluster',
      },
      status: { loadBalancer: {} },
    });
  });

  test('has Endpoints and an EndpointSlice with a made-up address', async () => {
    const { endpoints, slices } = kubernetes();
    const written = await endpoints.get('kubernetes');
    expect(written.metadata.labels).toEqual({ 'endpointslice.kubernetes.io/skip-mirror': 'true' });
    expect(written.subsets).toEqual([
      { addresses: [{ ip: '192.0.2.1' }], ports: [{ name: 'https', port: 6443, protocol: 'TCP' }] },
    ]);
    expect(written.metadata.managedFields?.[0]?.fieldsV1).toEqual({
      'f:metadata': { 'f:labels': { '.': {}, 'f:endpointslice.kubernetes.io/skip-mirror': {} } },
      'f:subsets': {},
    });
    const slice = await slices.get('kubernetes');
    expect(slice).toMatchObject({
      metadata: { generation: 1, labels: { 'kubernetes.io/service-name': 'kubernetes' } },
      addressType: 'IPv4',
      endpoints: [{ addresses: ['192.0.2.1'], conditions: { ready: true } }],
      ports: [{ name: 'https', protocol: 'TCP', port: 6443 }],
    });
    expect(slice.metadata.managedFields?.[0]?.fieldsV1).toEqual({
      'f:addressType': {},
      'f:endpoints': {},
      'f:metadata': { 'f:labels': { '.': {}, 'f:kubernetes.io/service-name': {} } },
      'f:ports': {},
    });
  });

  test('has the IPAddress of the Service', async () => {
    const { addresses } = kubernetes();
    const address = await addresses.get('10.0.0.1');
    expect(address.metadata.labels).toEqual({
      'ipaddress.kubernetes.io/ip-family': 'IPv4',
      'ipaddress.kubernetes.io/managed-by': 'ipallocator.k8s.io',
    });
    expect(address.spec).toEqual({ parentRef: { resource: 'services', namespace: 'default', name: 'kubernetes' } });
  });

  test('uses the label names of the orch dialect', async () => {
    const cluster = testCluster();
    expect((await cluster.api(Endpoints).get('kubernetes')).metadata.labels).toEqual({
      'endpointslice.orch.io/skip-mirror': 'true',
    });
    expect((await cluster.api(EndpointSlice).get('kubernetes')).metadata.labels).toEqual({
      'orch.io/service-name': 'kubernetes',
    });
    expect((await cluster.api(IPAddress).get('10.0.0.1')).metadata.labels).toEqual({
      'ipaddress.orch.io/ip-family': 'IPv4',
      'ipaddress.orch.io/managed-by': 'ipallocator.orch.io',
    });
  });

  test('does not give the address of the Service to another one', async () => {
    const { services } = kubernetes();
    await expect(
      services.create({ metadata: { name: 'web' }, spec: { clusterIP: '10.0.0.1', ports: [{ port: 80 }] } }),
    ).rejects.toThrow('failed to allocate IP 10.0.0.1: provided IP is already allocated');
  });

  test('serves no endpoints of the Service without their kinds', async () => {
    const cluster = createCluster({ kinds: [Namespace, Service, ServiceCIDR] });
    expect((await cluster.api(Service).list()).items.map(({ metadata }) => metadata.name)).toEqual(['kubernetes']);
  });
});

describe('the Service of the API server', () => {
  test('is created again 10 s after its deletion, with its address and endpoints', async () => {
    const { clock, services, endpoints, slices, addresses } = kubernetes();
    const before = await services.get('kubernetes');
    await services.delete('kubernetes');
    expect(await endpoints.find('kubernetes')).toBeUndefined();
    expect(await addresses.find('10.0.0.1')).toBeUndefined();
    await clock.advance(INTERVAL - 1);
    expect(await services.find('kubernetes')).toBeUndefined();
    await clock.advance(1);
    const after = await services.get('kubernetes');
    expect(after.spec).toEqual(before.spec);
    expect(after.metadata.labels).toEqual(before.metadata.labels);
    expect(after.metadata.uid).not.toBe(before.metadata.uid);
    const withoutTime = ({ metadata }: typeof after) =>
      metadata.managedFields?.map(({ time: _time, ...entry }) => JSON.stringify(entry));
    expect(withoutTime(after)).toEqual(withoutTime(before));
    expect((await endpoints.get('kubernetes')).subsets?.[0]?.addresses).toEqual([{ ip: '192.0.2.1' }]);
    expect((await addresses.get('10.0.0.1')).spec.parentRef?.name).toBe('kubernetes');
    expect((await slices.get('kubernetes')).metadata.generation).toBe(1);
  });

  test('keeps the changes of a client', async () => {
    const { clock, services } = kubernetes();
    await services.edit('kubernetes', (draft) => {
      draft.metadata.labels = { mine: 'yes' };
    });
    await clock.advance(2 * INTERVAL);
    expect((await services.get('kubernetes')).metadata.labels).toEqual({ mine: 'yes' });
  });

  test('is created when its address is free again', async () => {
    const { clock, services } = kubernetes();
    await services.delete('kubernetes');
    await services.create({ metadata: { name: 'web' }, spec: { clusterIP: '10.0.0.1', ports: [{ port: 80 }] } });
    await clock.advance(3 * INTERVAL);
    expect(await services.find('kubernetes')).toBeUndefined();
    await services.delete('web');
    await clock.advance(INTERVAL);
    expect((await services.get('kubernetes')).spec.clusterIP).toBe('10.0.0.1');
  });

  test('is created again in a fork and after a restore', async () => {
    const { cluster, clock, services } = kubernetes();
    await services.delete('kubernetes');
    const snapshot = cluster.snapshot();
    const fork = cluster.fork();
    await fork.api(Service).create({ metadata: { name: 'web' }, spec: { ports: [{ port: 80 }] } });
    await clock.advance(INTERVAL);
    expect(await fork.api(Service).find('kubernetes')).toBeDefined();
    cluster.restore(snapshot);
    expect(await services.find('kubernetes')).toBeUndefined();
    await clock.advance(INTERVAL);
    expect(await services.find('kubernetes')).toBeDefined();
  });
});

describe('the endpoints of the API server', () => {
  test('get their address back 10 s after a change; labels, annotations and ports of the Endpoints stay', async () => {
    const { clock, endpoints, slices } = kubernetes();
    await endpoints.edit('kubernetes', (draft) => {
      draft.metadata.labels = { mine: 'yes' };
      draft.metadata.annotations = { mine: 'yes' };
      draft.subsets = [{ addresses: [{ ip: '198.51.100.9' }], ports: [{ name: 'https', port: 99, protocol: 'TCP' }] }];
    });
    await slices.edit('kubernetes', (draft) => {
      draft.metadata.annotations = { mine: 'yes' };
      draft.metadata.labels = { mine: 'yes' };
    });
    await clock.advance(INTERVAL - 1);
    expect((await endpoints.get('kubernetes')).subsets?.[0]?.addresses).toEqual([{ ip: '198.51.100.9' }]);
    await clock.advance(1);
    const { metadata, subsets } = await endpoints.get('kubernetes');
    expect(metadata.labels).toEqual({ mine: 'yes', 'endpointslice.kubernetes.io/skip-mirror': 'true' });
    expect(metadata.annotations).toEqual({ mine: 'yes' });
    expect(subsets).toEqual([
      { addresses: [{ ip: '192.0.2.1' }], ports: [{ name: 'https', port: 99, protocol: 'TCP' }] },
    ]);
    const slice = await slices.get('kubernetes');
    expect(slice.metadata).toMatchObject({ labels: { 'kubernetes.io/service-name': 'kubernetes' }, generation: 3 });
    expect(slice.metadata.annotations).toBeUndefined();
    expect(slice.ports).toEqual([{ name: 'https', protocol: 'TCP', port: 99 }]);
  });

  test('are created again after their deletion', async () => {
    const { clock, endpoints, slices } = kubernetes();
    await slices.delete('kubernetes');
    await endpoints.delete('kubernetes');
    await clock.advance(INTERVAL);
    expect((await endpoints.get('kubernetes')).subsets).toHaveLength(1);
    expect((await slices.get('kubernetes')).endpoints).toHaveLength(1);
  });

  test('follow the addresses on which the server listens', async () => {
    const { cluster, clock, endpoints, slices } = kubernetes();
    const ips = async () => (await endpoints.get('kubernetes')).subsets?.[0]?.addresses?.map(({ ip }) => ip);
    const ports = async () => (await slices.get('kubernetes')).ports?.map(({ port }) => port);
    const first = cluster.advertise({ address: '198.51.100.20', port: 7001 });
    expect([await ips(), await ports()]).toEqual([['198.51.100.20'], [7001]]);
    const second = cluster.advertise({ address: '198.51.100.3', port: 7002 });
    expect([await ips(), await ports()]).toEqual([['198.51.100.3', '198.51.100.20'], [7001]]);
    first();
    first();
    expect([await ips(), await ports()]).toEqual([['198.51.100.3'], [7002]]);
    await endpoints.delete('kubernetes');
    await clock.advance(INTERVAL);
    expect([await ips(), await ports()]).toEqual([['198.51.100.3'], [7002]]);
    second();
    expect(await ips()).toBeUndefined();
    expect((await slices.get('kubernetes')).endpoints ?? []).toEqual([]);
    await clock.advance(2 * INTERVAL);
    expect(await ips()).toBeUndefined();
  });

  test('have an EndpointSlice of the other type when the server listens on IPv6', async () => {
    const { cluster, slices } = kubernetes();
    cluster.advertise({ address: '2001:db8::7', port: 7001 });
    expect(await slices.get('kubernetes')).toMatchObject({
      addressType: 'IPv6',
      endpoints: [{ addresses: ['2001:db8::7'] }],
    });
  });

  test('of a fork start with those of the cluster and follow its own listeners', async () => {
    const { cluster, clock } = kubernetes();
    cluster.advertise({ address: '198.51.100.20', port: 7001 });
    const fork = cluster.fork();
    const ips = async (of: Pick<typeof cluster, 'api'>) =>
      (await of.api(Endpoints).get('kubernetes')).subsets?.[0]?.addresses?.map(({ ip }) => ip);
    await fork.api(Service).create({ metadata: { name: 'web' }, spec: { ports: [{ port: 80 }] } });
    await clock.advance(INTERVAL);
    expect(await ips(fork)).toEqual(['198.51.100.20']);
    fork.advertise({ address: '198.51.100.21', port: 7002 });
    expect(await ips(fork)).toContain('198.51.100.21');
    expect(await ips(cluster)).toEqual(['198.51.100.20']);
  });

  test('have the port of the listener after the restore of an older state', async () => {
    const { cluster, clock, endpoints } = kubernetes();
    const snapshot = cluster.snapshot();
    cluster.advertise({ address: '198.51.100.20', port: 7001 });
    cluster.restore(snapshot);
    await clock.advance(INTERVAL);
    expect((await endpoints.get('kubernetes')).subsets).toEqual([
      { addresses: [{ ip: '198.51.100.20' }], ports: [{ name: 'https', port: 7001, protocol: 'TCP' }] },
    ]);
  });
});

test('the controllers of a cluster leave the Service of the API server and its endpoints unchanged', async () => {
  const cluster = testCluster({ dialect: 'kubernetes', controllers: controllers(standardControllers()) });
  await cluster.settle();
  await cluster.clock.advance(10 * 60_000);
  await cluster.settle();
  const objects = [
    await cluster.api(Service).get('kubernetes'),
    await cluster.api(Endpoints).get('kubernetes'),
    await cluster.api(EndpointSlice).get('kubernetes'),
    await cluster.api(IPAddress).get('10.0.0.1'),
  ];
  expect(objects.map(({ metadata }) => metadata.resourceVersion)).toEqual(['4', '4', '4', '4']);
  expect((await cluster.api(EndpointSlice).list()).items).toHaveLength(1);
  await cluster.close();
});
