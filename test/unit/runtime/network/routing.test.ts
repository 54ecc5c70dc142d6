/**
 * Addresses of pods, nodes and Services.
 */
import { EndpointSlice, Pod, Service } from 'orchplane/kinds';
import { describe, expect, test } from 'vitest';
import { type Networked, networked, source } from './network-fixture.js';

const refused = (address: string) => `dial tcp ${address}: connect: connection refused`;

/** A client, and two pods of the Service `web` on two nodes. */
async function webPods(): Promise<Networked> {
  const self = await networked({ dialTimeoutMs: 0 });
  await self.pod('team/client', '10.1.0.9');
  await self.pod('team/web-a', '10.1.0.1', { labels: { app: 'web' } });
  await self.pod('team/web-b', '10.1.0.2', { labels: { app: 'web' }, node: 'n2' });
  self.serve('team/web-a');
  self.serve('team/web-b');
  return self;
}

async function several(self: Networked, url: string, count: number, from?: string): Promise<string> {
  const found: string[] = [];
  for (let i = 0; i < count; i++) found.push(await self.get(url, from));
  return found.map((text) => text.replace('team/web-', '')).join(' ');
}

describe('addresses of pods', () => {
  test('lead to the servers of the pod', async () => {
    const self = await webPods();
    expect(await self.get('http://10.1.0.1/', 'team/client')).toBe('team/web-a');
    expect(await self.get('http://10.1.0.1/')).toBe('team/web-a');
    expect(await self.get('http://10.1.0.1:81/')).toBe(refused('10.1.0.1:81'));
  });

  test('lead nowhere when the pod has finished', async () => {
    const self = await webPods();
    await self.cluster.api(Pod, 'team').status.edit('web-a', ({ status }) => {
      status.phase = 'Succeeded';
    });
    await self.cluster.settle();
    expect(await self.get('http://10.1.0.1/')).toBe('dial tcp 10.1.0.1:80: connect: no route to host');
  });

  test('include the second address of a pod', async () => {
    const self = await networked();
    await self.pod('team/web', '10.1.0.1', { ips: ['10.1.0.1', 'fd00::1'] });
    self.serve('team/web', 8080);
    expect(await self.get('http://[fd00::1]:8080/')).toBe('team/web');
  });

  test('include loopback addresses of the own pod only', async () => {
    const self = await webPods();
    expect(await self.get('http://127.0.0.1/', 'team/web-b')).toBe('team/web-b');
    expect(await self.get('http://localhost/', 'team/web-a')).toBe('team/web-a');
    expect(await self.get('http://localhost/', 'team/client')).toBe(refused('127.0.0.1:80'));
    expect(await self.get('http://localhost/')).toBe(refused('127.0.0.1:80'));
  });

  test('are the address of the node for pods in its network, which share ports', async () => {
    const self = await networked();
    const spec = { hostNetwork: true };
    await self.pod('team/a', '192.168.0.1', { spec });
    await self.pod('team/b', '192.168.0.1', { spec });
    await self.pod('team/c', '192.168.0.2', { spec, node: 'n2' });
    self.serve('team/a', 9000);
    self.serve('team/c', 9000);
    expect(() => self.serve('team/b', 9000)).toThrow('listen tcp :9000: bind: address already in use');
    expect(await self.get('http://192.168.0.1:9000/')).toBe('team/a');
    expect(await self.get('http://localhost:9000/', 'team/b')).toBe('team/a');
    expect(await self.get('http://192.168.0.2:9000/', 'team/b')).toBe('team/c');
  });

  test('refuse connections after the server is removed', async () => {
    const self = await networked();
    await self.pod('team/web', '10.1.0.1');
    const close = self.serve('team/web');
    expect(() => self.serve('team/web')).toThrow('address already in use');
    close();
    expect(await self.get('http://10.1.0.1/')).toBe(refused('10.1.0.1:80'));
    self.serve('team/web');
    close();
    expect(await self.get('http://10.1.0.1/')).toBe('team/web');
  });

  test('do not exist for a source without an address', async () => {
    const self = await webPods();
    expect(await self.get('http://10.1.0.1/', 'team/nothing')).toBe('connect: network is unreachable');
  });
});

describe('addresses of Services', () => {
  test('lead to the ready endpoints in turn', async () => {
    const self = await webPods();
    await self.pod('team/web-c', '10.1.0.3', { labels: { app: 'web' }, ready: false });
    await self.service('team/web', { clusterIP: '10.0.0.80' });
    expect(await several(self, 'http://10.0.0.80/', 4, 'team/client')).toBe('a b a b');
    expect(await self.get('http://10.0.0.80:81/')).toBe(refused('10.0.0.80:81'));
  });

  test('refuse connections without endpoints', async () => {
    const self = await networked();
    await self.service('team/web', { clusterIP: '10.0.0.80' });
    expect(await self.get('http://10.0.0.80/')).toBe(refused('10.0.0.80:80'));
  });

  test.each([
    ['a number', { port: 80, targetPort: 8080 }],
    ['a name', { port: 80, targetPort: 'http' }],
  ])('translate to a target port given as %s', async (_type, port) => {
    const self = await networked();
    await self.pod('team/web', '10.1.0.1', { labels: { app: 'web' } });
    self.serve('team/web', 8080);
    await self.service('team/web', { clusterIP: '10.0.0.80', ports: [port] });
    expect(await self.get('http://10.0.0.80/')).toBe('team/web');
  });

  test('ignore ports of other protocols', async () => {
    const self = await webPods();
    await self.service('team/web', { clusterIP: '10.0.0.80', ports: [{ port: 80, protocol: 'UDP' }] });
    expect(await self.get('http://10.0.0.80/')).toBe(refused('10.0.0.80:80'));
  });

  test('are found by the number and the name of a port for proxies', async () => {
    const self = await webPods();
    const ports = [
      { name: 'http', port: 80 },
      { name: 'admin', port: 81, targetPort: 9000 },
    ];
    await self.service('team/web', { ports });
    const service = { namespace: 'team', name: 'web' };
    expect(self.network.endpointOf(service, 'http')).toEqual({ host: '10.1.0.1', port: 80 });
    expect(self.network.endpointOf(service, 80)).toEqual({ host: '10.1.0.2', port: 80 });
    expect(self.network.endpointOf(service, 'admin')).toEqual({ host: '10.1.0.1', port: 9000 });
    expect(self.network.endpointOf(service, 81)).toEqual({ host: '10.1.0.2', port: 9000 });
    await self.service('team/unnamed', { selector: { app: 'web' }, ports: [{ port: 80 }] });
    expect(self.network.endpointOf({ namespace: 'team', name: 'unnamed' }, '')).toEqual({ host: '10.1.0.1', port: 80 });
    expect(self.network.endpointOf(service, 'none')).toBeUndefined();
  });

  test('lead proxies only to pods of their namespace that have the address', async () => {
    const self = await networked();
    await self.pod('team/own', '10.1.0.1');
    await self.pod('other/victim', '10.1.0.2');
    await self.service('team/web', { selector: {} });
    const own = { kind: 'Pod', name: 'own', namespace: 'team' };
    const victim = { kind: 'Pod', name: 'victim', namespace: 'other' };
    const foreign = [
      { addresses: ['10.1.0.2'] },
      { addresses: ['10.1.0.2'], targetRef: own },
      { addresses: ['10.1.0.2'], targetRef: victim },
      { addresses: ['10.1.0.2'], targetRef: { ...victim, namespace: 'team' } },
      { addresses: ['10.1.0.1'], targetRef: { ...own, kind: 'Node' } },
    ];
    const slices = self.cluster.api(EndpointSlice, 'team');
    await self.slice('team/web', { addressType: 'IPv4', ports: [{ port: 80 }], endpoints: foreign });
    const service = { namespace: 'team', name: 'web' };
    expect(self.network.endpointOf(service, 80)).toBeUndefined();
    await slices.edit('web-own', (slice) => {
      slice.endpoints = [...foreign, { addresses: ['10.1.0.1'], targetRef: own }];
    });
    await self.cluster.settle();
    for (let count = 0; count < 3; count++)
      expect(self.network.endpointOf(service, 80)).toEqual({ host: '10.1.0.1', port: 80 });
  });

  test('use terminating endpoints that still serve when no other is ready', async () => {
    const self = await webPods();
    await self.service('team/web', { clusterIP: '10.0.0.80' });
    const pods = self.cluster.api(Pod, 'team');
    await pods.delete('web-a');
    await self.cluster.settle();
    expect(await several(self, 'http://10.0.0.80/', 3)).toBe('b b b');
    await pods.delete('web-b');
    await self.cluster.settle();
    expect(await several(self, 'http://10.0.0.80/', 2)).toBe('b a');
  });

  test('use only endpoints on the node of the client with internalTrafficPolicy Local', async () => {
    const self = await webPods();
    await self.service('team/web', { clusterIP: '10.0.0.80', internalTrafficPolicy: 'Local' });
    expect(await several(self, 'http://10.0.0.80/', 3, 'team/client')).toBe('a a a');
    await self.cluster.api(Pod, 'team').delete('web-a', { gracePeriodSeconds: 0 });
    await self.cluster.settle();
    expect(await self.get('http://10.0.0.80/', 'team/client')).toBe('dial tcp 10.0.0.80:80: i/o timeout');
    expect(await self.get('http://10.0.0.80/')).toBe('team/web-b');
  });

  test('prefer endpoints whose hints name the zone of the client', async () => {
    const self = await webPods();
    await self.service('team/hinted', { clusterIP: '10.0.0.81', selector: {} });
    const endpoint = (address: string, zone: string) => ({
      addresses: [address],
      hints: { forZones: [{ name: zone }] },
    });
    await self.slice('team/hinted', {
      addressType: 'IPv4',
      ports: [{ port: 80 }],
      endpoints: [endpoint('10.1.0.1', 'b'), endpoint('10.1.0.2', 'a')],
    });
    expect(await several(self, 'http://10.0.0.81/', 2, 'team/client')).toBe('b b');
    expect(await several(self, 'http://10.0.0.81/', 2)).toBe('a b');
  });

  test('include external and load balancer addresses', async () => {
    const self = await webPods();
    await self.service('team/web', { type: 'LoadBalancer', externalIPs: ['198.51.100.1'] });
    await self.cluster.api(Service, 'team').status.edit('web', ({ status }) => {
      status.loadBalancer = { ingress: [{ ip: '198.51.100.2' }] };
    });
    await self.cluster.settle();
    expect(await several(self, 'http://198.51.100.1/', 2)).toBe('a b');
    expect(await several(self, 'http://198.51.100.2/', 2)).toBe('a b');
    expect(await self.get('http://198.51.100.3/')).toBe('dial tcp 198.51.100.3:80: connect: no route to host');
  });

  test('do not include external addresses that are those of pods', async () => {
    const self = await webPods();
    await self.pod('other/victim', '10.1.0.7');
    await self.pod('other/host', '192.168.0.1', { spec: { hostNetwork: true } });
    // Its program is not listening, for example because it starts again.
    const declared = [{ name: 'c', image: 'i', ports: [{ containerPort: 83 }] }];
    const initContainers = [
      { name: 'sidecar', image: 'i', ports: [{ containerPort: 84 }], restartPolicy: 'Always' as const },
      { name: 'ended', image: 'i', ports: [{ containerPort: 85 }] },
    ];
    await self.pod('other/starting', '192.168.0.1', {
      spec: { hostNetwork: true, containers: declared, initContainers },
    });
    self.serve('other/victim');
    self.serve('other/host', 81);
    const ports = [80, 81, 82, 83, 84, 85].map((port) => ({ name: `p${port}`, port, targetPort: 80 }));
    await self.service('team/web', { externalIPs: ['10.1.0.7', '10.244.0.99', '192.168.0.1'], ports });
    expect(await self.get('http://10.1.0.7/')).toBe('other/victim');
    expect(await self.get('http://10.1.0.7:81/')).toBe(refused('10.1.0.7:81'));
    expect(await self.get('http://10.244.0.99/')).toBe(refused('10.244.0.99:80'));
    expect(await self.get('http://192.168.0.1:81/')).toBe('other/host');
    expect(await self.get('http://192.168.0.1:83/')).toBe(refused('192.168.0.1:83'));
    expect(await self.get('http://192.168.0.1:84/')).toBe(refused('192.168.0.1:84'));
    expect(await several(self, 'http://192.168.0.1:85/', 2)).toBe('a b');
    expect(await several(self, 'http://192.168.0.1:82/', 2)).toBe('a b');
  });

  test('include node ports at the addresses of all nodes', async () => {
    const self = await webPods();
    await self.service('team/web', { type: 'NodePort', ports: [{ port: 80, nodePort: 30080 }] });
    expect(await several(self, 'http://192.168.0.1:30080/', 2)).toBe('a b');
    expect(await several(self, 'http://192.168.0.2:30080/', 2)).toBe('a b');
    expect(await self.get('http://10.1.0.1:30080/')).toBe(refused('10.1.0.1:30080'));
  });

  test('keep outside traffic on the node with externalTrafficPolicy Local', async () => {
    const self = await webPods();
    const ports = [{ port: 80, nodePort: 30080 }];
    await self.service('team/web', { type: 'NodePort', externalTrafficPolicy: 'Local', ports });
    expect(await several(self, 'http://192.168.0.2:30080/', 2)).toBe('b b');
    // Pods reach all endpoints.
    expect(await several(self, 'http://192.168.0.2:30080/', 2, 'team/client')).toBe('a b');
    await self.cluster.api(Pod, 'team').delete('web-b', { gracePeriodSeconds: 0 });
    await self.cluster.settle();
    expect(await self.get('http://192.168.0.2:30080/')).toBe('dial tcp 192.168.0.2:30080: i/o timeout');
  });

  test('lead to hosts outside of the cluster if the endpoints are there', async () => {
    const requests: string[] = [];
    const self = await networked({
      externalFetch: async ({ url }) => {
        requests.push(url);
        return new Response('outside');
      },
    });
    await self.service('team/legacy', { clusterIP: '10.0.0.82', selector: {} });
    const endpoints = [{ addresses: ['203.0.113.5'] }];
    await self.slice('team/legacy', { addressType: 'IPv4', ports: [{ port: 80 }], endpoints });
    expect(await self.get('http://10.0.0.82/path')).toBe('outside');
    expect(requests).toEqual(['http://203.0.113.5/path']);
  });
});

describe('the address that servers see', () => {
  test('is that of the client’s pod, or of the server’s node for clients outside of pods', async () => {
    const self = await webPods();
    await self.service('team/web', { clusterIP: '10.0.0.80', ports: [{ port: 8080 }] });
    self.serve('team/web-b', 8080, { fetch: (_request, { remoteAddress }) => new Response(remoteAddress) });
    expect(await self.get('http://10.1.0.2:8080/', 'team/client')).toBe('10.1.0.9');
    expect(await self.get('http://10.1.0.2:8080/')).toBe('192.168.0.2');
  });
});

describe('session affinity', () => {
  test('keeps the endpoint of a client until its timeout after the last connection', async () => {
    const self = await webPods();
    await self.pod('team/other', '10.1.0.8');
    await self.service('team/web', {
      clusterIP: '10.0.0.80',
      sessionAffinity: 'ClientIP',
      sessionAffinityConfig: { clientIP: { timeoutSeconds: 60 } },
    });
    const url = 'http://10.0.0.80/';
    expect(await several(self, url, 3, 'team/client')).toBe('a a a');
    expect(await several(self, url, 3, 'team/other')).toBe('b b b');
    await self.cluster.clock.advance(50_000);
    expect(await self.get(url, 'team/client')).toBe('team/web-a');
    await self.cluster.clock.advance(50_000);
    expect(await self.get(url, 'team/client')).toBe('team/web-a');
    expect(await self.get(url, 'team/other')).toBe('team/web-a');
    await self.cluster.clock.advance(61_000);
    expect(await self.get(url, 'team/client')).toBe('team/web-b');
  });

  test('chooses another endpoint when the last one is gone', async () => {
    const self = await webPods();
    await self.service('team/web', { clusterIP: '10.0.0.80', sessionAffinity: 'ClientIP' });
    expect(await self.get('http://10.0.0.80/', 'team/client')).toBe('team/web-a');
    await self.cluster.api(Pod, 'team').delete('web-a', { gracePeriodSeconds: 0 });
    await self.cluster.settle();
    expect(await self.get('http://10.0.0.80/', 'team/client')).toBe('team/web-b');
  });
});

describe('the API server', () => {
  test('answers at its Service', async () => {
    const self = await networked({ apiServer: async ({ url }) => new Response(url) });
    await self.pod('team/client', '10.1.0.9');
    const [address] = self.network.resolve('kubernetes.default', source('team/client'));
    expect(await self.get(`https://${address}/version`, 'team/client')).toBe(`https://${address}/version`);
    expect(await self.get('https://kubernetes.default.svc/api', 'team/client')).toBe(
      'https://kubernetes.default.svc/api',
    );
  });
});
