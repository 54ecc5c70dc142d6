/** Validation of IPAddresses and ServiceCIDRs. */
import { mergePatch } from 'orchplane';
import { IPAddress, ServiceCIDR } from 'orchplane/kinds';
import { testCluster } from 'orchplane/testing';
import { describe, expect, test } from 'vitest';
import { rejectionCauses } from '../rejections.js';

const parentRef = { resource: 'services', namespace: 'n', name: 's' };

describe('an IPAddress', () => {
  const create = (name: string, ref: object | undefined = parentRef) =>
    testCluster()
      .api(IPAddress)
      .create({ metadata: { name }, spec: { parentRef: ref } as never });

  test.each([
    ['x', 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)'],
    ['010.0.0.1', 'must not have leading 0s'],
    ['2001:DB8::1', 'must be in canonical form ("2001:db8::1")'],
    ['::ffff:1.2.3.4', 'must not be an IPv4-mapped IPv6 address'],
  ])('rejects the name %s', async (name, detail) => {
    expect(await rejectionCauses(create(name))).toEqual([`metadata.name: Invalid value: "${name}": ${detail}`]);
  });

  test('requires a valid parentRef', async () => {
    expect(
      await rejectionCauses(
        testCluster()
          .api(IPAddress)
          .create({ metadata: { name: '::1' }, spec: {} as never }),
      ),
    ).toEqual(['spec.parentRef: Required value']);
    expect(await rejectionCauses(create('::1', { name: 'a/b', namespace: '..' }))).toEqual([
      'spec.parentRef.resource: Required value',
      `spec.parentRef.name: Invalid value: "a/b": may not contain '/'`,
      `spec.parentRef.namespace: Invalid value: "..": may not be '..'`,
    ]);
  });

  test('has an immutable parentRef', async () => {
    const addresses = testCluster().api(IPAddress);
    await addresses.create({ metadata: { name: '::1' }, spec: { parentRef } });
    expect(await rejectionCauses(addresses.patch('::1', mergePatch({ spec: { parentRef: { name: 't' } } })))).toEqual([
      'spec.parentRef: Invalid value: networking.ParentReference{Group:"", Resource:"services", Namespace:"n", Name:"t"}: field is immutable',
    ]);
  });
});

describe('a ServiceCIDR', () => {
  const ranges = () => testCluster().api(ServiceCIDR);
  const create = (cidrs: string[]) => ranges().create({ metadata: { name: 'a' }, spec: { cidrs } });

  test.each<[string[], string[]]>([
    [[], ['spec.cidrs: Required value: at least one CIDR required']],
    [
      ['a', 'b', 'c'],
      [
        'spec.cidrs: Invalid value: networking.ServiceCIDRSpec{CIDRs:[]string{"a", "b", "c"}}: may only hold up to 2 values',
      ],
    ],
    [['10.0.0.1/8'], ['spec.cidrs[0]: Invalid value: "10.0.0.1/8": must not have bits set beyond the prefix length']],
    [
      ['10.0.0.0/8', '11.0.0.0/8'],
      [
        'spec.cidrs: Invalid value: []string{"10.0.0.0/8", "11.0.0.0/8"}: may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64',
      ],
    ],
  ])('rejects a ServiceCIDR with %j', async (cidrs, causes) => {
    expect(await rejectionCauses(create(cidrs))).toEqual(causes);
  });

  test('keeps its range, and may get a second one', async () => {
    const api = ranges();
    await api.create({ metadata: { name: 'a' }, spec: { cidrs: ['10.0.0.0/8'] } });
    const change = (cidrs: string[]) => api.patch('a', mergePatch({ spec: { cidrs } }));
    expect(await rejectionCauses(change(['11.0.0.0/8']))).toEqual([
      'spec.cidrs[0]: Invalid value: "11.0.0.0/8": field is immutable',
    ]);
    expect(await rejectionCauses(change([]))).toEqual(['spec.cidrs: Invalid value: []string{}: field is immutable']);
    expect((await change(['10.0.0.0/8', '2001:db8::/64'])).spec.cidrs).toHaveLength(2);
    expect(await rejectionCauses(change(['10.0.0.0/8']))).toEqual([
      'spec.cidrs: Invalid value: []string{"10.0.0.0/8"}: field is immutable',
    ]);
  });

  test('has a status update that changes only the status', async () => {
    const api = ranges();
    await api.create({ metadata: { name: 'a' }, spec: { cidrs: ['10.0.0.0/8'] } });
    const ready = {
      type: 'Ready',
      status: 'True' as const,
      reason: '',
      message: '',
      lastTransitionTime: '2030-01-01T00:00:00Z',
    };
    const change = { metadata: { labels: { k: 'v' } }, status: { conditions: [ready] } };
    const updated = await api.status.patch('a', mergePatch(change));
    expect(updated.status.conditions).toEqual([ready]);
    expect(updated.metadata.labels).toBeUndefined();
  });
});
