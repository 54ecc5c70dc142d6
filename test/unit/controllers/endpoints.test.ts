/**
 * Endpoints controller for services with a selector.
 */

import { endpoints, runControllers } from 'orchplane/controllers';
import { ConfigMap, Endpoints, Namespace, Pod, Service } from 'orchplane/kinds';
import { testCluster } from 'orchplane/testing';
import { describe, expect, test } from 'vitest';
import { truncateSubsets } from '../../../src/controllers/endpoints/endpoints.js';
import { PortResolver, portNumber, type StoredService } from '../../../src/controllers/endpoints/pod-services.js';
import {
  md5,
  repackSubsets,
  type Subset,
  sortSlicePorts,
  sortSubsetPorts,
} from '../../../src/controllers/endpoints/subsets.js';
import type { StoredPod } from '../../../src/controllers/workloads/pod-state.js';
import { cpuTimer } from '../../fixtures/cpu-time.js';
import { type PodSetup, type Serving, serving } from './endpoints-fixture.js';

async function found({ cluster }: Serving, name = 'svc') {
  await cluster.settle();
  return cluster.api(Endpoints).find(name);
}

/** `ready|not ready:ports` of each subset. */
function shape(subsets: readonly Subset[] = []): string[] {
  const ips = (list: readonly { readonly ip: string }[] = []) => list.map(({ ip }) => ip).join(' ');
  return subsets.map(
    ({ addresses, notReadyAddresses, ports = [] }) =>
      `${ips(addresses)}|${ips(notReadyAddresses)}:${ports.map(({ port }) => port).join(' ')}`,
  );
}

describe('pods of an Endpoints object', () => {
  const table: readonly [string, PodSetup, readonly string[], { readonly publishNotReadyAddresses?: boolean }?][] = [
    ['lists a ready pod as an address', { ip: '10.1.0.1' }, ['10.1.0.1|:80']],
    ['lists a pod that is not ready as a not-ready address', { ip: '10.1.0.1', ready: false }, ['|10.1.0.1:80']],
    ['omits a pod without an IP address', {}, []],
    ['omits a succeeded pod', { ip: '10.1.0.1', phase: 'Succeeded' }, []],
    ['omits a failed pod', { ip: '10.1.0.1', phase: 'Failed' }, []],
    ['omits a pod with only another address family', { ip: 'fd00::1' }, []],
    ['uses the first address of the service’s family', { ips: ['fd00::1', '10.1.0.1'] }, ['10.1.0.1|:80']],
    ['omits a pod with other labels', { ip: '10.1.0.1', labels: { app: 'y' } }, []],
    [
      'lists all pods as ready with publishNotReadyAddresses',
      { ip: '10.1.0.1', ready: false },
      ['10.1.0.1|:80'],
      { publishNotReadyAddresses: true },
    ],
  ];
  test.each(table)('%s', async (_name, setup, expected, spec = {}) => {
    const self = await serving([endpoints()]);
    await self.service('svc', spec);
    await self.pod('a', setup);
    expect(shape((await found(self))?.subsets)).toEqual(expected);
    expect(self.failures).toEqual([]);
  });

  test('omits a terminating pod unless publishNotReadyAddresses is set', async () => {
    const self = await serving([endpoints()]);
    await self.service('svc');
    await self.service('all', { publishNotReadyAddresses: true });
    await self.pod('a', { ip: '10.1.0.1' });
    expect(shape((await found(self))?.subsets)).toEqual(['10.1.0.1|:80']);
    await self.cluster.api(Pod).delete('a');
    expect(shape((await found(self))?.subsets)).toEqual([]);
    expect(shape((await found(self, 'all'))?.subsets)).toEqual(['10.1.0.1|:80']);
    await self.cluster.api(Pod).delete('a', { gracePeriodSeconds: 0 });
    expect(shape((await found(self, 'all'))?.subsets)).toEqual([]);
  });

  test('keeps the address of a ready pod that finishes until the next reconcile of its service', async () => {
    const self = await serving([endpoints()]);
    await self.service('svc');
    await self.pod('a', { ip: '10.1.0.1' });
    await found(self);
    await self.status('a', { ip: '10.1.0.1', phase: 'Succeeded' });
    expect(shape((await found(self))?.subsets)).toEqual(['10.1.0.1|:80']);
    await self.cluster.api(Service).edit('svc', (service) => {
      service.metadata.labels = { l: 'new' };
    });
    expect(shape((await found(self))?.subsets)).toEqual([]);
  });

  test('follows changes of pod labels and of the selector', async () => {
    const self = await serving([endpoints()]);
    await self.service('svc');
    await self.pod('a', { ip: '10.1.0.1', labels: { app: 'y', tier: 'b' } });
    expect(shape((await found(self))?.subsets)).toEqual([]);
    await self.cluster.api(Pod).edit('a', (pod) => {
      pod.metadata.labels = { app: 'x' };
    });
    expect(shape((await found(self))?.subsets)).toEqual(['10.1.0.1|:80']);
    await self.cluster.api(Service).edit('svc', (service) => {
      service.spec.selector = { app: 'x', tier: 'b' };
    });
    expect(shape((await found(self))?.subsets)).toEqual([]);
  });
});

describe('Endpoints ports', () => {
  test('resolves thousands of named ports in a pod with thousands of ports', () => {
    const names = Array.from({ length: 60_000 }, (_, index) => `n${index}`);
    const ports = names.map((name, index) => ({ name, containerPort: index, protocol: 'TCP' }));
    const pod = { spec: { containers: [{ ports }] } } as unknown as StoredPod;
    const spentMs = cpuTimer();
    const found = names.map((targetPort) => portNumber(pod, { targetPort, protocol: 'TCP' }));
    expect(spentMs()).toBeLessThan(2_000);
    expect(found).toEqual(ports.map(({ containerPort }) => containerPort));
  });

  test('omits pods in which thousands of ports have other numbers', () => {
    const service = (count: number) => {
      const ports = Array.from({ length: count }, (_, index) => ({
        port: index + 1,
        protocol: 'TCP',
        targetPort: 'web',
      }));
      return new PortResolver({ spec: { ports } } as unknown as StoredService);
    };
    const pod = (containerPort: number) =>
      ({
        spec: { containers: [{ ports: [{ name: 'web', containerPort, protocol: 'TCP' }] }] },
      }) as unknown as StoredPod;
    const small = service(2);
    expect(small.portsIn(pod(80))).toMatchObject([{ port: 80 }, { port: 80 }]);
    expect(small.portsIn(pod(80))).toBe(small.portsIn(pod(80)));
    expect(small.portsIn(pod(81))).toMatchObject([{ port: 81 }, { port: 81 }]);
    expect(small.omission).toBeUndefined();
    const large = service(60_000);
    expect(large.portsIn(pod(80))).toHaveLength(60_000);
    expect(large.portsIn(pod(81))).toBeUndefined();
    expect(large.omission).toContain('Skipped 1 pods');
  });

  test('resolves named container ports and omits pods without the port', async () => {
    const self = await serving([endpoints()]);
    await self.service('svc', {
      ports: [
        { name: 'web', port: 80, targetPort: 'http' },
        { name: 'side', port: 81, targetPort: 'side' },
        { name: 'none', port: 82, targetPort: 'absent' },
        { name: 'udp', port: 83, targetPort: 'http', protocol: 'UDP' },
      ],
    });
    const container = (name: string, port: string, containerPort: number) => ({
      name,
      image: 'i:1',
      ports: [{ name: port, containerPort }],
    });
    await self.pod('a', {
      ip: '10.1.0.1',
      spec: {
        containers: [container('c', 'http', 8080)],
        initContainers: [{ ...container('s', 'side', 9090), restartPolicy: 'Always' }],
      },
    });
    await self.pod('b', { ip: '10.1.0.2', spec: { containers: [container('c', 'http', 8080)] } });
    const subsets = (await found(self))?.subsets ?? [];
    expect(new Set(shape(subsets))).toEqual(new Set(['10.1.0.1 10.1.0.2|:8080', '10.1.0.1|:9090']));
  });

  test('lists addresses without ports for a headless service without ports', async () => {
    const self = await serving([endpoints()]);
    await self.cluster.api(Service).create({
      metadata: { name: 'svc' },
      spec: { clusterIP: 'None', selector: { app: 'x' } },
    });
    await self.pod('a', { ip: '10.1.0.1' });
    expect((await found(self))?.subsets).toMatchObject([{ addresses: [{ ip: '10.1.0.1' }] }]);
    expect((await found(self))?.subsets?.[0]).not.toHaveProperty('ports');
  });

  test('orders subsets as the reference server does', () => {
    const names = ['a', 'b', 'c', 'http', 'https', 'metrics', 'dns', 'admin'];
    const ports = names.map((name, index) => ({
      name,
      port: 80 + index,
      protocol: index % 2 === 0 ? 'TCP' : 'UDP',
      ...(index % 3 === 0 ? { appProtocol: 'example.com/dns' } : {}),
    }));
    const order = (list: readonly { readonly name: string }[]) => list.map(({ name }) => name).join(' ');
    expect(order(sortSubsetPorts(ports))).toBe('a http metrics https admin b c dns');
    expect(order(sortSlicePorts(ports))).toBe('dns admin http https b c a metrics');
  });

  test.each([
    ['', 'd41d8cd98f00b204e9800998ecf8427e'],
    ['abc', '900150983cd24fb0d6963f7d28e17f72'],
    [
      '12345678901234567890123456789012345678901234567890123456789012345678901234567890',
      '57edf4a22be3c955ac49da2e2107b67a',
    ],
    ['ü€', '692010ce814aec196e81dfdd38d997ba'],
  ])('computes the md5 of %j', (text, hash) => {
    expect(md5(text)).toBe(hash);
  });
});

describe('Endpoints object', () => {
  test.each(['orch', 'kubernetes'] as const)(
    'writes labels, annotation and references of Endpoints in the %s dialect',
    async (dialect) => {
      const domain = dialect === 'orch' ? 'orch.io' : 'kubernetes.io';
      const self = await serving([endpoints()], { dialect });
      await self.service('svc', {}, { l: '1' });
      await self.service('addressed', { clusterIP: '10.0.1.1' });
      await self.pod('a', { ip: '010.001.000.001', spec: { hostname: 'host', subdomain: 'svc' } });
      const uid = (await self.cluster.api(Pod).get('a')).metadata.uid;
      const object = await found(self);
      expect(object?.metadata.labels).toEqual({
        l: '1',
        [`endpoints.${domain}/managed-by`]: 'endpoint-controller',
        [`service.${domain}/headless`]: '',
      });
      expect(object?.metadata.annotations).toEqual({
        [`endpoints.${domain}/last-change-trigger-time`]: '2030-01-01T00:00:00Z',
      });
      expect(object?.subsets).toEqual([
        {
          addresses: [
            {
              ip: '10.1.0.1',
              hostname: 'host',
              nodeName: 'n1',
              targetRef: { kind: 'Pod', namespace: 'default', name: 'a', uid },
            },
          ],
          ports: [{ port: 80, protocol: 'TCP' }],
        },
      ]);
      expect((await found(self, 'addressed'))?.metadata.labels).toEqual({
        [`endpoints.${domain}/managed-by`]: 'endpoint-controller',
      });
    },
  );

  test('annotates the time of the last trigger and keeps other annotations', async () => {
    const self = await serving([endpoints()]);
    const key = 'endpoints.orch.io/last-change-trigger-time';
    await self.service('svc');
    await found(self);
    await self.cluster.clock.advance(60_000);
    await self.pod('a', { ip: '10.1.0.1', readySince: '2030-01-01T00:00:30Z' });
    expect((await found(self))?.metadata.annotations).toEqual({ [key]: '2030-01-01T00:00:30Z' });
    await self.cluster.api(Endpoints).edit('svc', (object) => {
      object.metadata.annotations = { ...object.metadata.annotations, note: 'mine' };
    });
    // No object with its own time has changed.
    await self.status('a', { ip: '10.1.0.2', readySince: '2030-01-01T00:00:30Z' });
    expect((await found(self))?.metadata.annotations).toEqual({ note: 'mine' });
  });

  test('recreates deleted Endpoints and restores changed ones with the next reconcile', async () => {
    const self = await serving([endpoints()]);
    await self.service('svc');
    await found(self);
    await self.cluster.api(Endpoints).delete('svc');
    expect(await found(self)).toBeDefined();
    await self.cluster.api(Endpoints).edit('svc', (object) => {
      object.metadata.labels = { l: 'wrong' };
    });
    await self.pod('a', { ip: '10.1.0.1' });
    expect((await found(self))?.metadata.labels).not.toHaveProperty('l');
  });

  test('does not write Endpoints when nothing changes', async () => {
    const self = await serving([endpoints()]);
    await self.service('svc');
    await self.pod('a', { ip: '10.1.0.1' });
    const before = await found(self);
    await self.cluster.api(Service).edit('svc', (service) => {
      service.metadata.annotations = { note: 'n' };
    });
    expect((await found(self))?.metadata.resourceVersion).toBe(before?.metadata.resourceVersion);
  });

  test('deletes Endpoints with their service and keeps them when the service loses its selector', async () => {
    const self = await serving([endpoints()]);
    for (const name of ['gone', 'bare', 'alias']) await self.service(name);
    await self.pod('a', { ip: '10.1.0.1' });
    await found(self);
    await self.cluster.api(Service).delete('gone');
    await self.cluster.api(Service).edit('bare', (service) => {
      delete service.spec.selector;
    });
    await self.cluster.api(Service).edit('alias', (service) => {
      Object.assign(service.spec, { type: 'ExternalName', externalName: 'example.com' });
      delete service.spec.clusterIP;
      delete service.spec.clusterIPs;
    });
    expect(await found(self, 'gone')).toBeUndefined();
    await self.cluster.api(Pod).delete('a', { gracePeriodSeconds: 0 });
    expect(shape((await found(self, 'bare'))?.subsets)).toEqual(['10.1.0.1|:80']);
    expect(shape((await found(self, 'alias'))?.subsets)).toEqual(['10.1.0.1|:80']);
  });

  test('ignores services without a selector', async () => {
    const self = await serving([endpoints()]);
    await self.cluster
      .api(Service)
      .create({ metadata: { name: 'svc' }, spec: { clusterIP: 'None', ports: [{ port: 80 }] } });
    expect(await found(self)).toBeUndefined();
    await self.cluster
      .api(Endpoints)
      .create({ metadata: { name: 'svc' }, subsets: [{ addresses: [{ ip: '10.2.0.1' }] }] });
    expect(shape((await found(self))?.subsets)).toEqual(['10.2.0.1|:']);
  });

  test('deletes leftover Endpoints at the start except leader election records and those of the API server', async () => {
    const cluster = testCluster();
    const api = cluster.api(Endpoints);
    await api.create({ metadata: { name: 'left' } });
    await api.create({ metadata: { name: 'leader', annotations: { 'control-plane.alpha.orch.io/leader': '{}' } } });
    await using running = runControllers(cluster, [endpoints()]);
    await running.ready;
    await cluster.settle();
    expect((await api.list()).items.map(({ metadata }) => metadata.name)).toEqual(['kubernetes', 'leader']);
    await api.create({ metadata: { name: 'later' } });
    await cluster.settle();
    expect(await api.find('later')).toBeDefined();
  });
});

describe('rejected Endpoints', () => {
  test('records an event for invalid Endpoints and retries', async () => {
    const self = await serving([endpoints()]);
    await self.pod('a', { ip: '10.1.0.1', node: undefined });
    await self.service('svc');
    expect(await found(self)).toBeUndefined();
    expect((await self.events())[0]).toContain(
      'Warning FailedToCreateEndpoint Failed to create endpoint for service default/svc: Endpoints "svc" is invalid',
    );
    expect(self.failures.length).toBeGreaterThan(0);
    await self.cluster.api(Pod).delete('a', { gracePeriodSeconds: 0 });
    expect(await found(self)).toBeDefined();
  });

  test('keeps existing Endpoints when an update is rejected', async () => {
    const self = await serving([endpoints()]);
    await self.service('svc');
    await self.pod('a', { ip: '10.1.0.1' });
    await found(self);
    await self.pod('b', { ip: '10.1.0.2', node: undefined });
    expect(shape((await found(self))?.subsets)).toEqual(['10.1.0.1|:80']);
    expect((await self.events())[0]).toContain(
      'Warning FailedToUpdateEndpoint Failed to update endpoint default/svc: ',
    );
  });
});

describe('Endpoints subsets', () => {
  test('groups addresses by their ports', () => {
    const port = (number: number) => ({ port: number, protocol: 'TCP' as const });
    const subsets: Subset[] = [
      { addresses: [{ ip: '1.1.1.2' }, { ip: '1.1.1.1' }], ports: [port(80)] },
      { addresses: [{ ip: '1.1.1.1' }], notReadyAddresses: [{ ip: '1.1.1.2' }], ports: [port(81)] },
      { addresses: [{ ip: '1.1.1.1' }, { ip: '1.1.1.2' }], ports: [port(82)] },
      { addresses: [{ ip: '1.1.1.3' }], notReadyAddresses: [{ ip: '1.1.1.3' }], ports: [port(83)] },
    ];
    const packed = repackSubsets(subsets).subsets;
    expect(
      shape(packed)
        .map((text) => text.split(':')[0])
        .sort(),
    ).toEqual(['1.1.1.1 1.1.1.2|', '1.1.1.1|1.1.1.2', '|1.1.1.3']);
    expect(repackSubsets(packed).subsets).toEqual(packed);
  });

  test('limits the addresses of subsets that share ports', () => {
    const port = (number: number) => ({ port: number, protocol: 'TCP' as const });
    const numbers = Array.from({ length: 1000 }, (_, index) => index + 1);
    const shared = {
      addresses: numbers.map((index) => ({ ip: `10.0.${index >> 8}.${index & 255}` })),
      ports: numbers.map(port),
    };
    const others = numbers.map((index) => ({
      addresses: [{ ip: `10.1.${index >> 8}.${index & 255}` }],
      ports: [port(index)],
    }));
    const { subsets, omittedPorts } = repackSubsets([shared, ...others]);
    expect(subsets).toHaveLength(199);
    expect(omittedPorts).toBe(801);
  });

  const addresses = (count: number, from = 0) =>
    Array.from({ length: count }, (_, index) => ({ ip: `10.${from}.${Math.floor(index / 250)}.${index % 250}` }));
  test.each([
    ['all fit', [[600, 400]], [[600, 400]]],
    ['ready addresses first', [[600, 600]], [[600, 400]]],
    ['ready addresses only', [[1200, 5]], [[1000, 0]]],
    [
      'in proportion to the subsets',
      [
        [900, 0],
        [300, 0],
      ],
      [
        [750, 0],
        [250, 0],
      ],
    ],
    [
      'rounded up except for the last subset',
      [
        [700, 0],
        [700, 0],
        [700, 0],
      ],
      [
        [334, 0],
        [334, 0],
        [332, 0],
      ],
    ],
    [
      'not-ready addresses in proportion to the subsets',
      [
        [500, 500],
        [300, 500],
      ],
      [
        [500, 100],
        [300, 100],
      ],
    ],
  ] as const)('keeps at most a thousand addresses: %s', (_name, before, after) => {
    const subsets = before.map(([ready, not], index) => ({
      ...(ready > 0 ? { addresses: addresses(ready, index) } : {}),
      ...(not > 0 ? { notReadyAddresses: addresses(not, 100 + index) } : {}),
    }));
    const kept = truncateSubsets(subsets);
    const counts = kept.map((subset) => [subset.addresses?.length ?? 0, subset.notReadyAddresses?.length ?? 0]);
    expect(counts).toEqual(after);
    expect(kept === subsets).toBe(_name === 'all fit');
  });

  test('annotates truncated Endpoints', async () => {
    const self = await serving([endpoints()]);
    await self.service('svc', { ports: [{ port: 80 }] });
    const pods = self.cluster.api(Pod);
    for (let index = 0; index < 1001; index++) {
      const name = `p${index}`;
      await pods.create({
        metadata: { name, labels: { app: 'x' } },
        spec: { nodeName: 'n1', containers: [{ name: 'c', image: 'i' }] },
      });
      const ip = `10.1.${Math.floor(index / 250)}.${index % 250}`;
      const conditions = [{ type: 'Ready', status: 'True' } as const];
      await pods.status.patch(name, { type: 'merge', merge: { status: { podIP: ip, podIPs: [{ ip }], conditions } } });
    }
    const object = await found(self);
    expect(object?.subsets?.[0]?.addresses).toHaveLength(1000);
    expect(object?.metadata.annotations).toMatchObject({ 'endpoints.orch.io/over-capacity': 'truncated' });
    await pods.delete('p0', { gracePeriodSeconds: 0 });
    expect((await found(self))?.metadata.annotations ?? {}).not.toHaveProperty(['endpoints.orch.io/over-capacity']);
  });
});

test('creates nothing and reports no error in a terminating namespace', async () => {
  const self = await serving([endpoints()]);
  const { cluster } = self;
  await cluster.api(Namespace).create({ metadata: { name: 'going' } });
  await cluster.api(ConfigMap, 'going').create({ metadata: { name: 'hold', finalizers: ['example.com/hold'] } });
  await cluster.api(Service, 'going').create({
    metadata: { name: 'svc' },
    spec: { clusterIP: 'None', selector: { app: 'x' }, ports: [{ port: 80 }] },
  });
  await cluster.settle();
  await cluster.api(Namespace).delete('going');
  await cluster.api(Endpoints, 'going').delete('svc');
  await cluster.settle();
  expect(await cluster.api(Endpoints, 'going').find('svc')).toBeUndefined();
  expect(self.failures).toEqual([]);
});
