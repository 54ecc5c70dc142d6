/** Allocation and release of cluster IPs and node ports. */
import { createCluster, mergePatch } from 'orchplane';
import { IPAddress, Namespace, Service, ServiceCIDR } from 'orchplane/kinds';
import { fakeClock, sequentialIds, testCluster } from 'orchplane/testing';
import { describe, expect, test } from 'vitest';
import type { ServiceSpecInput } from '../../../../src/kinds/generated/core-v1.js';
import { rejectionCauses } from '../rejections.js';

const ports = [{ port: 80 }];

function open(cluster = testCluster()) {
  const services = cluster.api(Service);
  const addresses = cluster.api(IPAddress);
  return {
    cluster,
    services,
    addresses,
    create: (name: string, spec: ServiceSpecInput) => services.create({ metadata: { name }, spec }),
    // Without that of the API server.
    taken: async () => {
      const names = (await addresses.list()).items.map(({ metadata }) => metadata.name);
      return names.filter((name) => name !== '10.0.0.1');
    },
  };
}

describe('cluster IPs', () => {
  test('creates an IPAddress with the Service as parent for each cluster IP', async () => {
    const { create, addresses } = open();
    const { spec } = await create('a', { ports });
    const address = await addresses.get(spec.clusterIP ?? '');
    expect(spec.clusterIP).toMatch(/^10\.0\./);
    expect(address).toMatchObject({
      apiVersion: 'networking.orch.io/v1',
      metadata: {
        labels: { 'ipaddress.orch.io/ip-family': 'IPv4', 'ipaddress.orch.io/managed-by': 'ipallocator.orch.io' },
      },
      spec: { parentRef: { resource: 'services', namespace: 'default', name: 'a' } },
    });
    expect(address.metadata.uid).toBeDefined();
  });

  test('releases cluster IPs when the Service is deleted or becomes an ExternalName', async () => {
    const { create, services, taken } = open();
    await create('a', { ports, clusterIP: '10.0.0.9' });
    await create('b', { ports, clusterIP: '10.0.0.10' });
    expect(await taken()).toEqual(['10.0.0.10', '10.0.0.9']);
    await services.delete('a');
    await services.patch('b', mergePatch({ spec: { type: 'ExternalName', externalName: 'x.y' } }));
    expect(await taken()).toEqual([]);
    await create('c', { ports, clusterIP: '10.0.0.9' });
  });

  test.each([
    ['10.0.0.9', 'provided IP is already allocated'],
    ['192.168.1.1', 'the provided network does not match the current range'],
    ['10.0.0.0', 'the provided IP (10.0.0.0) is not in the valid range. The range of valid IPs is 10.0.0.0/16'],
    ['10.0.255.255', 'the provided IP (10.0.255.255) is not in the valid range. The range of valid IPs is 10.0.0.0/16'],
  ])('does not allocate the cluster IP %s', async (clusterIP, why) => {
    const { create } = open();
    await create('a', { ports, clusterIP: '10.0.0.9' });
    expect(await rejectionCauses(create('b', { ports, clusterIP }))).toEqual([
      `spec.clusterIPs: Invalid value: []string{"${clusterIP}"}: failed to allocate IP ${clusterIP}: ${why}`,
    ]);
  });

  test('allocates no cluster IP for a dry run or an invalid Service', async () => {
    const { create, services, taken } = open();
    await services.create({ metadata: { name: 'a' }, spec: { ports } }, { dryRun: true });
    await rejectionCauses(create('b', { ports, sessionAffinity: 'X' as never }));
    expect(await taken()).toEqual([]);
  });

  test('allocates cluster IPs from other ServiceCIDRs that are ready', async () => {
    const { create, cluster } = open();
    const ranges = cluster.api(ServiceCIDR);
    await ranges.create({ metadata: { name: 'more' }, spec: { cidrs: ['192.0.2.0/28'] } });
    expect((await create('a', { ports, clusterIP: '192.0.2.1' })).spec.clusterIP).toBe('192.0.2.1');
    const ready = {
      type: 'Ready',
      status: 'False' as const,
      reason: '',
      message: '',
      lastTransitionTime: '2030-01-01T00:00:00Z',
    };
    await ranges.status.patch('more', mergePatch({ status: { conditions: [ready] } }));
    expect((await rejectionCauses(create('b', { ports, clusterIP: '192.0.2.2' })))[0]).toContain('does not match');
  });

  test('treats the cluster IPs of Services as taken, also without IPAddress objects', async () => {
    const kinds = [Namespace, Service];
    const services = createCluster({ kinds, clock: fakeClock(), ids: sequentialIds() } as never).api(Service);
    const create = (name: string) => services.create({ metadata: { name }, spec: { ports, clusterIP: '10.0.0.9' } });
    await create('a');
    expect((await rejectionCauses(create('b')))[0]).toContain('provided IP is already allocated');
    await services.delete('a');
    await create('b');
  });
});

describe('node ports', () => {
  const onNodes = (nodePort: number): ServiceSpecInput => ({ type: 'NodePort', ports: [{ port: 80, nodePort }] });

  test('allocates node ports if needed and shares them between both protocols of a port', async () => {
    const { create } = open();
    const both = [
      { name: 'a', port: 53, protocol: 'TCP' as const },
      { name: 'b', port: 53, protocol: 'UDP' as const },
      { name: 'c', port: 54 },
    ];
    const given = ((await create('a', { type: 'NodePort', ports: both })).spec.ports ?? []).map(
      (port) => port.nodePort,
    );
    expect(given[0]).toBe(given[1]);
    expect(given[2]).not.toBe(given[0]);
    for (const port of given) expect(port).toBeGreaterThanOrEqual(30000);
    const direct = await create('b', { type: 'LoadBalancer', allocateLoadBalancerNodePorts: false, ports });
    expect(direct.spec.ports?.[0]).not.toHaveProperty('nodePort');
  });

  test('rejects node ports that are taken or out of range', async () => {
    const { create, services } = open();
    await create('a', onNodes(31000));
    expect(await rejectionCauses(create('b', onNodes(31000)))).toEqual([
      'spec.ports[0].nodePort: Invalid value: 31000: provided port is already allocated',
    ]);
    expect(await rejectionCauses(create('b', onNodes(80)))).toEqual([
      'spec.ports[0].nodePort: Invalid value: 80: provided port is not in the valid range. The range of valid ports is 30000-32767',
    ]);
    await services.patch('a', mergePatch({ spec: { type: 'ClusterIP' } }));
    await create('b', onNodes(31000));
    const moved = services.patch('a', mergePatch({ spec: onNodes(31000) } as never));
    expect((await rejectionCauses(moved))[0]).toContain('provided port is already allocated');
  });

  test('allocates node ports for health checks', async () => {
    const { create } = open();
    const local = { type: 'LoadBalancer' as const, externalTrafficPolicy: 'Local' as const };
    const { spec } = await create('a', { ...local, ports: [{ port: 80, nodePort: 31000 }] });
    expect(spec.healthCheckNodePort).toBeGreaterThanOrEqual(30000);
    await expect(create('b', { ...local, ports, healthCheckNodePort: 31000 })).rejects.toMatchObject({
      reason: 'InternalError',
      message:
        'Internal error occurred: failed to allocate requested HealthCheck NodePort 31000: provided port is already allocated',
    });
  });
});
