/** Defaulting, validation and warnings of Endpoints. */
import { Endpoints, type EndpointsInput } from 'orchplane/kinds';
import { testCluster } from 'orchplane/testing';
import { describe, expect, test } from 'vitest';

type Subset = NonNullable<EndpointsInput['subsets']>[number];
const ADDRESS = { ip: '10.1.2.3' };

function create(...subsets: Subset[]) {
  return testCluster()
    .api(Endpoints)
    .create({ metadata: { name: 'e' }, subsets });
}

const causes = (...all: [field: string, message: string][]) => ({
  status: { details: { causes: all.map(([field, message]) => ({ field, message })) } },
});

describe('Endpoints', () => {
  test('defaults the protocol and stores the subsets unchanged', async () => {
    const created = await create({ addresses: [ADDRESS, ADDRESS], ports: [{ port: 80 }] }, { addresses: [ADDRESS] });
    expect(created.subsets).toEqual([
      { addresses: [ADDRESS, ADDRESS], ports: [{ port: 80, protocol: 'TCP' }] },
      { addresses: [ADDRESS] },
    ]);
  });

  test.each<[string, Subset, [string, string][]]>([
    ['an empty subset', {}, [['subsets[0]', 'Required value: must specify `addresses` or `notReadyAddresses`']]],
    [
      'an invalid address, which is reported twice',
      { notReadyAddresses: [{ ip: '10.1' }] },
      [
        [
          'subsets[0].notReadyAddresses[0].ip',
          'Invalid value: "10.1": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
        ],
        ['subsets[0].notReadyAddresses[0].ip', 'Invalid value: "10.1": must be a valid IP address'],
      ],
    ],
    [
      'a loopback address',
      { addresses: [{ ip: '::1' }] },
      [['subsets[0].addresses[0].ip', 'Invalid value: "::1": may not be in the loopback range (127.0.0.0/8, ::1/128)']],
    ],
    [
      'a host name with dots',
      { addresses: [{ ...ADDRESS, hostname: 'a.b' }] },
      [['subsets[0].addresses[0].hostname', 'Invalid value: "a.b": must not contain dots']],
    ],
    [
      'several ports without names',
      { addresses: [ADDRESS], ports: [{ port: 1 }, { port: 2, name: 'b' }] },
      [['subsets[0].ports[0].name', 'Required value']],
    ],
    [
      'an invalid port',
      { addresses: [ADDRESS], ports: [{ port: 0 }] },
      [['subsets[0].ports[0].port', 'Invalid value: 0: must be between 1 and 65535, inclusive']],
    ],
    [
      'an unknown protocol',
      { addresses: [ADDRESS], ports: [{ port: 1, protocol: 'ICMP' as 'TCP' }] },
      [['subsets[0].ports[0].protocol', 'Unsupported value: "ICMP": supported values: "SCTP", "TCP", "UDP"']],
    ],
  ])('rejects Endpoints with %s', async (_, subset, problems) => {
    await expect(create(subset)).rejects.toMatchObject(causes(...problems));
  });

  test('warns about addresses that are not in canonical form', async () => {
    const warnings: string[] = [];
    const cluster = testCluster();
    await cluster
      .with({ onWarning: (warning) => warnings.push(warning) })
      .api(Endpoints)
      .create({ metadata: { name: 'e' }, subsets: [{ addresses: [{ ip: '010.1.2.3' }] }] });
    expect(warnings).toContain('v1 Endpoints is deprecated in v1.33+; use discovery.orch.io/v1 EndpointSlice');
    expect(warnings.some((warning) => warning.startsWith('subsets[0].addresses[0].ip: non-standard IP address'))).toBe(
      true,
    );
  });
});
