/**
 * Cluster DNS.
 */
import { beforeAll, describe, expect, test } from 'vitest';
import { type Networked, networked, source } from './network-fixture.js';

let self: Networked;

beforeAll(async () => {
  self = await networked();
  await self.service('team/web', { clusterIP: '10.0.0.80' });
  await self.service('other/web', { clusterIP: '10.0.0.81' });
  await self.service('team/db', { clusterIP: 'None' });
  await self.service('team/early', { clusterIP: 'None', publishNotReadyAddresses: true, selector: { app: 'db' } });
  await self.service('team/empty', { clusterIP: 'None' });
  await self.service('team/alias', { type: 'ExternalName', externalName: 'web.other.svc.cluster.local', ports: [] });
  await self.service('team/alias2', { type: 'ExternalName', externalName: 'alias.team.svc.cluster.local.', ports: [] });
  await self.service('team/loop', { type: 'ExternalName', externalName: 'loop.team.svc.cluster.local', ports: [] });
  await self.service('team/outside', { type: 'ExternalName', externalName: 'example.org', ports: [] });
  const labels = { app: 'db' };
  await self.pod('team/db-0', '10.1.0.1', { labels, spec: { hostname: 'db-0', subdomain: 'db' } });
  await self.pod('team/db-1', '10.1.0.2', { labels, ready: false, spec: { hostname: 'db-1', subdomain: 'db' } });
  await self.pod('team/db-2', '10.1.0.3', { labels, node: 'n2' });
  await self.pod('team/client', '10.1.0.9');
  await self.pod('other/client', '10.1.0.10');
  const aliases = [
    { ip: '10.9.9.9', hostnames: ['web', 'registry.example.org'] },
    { ip: '10.9.9.8', hostnames: ['registry.example.org'] },
  ];
  await self.pod('team/aliased', '10.1.0.11', { spec: { hostAliases: aliases } });
  await self.pod('team/default', '10.1.0.12', { spec: { dnsPolicy: 'Default' } });
  const hostNetwork = true;
  await self.pod('team/host', '192.168.0.1', { spec: { hostNetwork } });
  await self.pod('team/host-dns', '192.168.0.1', { spec: { hostNetwork, dnsPolicy: 'ClusterFirstWithHostNet' } });
  const searches = ['other.svc.cluster.local'];
  await self.pod('team/none', '10.1.0.13', {
    spec: { dnsPolicy: 'None', dnsConfig: { nameservers: ['10.0.0.10'], searches } },
  });
  await self.pod('team/dots', '10.1.0.14', { spec: { dnsConfig: { options: [{ name: 'ndots', value: '1' }] } } });
  await self.pod('team/more', '10.1.0.15', { spec: { dnsConfig: { searches: ['db.team.svc.cluster.local'] } } });
});

describe('a name', () => {
  const cluster = '10.0.0.80';
  const table: readonly [name: string, from: string | undefined, addresses: string, why: string][] = [
    ['web', 'team/client', cluster, 'finds a Service of the namespace'],
    ['web', 'other/client', '10.0.0.81', 'finds a Service of the namespace'],
    ['web', undefined, '', 'needs a namespace for clients outside of pods'],
    ['web.team', 'other/client', cluster, 'may contain a namespace'],
    ['web.team', undefined, cluster, 'may contain a namespace'],
    ['web.team.svc', 'other/client', cluster, 'may end with svc'],
    ['web.team.svc.cluster.local', 'other/client', cluster, 'may be complete'],
    ['web.team.svc.cluster.local.', 'other/client', cluster, 'may end with a dot'],
    ['web.', 'team/client', '', 'is not completed if it ends with a dot'],
    ['WEB.Team', 'other/client', cluster, 'has no case'],
    ['web.team.svc.example.org', 'team/client', '', 'is not found in other domains'],
    ['missing', 'team/client', '', 'of no Service is not found'],
    ['a.b.web.team.svc.cluster.local', 'team/client', '', 'with too many parts is not found'],
    ['db', 'team/client', '10.1.0.1 10.1.0.3', 'of a headless Service has the addresses of ready pods'],
    ['early', 'team/client', '10.1.0.1 10.1.0.2 10.1.0.3', 'has all pods with publishNotReadyAddresses'],
    ['empty', 'team/client', '', 'of a headless Service without pods has no address'],
    ['db-0.db', 'team/client', '10.1.0.1', 'finds a pod by hostname and subdomain'],
    ['db-0.db.team.svc.cluster.local', 'other/client', '10.1.0.1', 'finds a pod by hostname and subdomain'],
    ['db-1.db', 'team/client', '', 'does not find a pod that is not ready'],
    ['10-1-0-3.db', 'team/client', '10.1.0.3', 'finds a pod without a hostname by its address'],
    ['10-1-0-3.team.pod.cluster.local', undefined, '10.1.0.3', 'of a pod contains its address'],
    ['10-1-0-3.team.pod', 'other/client', '10.1.0.3', 'of a pod is completed too'],
    ['10-1-0-3.missing.pod.cluster.local', undefined, '', 'of a pod needs an existing namespace'],
    ['alias', 'team/client', '10.0.0.81', 'of an ExternalName leads to another Service'],
    ['alias2', 'team/client', '10.0.0.81', 'of an ExternalName leads to an ExternalName'],
    ['loop', 'team/client', '', 'that leads to itself is not found'],
    ['outside', 'team/client', '', 'outside of the cluster has no address here'],
    ['web', 'team/aliased', '10.9.9.9', 'is found in the host aliases first'],
    ['registry.example.org', 'team/aliased', '10.9.9.9 10.9.9.8', 'may have several host aliases'],
    ['db-1', 'team/db-1', '10.1.0.2', 'of the own pod is in its hosts file'],
    ['client', 'team/client', '10.1.0.9', 'of the own pod is in its hosts file'],
    ['localhost', 'team/client', '127.0.0.1', 'of the loopback address is in every hosts file'],
    ['10.1.0.99', 'team/default', '10.1.0.99', 'may be an address'],
    ['[fd00:0::1]', 'team/default', 'fd00::1', 'may be an address'],
    ['web', 'team/missing', '', 'is not found by a pod that does not exist'],
    ['web', 'team/default', '', 'is not found with dnsPolicy Default'],
    ['web.team.svc.cluster.local', 'team/default', '', 'is not found with dnsPolicy Default'],
    ['web', 'team/host', '', 'is not found in the network of the host'],
    ['web', 'team/host-dns', cluster, 'is found with dnsPolicy ClusterFirstWithHostNet'],
    ['web', 'team/none', '10.0.0.81', 'is completed with dnsConfig.searches only with dnsPolicy None'],
    ['web.team', 'team/none', '', 'is completed with dnsConfig.searches only with dnsPolicy None'],
    ['db-0', 'team/more', '10.1.0.1', 'is completed with dnsConfig.searches'],
    ['web.team', 'team/dots', cluster, 'is completed after it was not found with ndots 1'],
  ];
  test.each(table)('%s of %s is "%s": %s', (name, from, addresses) => {
    const found = self.network.resolve(name, from === undefined ? undefined : source(from));
    expect(found.join(' ')).toBe(addresses);
  });
});

describe('a request to a name', () => {
  test('uses the addresses of a headless Service in turn and skips those that refuse', async () => {
    const stop = self.serve('team/db-0', 5432);
    self.serve('team/db-2', 5432);
    const found = [];
    for (let i = 0; i < 4; i++) found.push(await self.get('http://db:5432/', 'team/client'));
    expect(found).toEqual(['team/db-0', 'team/db-2', 'team/db-0', 'team/db-2']);
    stop();
    expect(await self.get('http://db:5432/', 'team/client')).toBe('team/db-2');
    expect(await self.get('http://db:5432/', 'team/client')).toBe('team/db-2');
    expect(await self.get('http://db:5433/', 'team/client')).toBe(
      'dial tcp 10.1.0.1:5433: connect: connection refused',
    );
  });

  test('that does not exist rejects', async () => {
    expect(await self.get('http://missing/', 'team/client')).toBe('dial tcp: lookup missing: no such host');
    const request = self.network.fetch(new Request('http://missing/'), source('team/client'));
    await expect(request).rejects.toMatchObject({ name: 'TypeError', cause: { code: 'ENOTFOUND' } });
  });

  test('outside of the cluster needs externalFetch', async () => {
    const urls: string[] = [];
    const open = await networked({
      clusterDomain: 'example.net',
      externalFetch: async ({ url }) => {
        urls.push(url);
        return new Response('outside');
      },
    });
    await open.service('team/outside', { type: 'ExternalName', externalName: 'example.org', ports: [] });
    await open.pod('team/client', '10.1.0.9');
    expect(await open.get('http://outside:8080/a?b=c', 'team/client')).toBe('outside');
    expect(await open.get('https://example.com/', 'team/client')).toBe('outside');
    expect(await open.get('http://outside.team.svc.example.net/', 'team/client')).toBe('outside');
    expect(urls).toEqual(['http://example.org:8080/a?b=c', 'https://example.com/', 'http://example.org/']);
    expect(await self.get('http://outside/', 'team/client')).toBe('dial tcp: lookup example.org: no such host');
  });
});
