/**
 * ServiceCIDR and IPAddress controllers.
 */
import { clusterAddresses, serviceRanges } from 'orchplane/controllers';
import { IPAddress, Service, ServiceCIDR } from 'orchplane/kinds';
import { describe, expect, test } from 'vitest';
import { type Serving, serving } from './endpoints-fixture.js';

const FINALIZER = 'networking.orch.io/service-cidr-finalizer';

async function range({ cluster }: Serving, name: string) {
  await cluster.settle();
  const found = await cluster.api(ServiceCIDR).find(name);
  const [ready] = found?.status.conditions ?? [];
  const text = ready && `${ready.status} ${ready.reason}: ${ready.message}`;
  return found && { finalizers: found.metadata.finalizers, ready: text, found };
}

function make({ cluster }: Serving, name: string, ...cidrs: string[]) {
  return cluster.api(ServiceCIDR).create({ metadata: { name }, spec: { cidrs } });
}

function serve({ cluster }: Serving, name: string, clusterIP: string) {
  return cluster.api(Service).create({ metadata: { name }, spec: { clusterIP, ports: [{ port: 80 }] } });
}

const READY = 'True : Kubernetes Service CIDR is ready';
const IN_USE =
  'False Terminating: There are still IPAddresses referencing the ServiceCIDR, please remove them or create a new ServiceCIDR';

describe('ServiceCIDR controller', () => {
  test.each(['orch', 'kubernetes'] as const)(
    'adds the Ready condition and the finalizer in the %s dialect',
    async (dialect) => {
      const self = await serving([serviceRanges()], { dialect });
      await make(self, 'more', '10.10.0.0/24');
      const group = dialect === 'orch' ? 'networking.orch.io' : 'networking.k8s.io';
      for (const name of ['more', 'kubernetes']) {
        expect(await range(self, name)).toMatchObject({
          ready: READY,
          finalizers: [`${group}/service-cidr-finalizer`],
        });
      }
      const { metadata } = await self.cluster.api(ServiceCIDR).get('more');
      const writers = metadata.managedFields?.map(({ manager, operation, subresource }) => [
        manager,
        operation,
        subresource,
      ]);
      expect(writers).toContainEqual(['service-cidr-controller', 'Apply', 'status']);
      expect(writers).toContainEqual(['kube-controller-manager', 'Update', undefined]);
    },
  );

  test('writes the status of a range once', async () => {
    const self = await serving([serviceRanges()]);
    await make(self, 'more', '10.10.0.0/24');
    const before = await range(self, 'more');
    await self.cluster.clock.advance(10_000);
    await serve(self, 'svc', '10.10.0.9');
    expect((await range(self, 'more'))?.found.metadata.resourceVersion).toBe(before?.found.metadata.resourceVersion);
  });

  test('deletes an unused range at once', async () => {
    const self = await serving([serviceRanges()]);
    await make(self, 'more', '10.10.0.0/24');
    await range(self, 'more');
    await self.cluster.api(ServiceCIDR).delete('more');
    expect(await range(self, 'more')).toBeUndefined();
  });

  test('deletes a range after the configured delay', async () => {
    const self = await serving([serviceRanges({ deletionDelayMs: 10_000 })]);
    await make(self, 'more', '10.10.0.0/24');
    await range(self, 'more');
    await self.cluster.api(ServiceCIDR).delete('more');
    await self.cluster.clock.advance(9000);
    expect(await range(self, 'more')).toMatchObject({ finalizers: [FINALIZER] });
    await self.cluster.clock.advance(1000);
    expect(await range(self, 'more')).toBeUndefined();
  });

  test('keeps a range while one of its addresses is in use', async () => {
    const self = await serving([serviceRanges()]);
    await make(self, 'more', '10.10.0.0/24');
    await range(self, 'more');
    await serve(self, 'svc', '10.10.0.9');
    await self.cluster.api(ServiceCIDR).delete('more');
    expect(await range(self, 'more')).toMatchObject({ ready: IN_USE });
    await self.cluster.api(Service).delete('svc');
    expect(await range(self, 'more')).toBeUndefined();
  });

  test('deletes a range when another range contains its addresses', async () => {
    const self = await serving([serviceRanges()]);
    await make(self, 'more', '10.10.0.0/24');
    await range(self, 'more');
    await serve(self, 'svc', '10.10.0.9');
    await self.cluster.api(ServiceCIDR).delete('more');
    expect(await range(self, 'more')).toMatchObject({ ready: IN_USE });
    await make(self, 'wider', '10.10.0.0/16');
    expect(await range(self, 'more')).toBeUndefined();
    expect(await range(self, 'wider')).toMatchObject({ ready: READY });
  });

  test.each(['10.10.0.0/25', '10.10.0.128/25'])('keeps a range when another range contains only %s', async (half) => {
    const self = await serving([serviceRanges()]);
    await make(self, 'more', '10.10.0.0/24');
    await range(self, 'more');
    await serve(self, 'low', '10.10.0.9');
    await serve(self, 'high', '10.10.0.200');
    await self.cluster.api(ServiceCIDR).delete('more');
    await make(self, 'half', half);
    expect(await range(self, 'more')).toMatchObject({ ready: IN_USE });
  });

  test('ignores addresses that the server did not allocate', async () => {
    const self = await serving([serviceRanges()]);
    await make(self, 'more', '10.10.0.0/24');
    await range(self, 'more');
    await self.cluster.api(IPAddress).create({
      metadata: { name: '10.10.0.9' },
      spec: { parentRef: { resource: 'services', namespace: 'default', name: 'svc' } },
    });
    await self.cluster.api(ServiceCIDR).delete('more');
    expect(await range(self, 'more')).toBeUndefined();
  });

  test('keeps the default range while the Service of the API server uses it', async () => {
    const self = await serving([serviceRanges(), clusterAddresses()]);
    await range(self, 'kubernetes');
    await self.cluster.api(ServiceCIDR).delete('kubernetes');
    expect((await range(self, 'kubernetes'))?.ready).toBe(IN_USE);
  });

  test('recreates the default range', async () => {
    const self = await serving([serviceRanges(), clusterAddresses()]);
    await range(self, 'kubernetes');
    await self.cluster.api(Service).delete('kubernetes');
    await self.cluster.api(ServiceCIDR).delete('kubernetes');
    const again = await range(self, 'kubernetes');
    expect(again?.found.metadata.deletionTimestamp).toBeUndefined();
    expect(again).toMatchObject({ ready: READY, finalizers: [FINALIZER] });
  });
});

describe('IPAddress controller', () => {
  /** By address, without that of the API server. */
  async function parents({ cluster }: Serving): Promise<Record<string, string>> {
    await cluster.settle();
    const items = (await cluster.api(IPAddress).list()).items.filter(({ metadata }) => metadata.name !== '10.0.0.1');
    return Object.fromEntries(items.map(({ metadata, spec }) => [metadata.name, spec.parentRef?.name ?? '']));
  }
  const allocatorLabels = {
    'ipaddress.orch.io/ip-family': 'IPv4',
    'ipaddress.orch.io/managed-by': 'ipallocator.orch.io',
  };

  test('leaves allocated addresses unchanged', async () => {
    const self = await serving([clusterAddresses()]);
    await serve(self, 'svc', '10.0.0.9');
    expect(await parents(self)).toEqual({ '10.0.0.9': 'svc' });
    expect(await self.events()).toEqual([]);
  });

  test('recreates a deleted address with the next resync', async () => {
    const self = await serving([clusterAddresses()]);
    await serve(self, 'svc', '10.0.0.9');
    await parents(self);
    await self.cluster.api(IPAddress).delete('10.0.0.9');
    await self.cluster.clock.advance(179_000);
    expect(await parents(self)).toEqual({});
    await self.cluster.clock.advance(1_000);
    expect(await parents(self)).toEqual({ '10.0.0.9': 'svc' });
    const { metadata } = await self.cluster.api(IPAddress).get('10.0.0.9');
    expect(metadata.labels).toEqual(allocatorLabels);
    expect(await self.events()).toEqual([
      'Warning ClusterIPNotAllocated Cluster IP [IPv4]: 10.0.0.9 is not allocated; repairing (1)',
    ]);
  });

  test('recreates an address without its labels', async () => {
    const self = await serving([clusterAddresses()]);
    await serve(self, 'svc', '10.0.0.9');
    await parents(self);
    await self.cluster.api(IPAddress).patch('10.0.0.9', { type: 'merge', merge: { metadata: { labels: null } } });
    await self.cluster.api(Service).patch('svc', { type: 'merge', merge: { metadata: { labels: { l: '1' } } } });
    expect(await parents(self)).toEqual({ '10.0.0.9': 'svc' });
    expect((await self.cluster.api(IPAddress).get('10.0.0.9')).metadata.labels).toEqual(allocatorLabels);
  });

  test('deletes an address of a missing service after a minute', async () => {
    const self = await serving([clusterAddresses()]);
    await self.cluster.api(IPAddress).create({
      metadata: { name: '10.0.0.9', labels: allocatorLabels },
      spec: { parentRef: { resource: 'services', namespace: 'default', name: 'none' } },
    });
    await self.cluster.clock.advance(59_000);
    expect(await parents(self)).toEqual({ '10.0.0.9': 'none' });
    await self.cluster.clock.advance(1000);
    expect(await parents(self)).toEqual({});
    expect(await self.events()).toEqual([
      'Warning IPAddressNotAllocated IPAddress: 10.0.0.9 for Service default/none appears to have leaked: cleaning up (1)',
    ]);
  });

  test.each([
    [
      { resource: 'services', namespace: 'default', name: 'svc' },
      'IPAddressWrongReference IPAddress: 10.0.0.10 for Service default/svc has a wrong reference; cleaning up',
    ],
    [
      { group: 'example.com', resource: 'things', name: 't' },
      'IPAddressNotAllocated IPAddress 10.0.0.10 appears to have been modified, not referencing a Service ' +
        '&ParentReference{Group:example.com,Resource:things,Namespace:,Name:t,}: cleaning up',
    ],
  ])('deletes an address with the wrong parent %o', async (parentRef, event) => {
    const self = await serving([clusterAddresses()]);
    await serve(self, 'svc', '10.0.0.9');
    await self.cluster
      .api(IPAddress)
      .create({ metadata: { name: '10.0.0.10', labels: allocatorLabels }, spec: { parentRef } });
    expect(await parents(self)).toEqual({ '10.0.0.9': 'svc' });
    expect(await self.events()).toEqual([`Warning ${event} (1)`]);
  });

  test('records an event for addresses outside of every range', async () => {
    const self = await serving([clusterAddresses()]);
    await make(self, 'more', '10.10.0.0/24');
    await serve(self, 'svc', '10.10.0.9');
    await parents(self);
    await self.cluster.api(ServiceCIDR).delete('more');
    await self.cluster.api(Service).patch('svc', { type: 'merge', merge: { metadata: { labels: { l: '1' } } } });
    await parents(self);
    expect(await self.events()).toEqual([
      'Warning ClusterIPOutOfRange Cluster IP [IPv4]: 10.10.0.9 is not within any configured Service CIDR; please recreate service (1)',
    ]);
  });
});
