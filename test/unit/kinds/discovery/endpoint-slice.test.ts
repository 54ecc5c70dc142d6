/** Validation and defaulting of EndpointSlices. */
import { mergePatch } from 'orchplane';
import { EndpointSlice, type EndpointSliceInput } from 'orchplane/kinds';
import { testCluster } from 'orchplane/testing';
import { describe, expect, test } from 'vitest';
import { rejectionCauses } from '../rejections.js';

const base: EndpointSliceInput = {
  metadata: { name: 's' },
  addressType: 'IPv4',
  endpoints: [{ addresses: ['10.1.2.3'] }],
};
type Endpoint = NonNullable<EndpointSliceInput['endpoints']>[number];

const create = (change: Partial<EndpointSliceInput>) =>
  testCluster()
    .api(EndpointSlice)
    .create({ ...base, ...change });
const withEndpoint = (endpoint: Partial<Endpoint>): Partial<EndpointSliceInput> => ({
  endpoints: [{ addresses: ['10.1.2.3'], ...endpoint }],
});

describe('an EndpointSlice', () => {
  test('gets default port names and protocols, and null for empty lists', async () => {
    const ports = [{ port: 80 }];
    expect((await create({ ports })).ports).toEqual([{ name: '', protocol: 'TCP', port: 80 }]);
    expect(await create({ endpoints: [] })).toMatchObject({ endpoints: null, ports: null });
  });

  test('drops deprecatedTopology and disabled hints', async () => {
    const endpoint = { deprecatedTopology: { k: 'v' }, hints: { forNodes: [{ name: 'n' }] } };
    expect((await create(withEndpoint(endpoint))).endpoints).toEqual([
      { addresses: ['10.1.2.3'], conditions: {}, hints: {} },
    ]);
  });

  test('increments its generation when labels change', async () => {
    const slices = testCluster().api(EndpointSlice);
    await slices.create(base);
    const labelled = await slices.patch('s', mergePatch({ metadata: { labels: { k: 'v' } } }));
    expect(labelled.metadata.generation).toBe(2);
    const annotated = await slices.patch('s', mergePatch({ metadata: { annotations: { k: 'v' } } }));
    expect(annotated.metadata.generation).toBe(2);
  });

  test('has an immutable addressType', async () => {
    const slices = testCluster().api(EndpointSlice);
    await slices.create(base);
    // Unchanged endpoints are not validated again.
    expect(await rejectionCauses(slices.patch('s', mergePatch({ addressType: 'IPv6' as const })))).toEqual([
      'addressType: Invalid value: "IPv6": field is immutable',
    ]);
  });

  test.each<[string, Partial<EndpointSliceInput>, string[]]>([
    ['an empty addressType', { addressType: '' as 'IPv4' }, ['addressType: Required value']],
    [
      'an unknown addressType',
      { addressType: 'IPv5' as 'IPv4' },
      ['addressType: Unsupported value: "IPv5": supported values: "FQDN", "IPv4", "IPv6"'],
    ],
    [
      'an endpoint without addresses',
      withEndpoint({ addresses: [] }),
      ['endpoints[0].addresses: Required value: must contain at least 1 address'],
    ],
    [
      'too many addresses',
      withEndpoint({ addresses: Array.from({ length: 101 }, (_, index) => `10.0.0.${index}`) }),
      ['endpoints[0].addresses: Too many: 101: must have at most 100 items'],
    ],
    [
      'an address of the other family',
      withEndpoint({ addresses: ['2001:db8::1'] }),
      ['endpoints[0].addresses: Invalid value: "2001:db8::1": must be an IPv4 address'],
    ],
    [
      'a loopback address',
      withEndpoint({ addresses: ['127.0.0.1'] }),
      [
        'endpoints[0].addresses[0]: Invalid value: "127.0.0.1": may not be in the loopback range (127.0.0.0/8, ::1/128)',
      ],
    ],
    [
      'a host name without a domain',
      { addressType: 'FQDN', ...withEndpoint({ addresses: ['host'] }) },
      [
        'endpoints[0].addresses[0]: Invalid value: "host": should be a domain with at least two segments separated by dots',
      ],
    ],
    [
      'duplicate hints',
      withEndpoint({ hints: { forZones: [{ name: 'z' }, { name: 'z' }] } }),
      ['endpoints[0].hints.forZones[1].name: Duplicate value: "z"'],
    ],
    [
      'too many hints',
      withEndpoint({ hints: { forZones: Array.from({ length: 9 }, (_, index) => ({ name: `z${index}` })) } }),
      ['endpoints[0].hints.forZones: Too many: 9: must have at most 8 items'],
    ],
    [
      'duplicate port names',
      { ports: [{ port: 1 }, { port: 2, protocol: 'ICMP' as 'TCP' }] },
      [
        'ports[1].name: Duplicate value: ""',
        'ports[1].protocol: Unsupported value: "ICMP": supported values: "SCTP", "TCP", "UDP"',
      ],
    ],
  ])('rejects %s', async (_, change, problems) => {
    expect(await rejectionCauses(create(change))).toEqual(problems);
  });

  test('warns about FQDN addresses on create', async () => {
    const warnings: string[] = [];
    const slices = testCluster()
      .with({ onWarning: (warning) => warnings.push(warning) })
      .api(EndpointSlice);
    const input = { ...base, addressType: 'FQDN' as const, endpoints: [{ addresses: ['a.example.com'] }] };
    await slices.create(input);
    await slices.update({ ...input, metadata: { name: 's', labels: { k: 'v' } } });
    expect(warnings).toEqual(['spec.addressType: FQDN endpoints are deprecated']);
  });
});
