/** Defaulting, validation and updates of Services. */
import { mergePatch } from 'orchplane';
import { Service } from 'orchplane/kinds';
import { testCluster } from 'orchplane/testing';
import { describe, expect, test } from 'vitest';
import type { ServiceSpecInput } from '../../../../src/kinds/generated/core-v1.js';
import { rejectionCauses } from '../rejections.js';

const ports = [{ port: 80 }];
const create = (spec: object, annotations: Record<string, string> = {}) =>
  testCluster()
    .api(Service)
    .create({ metadata: { name: 'a', annotations }, spec: spec as ServiceSpecInput });

describe('Service defaults', () => {
  test('sets the defaults of a ClusterIP service', async () => {
    const { spec, status } = await create({ ports, clusterIP: '10.0.0.9', selector: { k: 'v' } });
    expect(spec).toEqual({
      ports: [{ protocol: 'TCP', port: 80, targetPort: 80 }],
      selector: { k: 'v' },
      clusterIP: '10.0.0.9',
      clusterIPs: ['10.0.0.9'],
      type: 'ClusterIP',
      sessionAffinity: 'None',
      ipFamilies: ['IPv4'],
      ipFamilyPolicy: 'SingleStack',
      internalTrafficPolicy: 'Cluster',
    });
    expect(status).toEqual({ loadBalancer: {} });
  });

  test('sets Service defaults in wire order', async () => {
    const { spec } = await create({ type: 'LoadBalancer', externalTrafficPolicy: 'Local', ports });
    expect(Object.keys(spec)).toEqual([
      'ports',
      'clusterIP',
      'clusterIPs',
      'type',
      'sessionAffinity',
      'externalTrafficPolicy',
      'healthCheckNodePort',
      'ipFamilies',
      'ipFamilyPolicy',
      'allocateLoadBalancerNodePorts',
      'internalTrafficPolicy',
    ]);
    expect(Object.keys(spec.ports?.[0] ?? {})).toEqual(['protocol', 'port', 'targetPort', 'nodePort']);
  });

  test.each<[string, object, object]>([
    [
      'a load balancer',
      { type: 'LoadBalancer', ports },
      { allocateLoadBalancerNodePorts: true, externalTrafficPolicy: 'Cluster' },
    ],
    ['external addresses', { ports, externalIPs: ['1.2.3.4'] }, { externalTrafficPolicy: 'Cluster' }],
    [
      'session affinity',
      { ports, sessionAffinity: 'ClientIP' },
      { sessionAffinityConfig: { clientIP: { timeoutSeconds: 10800 } } },
    ],
    [
      'a headless service without a selector',
      { clusterIP: 'None' },
      { ipFamilies: ['IPv4', 'IPv6'], ipFamilyPolicy: 'RequireDualStack' },
    ],
    ['the policy PreferDualStack', { ports, ipFamilyPolicy: 'PreferDualStack' }, { ipFamilies: ['IPv4'] }],
  ])('sets Service defaults for %s', async (_, spec, expected) => {
    expect((await create(spec)).spec).toMatchObject(expected);
  });

  test('removes Service fields without effect', async () => {
    const config = { clientIP: { timeoutSeconds: 5 } };
    expect((await create({ ports, sessionAffinityConfig: config })).spec).not.toHaveProperty('sessionAffinityConfig');
    const { spec } = await create({ type: 'ExternalName', externalName: 'example.com.' });
    expect(spec).toEqual({ type: 'ExternalName', sessionAffinity: 'None', externalName: 'example.com.' });
  });
});

const IP = 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)';
const headless = { clusterIP: 'None', selector: { k: 'v' } };

test.each<[string, object, string[]]>([
  ['no ports', {}, ['spec.ports: Required value']],
  [
    'a port without a number',
    { ports: [{ name: 'a' }] },
    [
      'spec.ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive',
      'spec.ports[0].targetPort: Invalid value: 0: must be between 1 and 65535, inclusive',
    ],
  ],
  [
    'two ports without names',
    { ports: [{ port: 1 }, { port: 2 }] },
    ['spec.ports[0].name: Required value', 'spec.ports[1].name: Required value'],
  ],
  [
    'a repeated port',
    {
      ports: [
        { name: 'a', port: 1 },
        { name: 'a', port: 1 },
      ],
    },
    [
      'spec.ports[1].name: Duplicate value: "a"',
      'spec.ports[1]: Duplicate value: core.ServicePort{Name:"", Protocol:"TCP", AppProtocol:(*string)(nil), Port:1, TargetPort:intstr.IntOrString{Type:0, IntVal:0, StrVal:""}, NodePort:0}',
    ],
  ],
  [
    'an unknown protocol',
    { ports: [{ port: 1, protocol: 'X' }] },
    ['spec.ports[0].protocol: Unsupported value: "X": supported values: "SCTP", "TCP", "UDP"'],
  ],
  [
    'an invalid targetPort',
    { ports: [{ port: 1, targetPort: '8' }] },
    ['spec.ports[0].targetPort: Invalid value: "8": must contain at least one letter (a-z)'],
  ],
  [
    'a node port of a ClusterIP service',
    { ports: [{ port: 1, nodePort: 30001 }] },
    ["spec.ports[0].nodePort: Forbidden: may not be used when `type` is 'ClusterIP'"],
  ],
  [
    'the same node port twice for a protocol',
    {
      type: 'NodePort',
      ports: [
        { name: 'a', port: 1, nodePort: 30001 },
        { name: 'b', port: 1, nodePort: 30001, protocol: 'UDP' },
        { name: 'c', port: 1, nodePort: 30001 },
      ],
    },
    [
      'spec.ports[2].nodePort: Duplicate value: 30001',
      'spec.ports[2]: Duplicate value: core.ServicePort{Name:"", Protocol:"TCP", AppProtocol:(*string)(nil), Port:1, TargetPort:intstr.IntOrString{Type:0, IntVal:0, StrVal:""}, NodePort:0}',
    ],
  ],
  [
    'a NodePort service without a cluster IP',
    { ...headless, type: 'NodePort', ports },
    [`spec.clusterIPs[0]: Invalid value: "None": may not be set to 'None' for NodePort services`],
  ],
  [
    'an unknown type',
    { type: 'X', ports },
    ['spec.type: Unsupported value: "X": supported values: "ClusterIP", "ExternalName", "LoadBalancer", "NodePort"'],
  ],
  ['an ExternalName service without a name', { type: 'ExternalName' }, ['spec.externalName: Required value']],
  [
    'a cluster IP of an ExternalName service',
    {
      type: 'ExternalName',
      externalName: 'a.b',
      clusterIP: '10.0.0.1',
      ipFamilies: ['IPv4'],
      ipFamilyPolicy: 'SingleStack',
    },
    ['clusterIPs', 'ipFamilies', 'ipFamilyPolicy'].map(
      (name) => `spec.${name}: Forbidden: may not be set for ExternalName services`,
    ),
  ],
  [
    'an unknown session affinity',
    { ports, sessionAffinity: 'X' },
    ['spec.sessionAffinity: Unsupported value: "X": supported values: "ClientIP", "None"'],
  ],
  [
    'a session affinity timeout above the maximum',
    { ports, sessionAffinity: 'ClientIP', sessionAffinityConfig: { clientIP: { timeoutSeconds: 86401 } } },
    [
      'spec.sessionAffinityConfig.clientIP.timeoutSeconds: Invalid value: 86401: must be greater than 0 and less than 86400',
    ],
  ],
  ['an invalid external IP', { ports, externalIPs: ['x'] }, [`spec.externalIPs[0]: Invalid value: "x": ${IP}`]],
  [
    'a loopback external IP',
    { ports, externalIPs: ['127.0.0.1'] },
    ['spec.externalIPs[0]: Invalid value: "127.0.0.1": may not be in the loopback range (127.0.0.0/8, ::1/128)'],
  ],
  [
    'source ranges without a load balancer',
    { ports, loadBalancerSourceRanges: ['10.0.0.0/8'] },
    ["spec.LoadBalancerSourceRanges: Forbidden: may only be used when `type` is 'LoadBalancer'"],
  ],
  [
    'invalid source ranges',
    { type: 'LoadBalancer', ports, loadBalancerSourceRanges: ['x'] },
    [
      'spec.LoadBalancerSourceRanges[0]: Invalid value: "x": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)',
    ],
  ],
  [
    'load balancer fields of another type',
    { ports, allocateLoadBalancerNodePorts: false, loadBalancerClass: 'c' },
    ['allocateLoadBalancerNodePorts', 'loadBalancerClass'].map(
      (name) => `spec.${name}: Forbidden: may only be used when \`type\` is 'LoadBalancer'`,
    ),
  ],
  [
    'traffic policies that do not apply',
    { ports, externalTrafficPolicy: 'Local', healthCheckNodePort: 31000 },
    [
      'spec.externalTrafficPolicy: Invalid value: "Local": may only be set for externally-accessible services',
      "spec.healthCheckNodePort: Invalid value: 31000: may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'",
    ],
  ],
  [
    'unknown traffic policies',
    { type: 'NodePort', ports, externalTrafficPolicy: 'X', internalTrafficPolicy: 'Y', trafficDistribution: 'Z' },
    [
      'spec.externalTrafficPolicy: Unsupported value: "X": supported values: "Cluster", "Local"',
      'spec.internalTrafficPolicy: Unsupported value: "Y": supported values: "Cluster", "Local"',
      'spec.trafficDistribution: Unsupported value: "Z": supported values: "PreferClose"',
    ],
  ],
  ['an invalid cluster IP', { ports, clusterIP: 'x' }, [`spec.clusterIPs[0]: Invalid value: "x": ${IP}`]],
  [
    'clusterIPs without clusterIP',
    { ports, clusterIPs: ['10.0.0.1'] },
    ['spec.clusterIPs: Invalid value: []string{"10.0.0.1"}: must be empty when `clusterIP` is not specified'],
  ],
  [
    'clusterIPs that differ from clusterIP',
    { ports, clusterIP: '10.0.0.1', clusterIPs: ['10.0.0.2'] },
    ['spec.clusterIPs: Invalid value: []string{"10.0.0.2"}: first value must match `clusterIP`'],
  ],
  [
    'None together with an address',
    { ports, clusterIP: 'None', clusterIPs: ['None', '10.0.0.1'] },
    [`spec.clusterIPs: Invalid value: []string{"None", "10.0.0.1"}: 'None' must be the first and only value`],
  ],
  [
    'two addresses of a family',
    { ports, clusterIP: '10.0.0.1', clusterIPs: ['10.0.0.1', '10.0.0.2'] },
    [
      'spec.clusterIPs: Invalid value: []string{"10.0.0.1", "10.0.0.2"}: may specify no more than one IP for each IP family',
    ],
  ],
  [
    'an address of another family',
    { ports, clusterIP: '10.0.0.1', ipFamilies: ['IPv6'] },
    ['spec.clusterIPs[0]: Invalid value: "10.0.0.1": expected an IPv6 value as indicated by `ipFamilies[0]`'],
  ],
  [
    'unknown families',
    { ports, ipFamilies: ['X', 'X'], ipFamilyPolicy: 'Y' },
    [
      'spec.ipFamilies[0]: Unsupported value: "X": supported values: "IPv4", "IPv6"',
      'spec.ipFamilies[1]: Unsupported value: "X": supported values: "IPv4", "IPv6"',
      'spec.ipFamilies[1]: Duplicate value: "X"',
      'spec.ipFamilyPolicy: Unsupported value: "Y": supported values: "PreferDualStack", "RequireDualStack", "SingleStack"',
    ],
  ],
  [
    'two families with SingleStack',
    { ports, ipFamilies: ['IPv4', 'IPv6'] },
    [
      `spec.ipFamilyPolicy: Invalid value: "SingleStack": must be 'RequireDualStack' or 'PreferDualStack' when multiple IP families are specified`,
    ],
  ],
  [
    'RequireDualStack in a single-stack cluster',
    { ports, ipFamilyPolicy: 'RequireDualStack', ipFamilies: ['IPv4', 'IPv6'] },
    [
      'spec.ipFamilyPolicy: Invalid value: "RequireDualStack": this cluster is not configured for dual-stack services',
      'spec.ipFamilies[1]: Invalid value: "IPv6": not configured on this cluster',
    ],
  ],
  [
    'a cluster IP outside of the range',
    { ports, clusterIP: '2001:db8::1' },
    ['spec.clusterIPs[0]: Invalid value: []string{"2001:db8::1"}: IPv6 is not configured on this cluster'],
  ],
])('rejects a Service with %s', async (_, spec, causes) => {
  expect(await rejectionCauses(create(spec))).toEqual(causes);
});

test('validates annotations', async () => {
  const key = 'service.beta.orch.io/load-balancer-source-ranges';
  expect(await rejectionCauses(create({ ports }, { [key]: '10.0.0.0/8, x' }))).toEqual([
    `metadata.annotations[${key}]: Forbidden: may only be used when \`type\` is 'LoadBalancer'`,
    `metadata.annotations[${key}]: Invalid value: "x": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)`,
  ]);
  const annotations = { 'service.orch.io/topology-mode': 'a', 'service.orch.io/topology-aware-hints': 'b' };
  expect(await rejectionCauses(create({ ports }, annotations))).toEqual([
    'metadata.annotations[service.orch.io/topology-mode]: Invalid value: "a": must match annotations[service.orch.io/topology-aware-hints] when both are specified',
  ]);
});

test('rejects a name that does not start with a letter', async () => {
  const [cause] = await rejectionCauses(
    testCluster()
      .api(Service)
      .create({ metadata: { name: '1' }, spec: { ports } }),
  );
  expect(cause).toContain('metadata.name: Invalid value: "1": a DNS-1035 label');
});

describe('Service updates', () => {
  const services = async (spec: ServiceSpecInput) => {
    const api = testCluster().api(Service);
    await api.create({ metadata: { name: 'a' }, spec });
    return {
      api,
      patch: (change: object) => api.patch('a', mergePatch({ spec: change } as never)),
      put: (next: ServiceSpecInput) => api.update({ metadata: { name: 'a' }, spec: next }),
    };
  };

  test('keeps allocated addresses and ports that a Service update omits', async () => {
    const { api, put } = await services({ type: 'LoadBalancer', externalTrafficPolicy: 'Local', ports });
    const before = await api.get('a');
    const after = await put({ type: 'LoadBalancer', externalTrafficPolicy: 'Local', ports });
    expect(after.spec).toEqual(before.spec);
  });

  test('rejects a Service update that changes or unsets the cluster IP', async () => {
    const { patch, put } = await services({ ports, clusterIP: '10.0.0.9' });
    const detail = 'Invalid value: []string{"10.0.0.8"}: may not change once set';
    expect(await rejectionCauses(put({ ports, clusterIP: '10.0.0.8' }))).toEqual([`spec.clusterIPs[0]: ${detail}`]);
    expect(await rejectionCauses(patch({ clusterIP: '10.0.0.8' }))).toEqual([`spec.clusterIPs[0]: ${detail}`]);
    expect((await patch({ clusterIP: null, clusterIPs: null })).spec.clusterIP).toBe('10.0.0.9');
  });

  test('rejects a Service update that changes the class or the health check port of a load balancer', async () => {
    const { patch } = await services({ type: 'LoadBalancer', externalTrafficPolicy: 'Local', ports });
    expect(await rejectionCauses(patch({ loadBalancerClass: 'c', healthCheckNodePort: 31999 }))).toEqual([
      'spec.loadBalancerClass: Invalid value: "c": may not change once set',
      'spec.healthCheckNodePort: Forbidden: field is immutable',
    ]);
  });

  test('releases addresses and ports when a Service becomes an ExternalName', async () => {
    const { api, patch } = await services({ type: 'LoadBalancer', externalTrafficPolicy: 'Local', ports });
    const point = { ip: '1.2.3.4', ipMode: 'VIP' };
    await api.status.patch('a', mergePatch({ status: { loadBalancer: { ingress: [point] } } } as never));
    const after = await patch({ type: 'ExternalName', externalName: 'a.b' });
    expect(after.spec).toEqual({
      ports: [{ protocol: 'TCP', port: 80, targetPort: 80 }],
      type: 'ExternalName',
      sessionAffinity: 'None',
      externalName: 'a.b',
    });
    expect(after.status).toEqual({ loadBalancer: {} });
    expect((await patch({ type: 'ClusterIP', externalName: null })).spec).toMatchObject({ ipFamilies: ['IPv4'] });
  });

  test('keeps and rejects fields that the client changed together with the Service type', async () => {
    const { patch } = await services({ type: 'NodePort', ports: [{ port: 80, nodePort: 31000 }] });
    expect(await rejectionCauses(patch({ type: 'ClusterIP', ports: [{ port: 80, nodePort: 31001 }] }))).toEqual([
      "spec.ports[0].nodePort: Forbidden: may not be used when `type` is 'ClusterIP'",
    ]);
  });
});

test('validates the status', async () => {
  const api = testCluster().api(Service);
  const set = (name: string, ingress: object) =>
    api.status.patch(name, mergePatch({ status: { loadBalancer: { ingress: [ingress] } } } as never));
  await api.create({ metadata: { name: 'a' }, spec: { type: 'LoadBalancer', ports } });
  await api.create({ metadata: { name: 'b' }, spec: { ports } });
  const path = 'status.loadBalancer.ingress';
  expect((await set('a', { ip: '1.2.3.4' })).status.loadBalancer.ingress).toEqual([{ ip: '1.2.3.4', ipMode: 'VIP' }]);
  expect(await rejectionCauses(set('a', { ip: 'x' }))).toEqual([`${path}[0].ip: Invalid value: "x": ${IP}`]);
  expect(await rejectionCauses(set('a', { ip: '1.2.3.4', ipMode: 'X' }))).toEqual([
    `${path}[0].ipMode: Unsupported value: "X": supported values: "Proxy", "VIP"`,
  ]);
  expect(await rejectionCauses(set('a', { hostname: '1.2.3.4', ipMode: 'VIP' }))).toEqual([
    `${path}[0].ipMode: Forbidden: may not be specified when \`ip\` is not set`,
    `${path}[0].hostname: Invalid value: "1.2.3.4": must be a DNS name, not an IP address`,
  ]);
  expect(await rejectionCauses(set('b', { ip: '1.2.3.4' }))).toEqual([
    `${path}: Forbidden: may only be used when \`spec.type\` is 'LoadBalancer'`,
  ]);
});

test('requires ipMode in a status update without a spec', async () => {
  const api = testCluster().api(Service);
  await api.create({ metadata: { name: 'a' }, spec: { ports, type: 'LoadBalancer' } });
  const status = { loadBalancer: { ingress: [{ ip: '1.2.3.4' }] } };
  expect(await rejectionCauses(api.status.update('a', { metadata: { name: 'a' }, status }))).toEqual([
    'status.loadBalancer.ingress[0].ipMode: Required value: must be specified when `ip` is set',
  ]);
});

test('accepts the kubelet port 10250 as the port of a load balancer', async () => {
  expect((await create({ ports: [{ port: 10250 }], type: 'LoadBalancer' })).spec.ports?.[0]?.port).toBe(10250);
});

test('warns about ignored fields', async () => {
  const warnings: string[] = [];
  const api = testCluster({ client: { onWarning: (text) => warnings.push(text) } }).api(Service);
  const annotations = { 'service.orch.io/topology-aware-hints': 'Auto' };
  await api.create({ metadata: { name: 'a', annotations }, spec: { ports, externalName: 'a.b' } });
  expect(warnings).toEqual([
    'annotation service.orch.io/topology-aware-hints is deprecated, please use service.orch.io/topology-mode instead',
    'spec.externalName is ignored when spec.type is not "ExternalName"',
  ]);
});
