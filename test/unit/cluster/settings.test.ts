/** The options `serviceCidrs` and `allowPrivileged`; values of other options that have a wrong type. */
import { describe, expect, test } from 'vitest';
import { createCluster } from '../../../src/cluster/full-cluster.js';
import type { ClusterOptions } from '../../../src/cluster/public-api.js';
import { Deployment, IPAddress, Pod, Service, ServiceCIDR } from '../../../src/kinds/index.js';
import { testCluster } from '../../../src/testing/index.js';

const ports = [{ port: 80 }];
const services = (serviceCidrs: readonly string[], options: ClusterOptions = {}) => {
  const cluster = testCluster({ dialect: 'kubernetes', serviceCidrs, ...options });
  const create = async (name: string, spec: object = {}) =>
    (await cluster.api(Service).create({ metadata: { name }, spec: { ports, ...spec } })).spec;
  return { cluster, create };
};

describe('an IPv4 range', () => {
  test('contains the cluster IPs, and its first address is that of the API server', async () => {
    const { cluster, create } = services(['192.168.4.0/24']);
    expect((await cluster.api(ServiceCIDR).get('kubernetes')).spec.cidrs).toEqual(['192.168.4.0/24']);
    expect((await cluster.api(Service).get('kubernetes')).spec.clusterIP).toBe('192.168.4.1');
    expect((await cluster.api(IPAddress).get('192.168.4.1')).spec.parentRef?.name).toBe('kubernetes');
    expect((await create('web')).clusterIP).toMatch(/^192\.168\.4\.\d+$/);
    await expect(create('other', { clusterIP: '10.0.0.9' })).rejects.toThrow('failed to allocate IP 10.0.0.9');
  });

  test('is written in canonical form', () => {
    expect(services(['192.168.4.7/24']).cluster.settings.serviceCidrs).toEqual(['192.168.4.0/24']);
  });
});

describe('an IPv6 range', () => {
  test('makes IPv6 the default family', async () => {
    const { cluster, create } = services(['fd00:10::/112']);
    expect((await cluster.api(Service).get('kubernetes')).spec).toMatchObject({
      clusterIP: 'fd00:10::1',
      ipFamilies: ['IPv6'],
    });
    const spec = await create('web');
    expect(spec).toMatchObject({ ipFamilies: ['IPv6'], ipFamilyPolicy: 'SingleStack' });
    expect(spec.clusterIP).toMatch(/^fd00:10::[0-9a-f]+$/);
    expect((await cluster.api(IPAddress).list()).items.map(({ metadata }) => metadata.name)).toContain(spec.clusterIP);
    await expect(create('four', { ipFamilies: ['IPv4'] })).rejects.toThrow('not configured on this cluster');
  });

  test('allocates each address once, the last one included', async () => {
    const { create } = services(['fd00::/125']);
    const found: (string | undefined)[] = [];
    for (let at = 0; at < 6; at++) found.push((await create(`s${at}`)).clusterIP);
    expect(found.sort()).toEqual(['fd00::2', 'fd00::3', 'fd00::4', 'fd00::5', 'fd00::6', 'fd00::7']);
    await expect(create('full')).rejects.toThrow('range is full');
    await expect(create('taken', { clusterIP: 'fd00::0003' })).rejects.toThrow('provided IP is already allocated');
  });

  test('may have 64 bits', async () => {
    const { create } = services(['fd00::/64']);
    const first = await create('a');
    expect(first.clusterIP).toMatch(/^fd00::/);
    expect((await create('b')).clusterIP).not.toBe(first.clusterIP);
  });
});

describe('ranges of both families', () => {
  const CIDRS = ['10.96.0.0/16', 'fd00::/112'];

  test('allow dual-stack Services', async () => {
    const { create } = services(CIDRS);
    expect(await create('single')).toMatchObject({ ipFamilies: ['IPv4'], ipFamilyPolicy: 'SingleStack' });
    const spec = await create('dual', { ipFamilyPolicy: 'RequireDualStack' });
    expect(spec.ipFamilies).toEqual(['IPv4', 'IPv6']);
    expect(spec.clusterIPs).toEqual([expect.stringMatching(/^10\.96\./), expect.stringMatching(/^fd00::/)]);
    expect(spec.clusterIP).toBe(spec.clusterIPs?.[0]);
    const six = await create('six', { ipFamilyPolicy: 'PreferDualStack', ipFamilies: ['IPv6'] });
    expect(six.ipFamilies).toEqual(['IPv6', 'IPv4']);
    expect((await create('reverse', { ipFamilies: ['IPv6'] })).clusterIP).toMatch(/^fd00::/);
    expect((await services([...CIDRS].reverse()).create('default')).ipFamilies).toEqual(['IPv6']);
  });

  test('add and release the second address on an update', async () => {
    const { cluster, create } = services(CIDRS);
    const before = await create('web');
    const api = cluster.api(Service);
    const upgraded = await api.edit('web', (draft) => {
      draft.spec.ipFamilyPolicy = 'PreferDualStack';
    });
    expect(upgraded.spec.clusterIPs).toEqual([before.clusterIP, expect.stringMatching(/^fd00::/)]);
    const second = upgraded.spec.clusterIPs?.[1] ?? '';
    expect(await cluster.api(IPAddress).find(second)).toBeDefined();
    const downgraded = await api.edit('web', (draft) => {
      draft.spec.ipFamilyPolicy = 'SingleStack';
    });
    expect(downgraded.spec).toMatchObject({ clusterIPs: [before.clusterIP], ipFamilies: ['IPv4'] });
    expect(await cluster.api(IPAddress).find(second)).toBeUndefined();
  });

  test('release both addresses with the Service', async () => {
    const { cluster, create } = services(CIDRS);
    await create('web', { ipFamilyPolicy: 'RequireDualStack' });
    await cluster.api(Service).delete('web');
    const { items } = await cluster.api(IPAddress).list();
    expect(items.map(({ metadata }) => metadata.name)).toEqual(['10.96.0.1']);
  });
});

test.each([
  [[], 'one or two CIDRs'],
  [['10.0.0.0/16', 'fd00::/112', '10.1.0.0/16'], 'one or two CIDRs'],
  [['10.0.0.0'], '"10.0.0.0" is not a CIDR'],
  [['10.0.0.0/30'], 'must have at least 8 IP addresses'],
  [['fd00::/48'], 'must have at least 64 bits'],
  [['10.0.0.0/16', '10.1.0.0/16'], 'two CIDRs must be of different IP families'],
])('rejects the ranges %j', (serviceCidrs, message) => {
  expect(() => createCluster({ serviceCidrs })).toThrow(TypeError);
  expect(() => createCluster({ serviceCidrs })).toThrow(message);
});

test('a fork has the settings of its cluster', async () => {
  const { cluster } = services(['192.168.4.0/24'], { allowPrivileged: false });
  const fork = cluster.fork();
  expect(fork.settings).toBe(cluster.settings);
});

test('rejects privileged containers if they are not allowed', async () => {
  const spec = { containers: [{ name: 'a', image: 'a', securityContext: { privileged: true } }] };
  const pod = { metadata: { name: 'web' }, spec };
  await testCluster().api(Pod).create(pod);
  const cluster = testCluster({ allowPrivileged: false });
  await expect(cluster.api(Pod).create(pod)).rejects.toThrow(
    'spec.containers[0].securityContext.privileged: Forbidden: disallowed by cluster policy',
  );
  const template = { metadata: { labels: { app: 'web' } }, spec };
  const deployment = { metadata: { name: 'web' }, spec: { selector: { matchLabels: { app: 'web' } }, template } };
  await expect(cluster.api(Deployment).create(deployment)).rejects.toThrow(
    'spec.template.spec.containers[0].securityContext.privileged: Forbidden: disallowed by cluster policy',
  );
});

test.each<[option: string, options: object]>([
  ['clock', { clock: 5 }],
  ['clock', { clock: null }],
  ['clock', { clock: { now: Date.now } }],
  ['ids', { ids: 5 }],
  ['kinds', { kinds: [1] }],
  ['kinds', { kinds: [undefined] }],
  ['kinds', { kinds: {} }],
  ['admission', { admission: [{ name: 'x', mutate: 5 }] }],
  ['admission', { admission: [{ name: 'x', validate: 'x' }] }],
])('names the option %s if its value is %j', (option, options) => {
  expect(() => createCluster(options)).toThrow(TypeError);
  expect(() => createCluster(options)).toThrow(new RegExp(`^orchplane: ${option}\\b`));
});
