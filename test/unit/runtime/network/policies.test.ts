/**
 * NetworkPolicies: which connections are dropped.
 */
import type { NetworkPolicyInput } from 'orchplane/kinds';
import { describe, expect, test } from 'vitest';
import { cpuTimer } from '../../../fixtures/cpu-time.js';
import { messageOf, type Networked, networked, source } from './network-fixture.js';

type Spec = NonNullable<NetworkPolicyInput['spec']>;

/** Pods of two namespaces. The server is `team/web`; `team/neighbour` is in the network of its node. */
async function pods(): Promise<Networked> {
  const self = await networked({ dialTimeoutMs: 0, externalFetch: async () => new Response('outside') });
  await self.namespace('labelled', { team: 'blue' });
  await self.pod('team/web', '10.1.0.1', { labels: { app: 'web' } });
  await self.pod('team/friend', '10.1.0.2', { labels: { role: 'friend' } });
  await self.pod('team/stranger', '10.1.0.3');
  await self.pod('labelled/friend', '10.1.1.2', { labels: { role: 'friend' } });
  await self.pod('labelled/stranger', '10.1.1.3');
  await self.pod('team/neighbour', '192.168.0.1', { spec: { hostNetwork: true } });
  await self.pod('team/remote', '192.168.0.2', { spec: { hostNetwork: true }, node: 'n2' });
  self.serve('team/web', 8080);
  self.serve('team/web', 9090);
  await self.service('team/web', { clusterIP: '10.0.0.80', ports: [{ port: 80, targetPort: 8080 }] });
  return self;
}

const CLIENTS = [
  'team/friend',
  'team/stranger',
  'labelled/friend',
  'labelled/stranger',
  'team/neighbour',
  'team/remote',
  'outside',
];
const ALWAYS = ['team/neighbour', 'outside'];

/** The clients that reach a URL. */
async function reaching(self: Networked, url: string): Promise<string[]> {
  const found: string[] = [];
  for (const client of CLIENTS) {
    const text = await self.get(url, client === 'outside' ? undefined : client);
    if (text === 'team/web') found.push(client);
    else expect(text).toMatch(/^dial tcp 10\.1\.0\.1:\d+: i\/o timeout$/);
  }
  return found;
}

describe('ingress rules', () => {
  const web = { matchLabels: { app: 'web' } };
  const friend = { matchLabels: { role: 'friend' } };
  const blue = { matchLabels: { team: 'blue' } };
  const table: readonly [string, Spec, readonly string[]][] = [
    ['a policy that selects no pod allows all', { podSelector: friend, policyTypes: ['Ingress'] }, CLIENTS],
    ['a policy without rules denies all', { podSelector: {}, policyTypes: ['Ingress'] }, ALWAYS],
    ['a policy without types is for ingress', { podSelector: web }, ALWAYS],
    ['a policy for egress only does not restrict ingress', { podSelector: web, policyTypes: ['Egress'] }, CLIENTS],
    ['an empty rule allows all', { podSelector: web, ingress: [{}] }, CLIENTS],
    [
      'a pod selector means pods of the same namespace',
      { podSelector: web, ingress: [{ from: [{ podSelector: friend }] }] },
      ['team/friend', ...ALWAYS],
    ],
    [
      'an empty pod selector means all pods of the namespace',
      { podSelector: web, ingress: [{ from: [{ podSelector: {} }] }] },
      ['team/friend', 'team/stranger', ...ALWAYS],
    ],
    [
      'a namespace selector means all pods of the namespaces',
      { podSelector: web, ingress: [{ from: [{ namespaceSelector: blue }] }] },
      ['labelled/friend', 'labelled/stranger', ...ALWAYS],
    ],
    [
      'both selectors in one peer must match',
      { podSelector: web, ingress: [{ from: [{ namespaceSelector: blue, podSelector: friend }] }] },
      ['labelled/friend', ...ALWAYS],
    ],
    [
      'one of two peers must match',
      { podSelector: web, ingress: [{ from: [{ namespaceSelector: blue }, { podSelector: friend }] }] },
      ['team/friend', 'labelled/friend', 'labelled/stranger', ...ALWAYS],
    ],
    [
      'an empty namespace selector means all namespaces',
      { podSelector: web, ingress: [{ from: [{ namespaceSelector: {}, podSelector: friend }] }] },
      ['team/friend', 'labelled/friend', ...ALWAYS],
    ],
    [
      'an address block excludes exceptions',
      { podSelector: web, ingress: [{ from: [{ ipBlock: { cidr: '10.1.0.0/16', except: ['10.1.1.0/24'] } }] }] },
      ['team/friend', 'team/stranger', ...ALWAYS],
    ],
    [
      'an address block contains nodes',
      { podSelector: web, ingress: [{ from: [{ ipBlock: { cidr: '192.168.0.0/24' } }] }] },
      ['team/neighbour', 'team/remote', 'outside'],
    ],
    ['a port number', { podSelector: web, ingress: [{ ports: [{ port: 8080 }] }] }, CLIENTS],
    ['another port number', { podSelector: web, ingress: [{ ports: [{ port: 8081 }] }] }, ALWAYS],
    [
      'a port of another protocol',
      { podSelector: web, ingress: [{ ports: [{ port: 8080, protocol: 'UDP' }] }] },
      ALWAYS,
    ],
    ['a protocol without a port', { podSelector: web, ingress: [{ ports: [{ protocol: 'TCP' }] }] }, CLIENTS],
    ['a range of ports', { podSelector: web, ingress: [{ ports: [{ port: 8000, endPort: 8080 }] }] }, CLIENTS],
    ['a range before the port', { podSelector: web, ingress: [{ ports: [{ port: 8000, endPort: 8079 }] }] }, ALWAYS],
    ['the name of a container port', { podSelector: web, ingress: [{ ports: [{ port: 'http' }] }] }, CLIENTS],
    ['the name of no container port', { podSelector: web, ingress: [{ ports: [{ port: 'metrics' }] }] }, ALWAYS],
    [
      'ports and peers of a rule must both match',
      { podSelector: web, ingress: [{ ports: [{ port: 9090 }], from: [{ podSelector: friend }] }] },
      ALWAYS,
    ],
  ];
  test.each(table)('%s', async (_name, spec, expected) => {
    const self = await pods();
    await self.policy('team/policy', spec);
    const inOrder = CLIENTS.filter((client) => expected.includes(client));
    expect(await reaching(self, 'http://10.1.0.1:8080/')).toEqual(inOrder);
    // A Service is translated to its pod first.
    expect(await reaching(self, 'http://10.0.0.80/')).toEqual(inOrder);
  });

  test('add up over several policies', async () => {
    const self = await pods();
    await self.policy('team/none', { podSelector: {}, policyTypes: ['Ingress'] });
    await self.policy('team/some', { podSelector: web, ingress: [{ from: [{ podSelector: friend }] }] });
    await self.policy('team/port', { podSelector: web, ingress: [{ ports: [{ port: 9090 }] }] });
    expect(await reaching(self, 'http://10.1.0.1:8080/')).toEqual(['team/friend', ...ALWAYS]);
    expect(await reaching(self, 'http://10.1.0.1:9090/')).toEqual(CLIENTS);
  });

  test('do not restrict a pod’s connections to itself, nor pods in the network of their host', async () => {
    const self = await pods();
    await self.policy('team/none', { podSelector: {}, policyTypes: ['Ingress', 'Egress'] });
    self.serve('team/remote', 7000);
    expect(await self.get('http://10.1.0.1:8080/', 'team/web')).toBe('team/web');
    expect(await self.get('http://localhost:8080/', 'team/web')).toBe('team/web');
    expect(await self.get('http://192.168.0.2:7000/', 'labelled/friend')).toBe('team/remote');
    expect(await self.get('http://192.168.0.2:7000/', 'team/friend')).toBe('dial tcp 192.168.0.2:7000: i/o timeout');
  });
});

describe('egress rules', () => {
  const podSelector = { matchLabels: { role: 'friend' } };
  const policyTypes: Spec['policyTypes'] = ['Egress'];
  const web = { matchLabels: { app: 'web' } };
  const table: readonly [string, Spec, { readonly web: boolean; readonly outside: boolean }][] = [
    ['a policy without rules denies all', { podSelector, policyTypes }, { web: false, outside: false }],
    ['a policy with ingress rules only allows all', { podSelector, ingress: [] }, { web: true, outside: true }],
    [
      'rules without types restrict egress',
      { podSelector, egress: [{ to: [{ podSelector: web }] }] },
      { web: true, outside: false },
    ],
    [
      'a port is that of the pod, not of the Service',
      { podSelector, policyTypes, egress: [{ ports: [{ port: 8080 }] }] },
      { web: true, outside: false },
    ],
    [
      'the name of a port is that of the target pod',
      { podSelector, policyTypes, egress: [{ ports: [{ port: 'http' }] }] },
      { web: true, outside: false },
    ],
    ['an empty rule allows all', { podSelector, policyTypes, egress: [{}] }, { web: true, outside: true }],
    [
      'all addresses include names outside of the cluster',
      { podSelector, policyTypes, egress: [{ to: [{ ipBlock: { cidr: '0.0.0.0/0' } }] }] },
      { web: true, outside: true },
    ],
    [
      'an address block may contain pods',
      { podSelector, policyTypes, egress: [{ to: [{ ipBlock: { cidr: '10.1.0.1/32' } }] }] },
      { web: true, outside: false },
    ],
    [
      'an address block may exclude pods',
      { podSelector, policyTypes, egress: [{ to: [{ ipBlock: { cidr: '0.0.0.0/0', except: ['10.0.0.0/8'] } }] }] },
      { web: false, outside: true },
    ],
  ];
  test.each(table)('%s', async (_name, spec, expected) => {
    const self = await pods();
    await self.policy('team/policy', spec);
    expect(await self.get('http://web/', 'team/friend')).toBe(
      expected.web ? 'team/web' : 'dial tcp 10.1.0.1:8080: i/o timeout',
    );
    expect(await self.get('http://example.org/', 'team/friend')).toBe(
      expected.outside ? 'outside' : 'dial tcp example.org:80: i/o timeout',
    );
    expect(await self.get('http://web/', 'team/stranger')).toBe('team/web');
    expect(await self.get('http://web.team/', 'labelled/friend')).toBe('team/web');
  });

  test('apply to the API server', async () => {
    const self = await networked({ dialTimeoutMs: 0, apiServer: async () => new Response('api') });
    await self.pod('team/client', '10.1.0.2');
    expect(await self.get('https://kubernetes.default/', 'team/client')).toBe('api');
    await self.policy('team/none', { podSelector: {}, policyTypes });
    expect(await self.get('https://kubernetes.default/', 'team/client')).toMatch(/:\d+: i\/o timeout$/);
  });
});

describe('a dropped connection', () => {
  async function denied(options: Parameters<typeof networked>[0]): Promise<Networked> {
    const self = await networked(options);
    await self.pod('team/web', '10.1.0.1');
    await self.pod('team/client', '10.1.0.2');
    self.serve('team/web');
    await self.policy('team/none', { podSelector: {}, policyTypes: ['Ingress'] });
    return self;
  }

  test('fails after ten seconds of the cluster’s clock', async () => {
    const self = await denied({});
    let message = 'pending';
    const settled = self.get('http://10.1.0.1/', 'team/client').then((text) => {
      message = text;
    });
    await self.cluster.clock.advance(9_999);
    expect(message).toBe('pending');
    await self.cluster.clock.advance(1);
    await settled;
    expect(message).toBe('dial tcp 10.1.0.1:80: i/o timeout');
  });

  test('ends when its request is aborted or the cluster closes', async () => {
    const self = await denied({});
    const abort = new AbortController();
    const request = new Request('http://10.1.0.1/', { signal: abort.signal });
    const aborted = self.network.fetch(request, source('team/client'));
    abort.abort(new Error('enough'));
    await expect(aborted).rejects.toThrow('enough');
    const connection = self.network.connect('10.1.0.1', 80, source('team/client'));
    const closed = connection.catch(messageOf);
    await self.cluster.close();
    expect(await closed).toBe('the network is closed');
  });
});

test('the address blocks of a policy are parsed once, not for each connection', async () => {
  const self = await networked({ dialTimeoutMs: 0 });
  await self.pod('team/web', '10.1.0.1');
  await self.pod('team/client', '10.1.0.2');
  self.serve('team/web');
  const from = Array.from({ length: 20_000 }, (_, at) => ({ ipBlock: { cidr: `1.${at >> 8}.${at & 255}.0/24` } }));
  const except = from.map(({ ipBlock }) => ipBlock.cidr);
  const all = { ipBlock: { cidr: '0.0.0.0/0', except } };
  await self.policy('team/blocks', { podSelector: {}, policyTypes: ['Ingress'], ingress: [{ from: [...from, all] }] });
  expect(await self.get('http://10.1.0.1/', 'team/client')).toBe('team/web');
  const spentMs = cpuTimer();
  for (let at = 0; at < 40; at++) expect(await self.get('http://10.1.0.1/', 'team/client')).toBe('team/web');
  expect(spentMs()).toBeLessThan(1_500);
});
