/** Validation and defaulting of NetworkPolicies. */
import { NetworkPolicy } from 'orchplane/kinds';
import { testCluster } from 'orchplane/testing';
import { expect, test } from 'vitest';
import type { NetworkPolicySpecInput } from '../../../../src/kinds/generated/networking-v1.js';
import { rejectionCauses } from '../rejections.js';

const create = (spec: object) =>
  testCluster()
    .api(NetworkPolicy)
    .create({ metadata: { name: 'a' }, spec: spec as NetworkPolicySpecInput });
const port = (entry: object) => ({ ingress: [{ ports: [entry] }] });
const peer = (entry: object) => ({ egress: [{ to: [entry] }] });
const PORT = 'spec.ingress[0].ports[0]';
const PEER = 'spec.egress[0].to[0]';

test('derives policyTypes from the rules, and sets the protocol TCP', async () => {
  expect((await create({})).spec).toEqual({ podSelector: {}, policyTypes: ['Ingress'] });
  expect((await create({ egress: [{}] })).spec.policyTypes).toEqual(['Ingress', 'Egress']);
  expect((await create(port({ port: 80 }))).spec.ingress).toEqual([{ ports: [{ protocol: 'TCP', port: 80 }] }]);
});

test.each<[string, object, string[]]>([
  [
    'an invalid selector',
    { podSelector: { matchExpressions: [{ key: 'k', operator: 'Is' }] } },
    ['spec.podSelector.matchExpressions[0].operator: Invalid value: "Is": not a valid selector operator'],
  ],
  [
    'an unknown protocol',
    port({ protocol: 'X' }),
    [`${PORT}.protocol: Unsupported value: "X": supported values: "TCP", "UDP", "SCTP"`],
  ],
  [
    'an endPort below port',
    port({ port: 80, endPort: 0 }),
    [
      `${PORT}.endPort: Invalid value: 80: must be greater than or equal to \`port\``,
      `${PORT}.endPort: Invalid value: 0: must be between 1 and 65535, inclusive`,
    ],
  ],
  [
    'an endPort with a named port',
    port({ port: 'web', endPort: 90 }),
    [`${PORT}.endPort: Invalid value: 90: may not be specified when \`port\` is non-numeric`],
  ],
  [
    'an endPort without a port',
    port({ endPort: 90 }),
    [`${PORT}.endPort: Invalid value: 90: may not be specified when \`port\` is not specified`],
  ],
  ['an empty peer', peer({}), [`${PEER}: Required value: must specify a peer`]],
  [
    'both an ipBlock and a selector',
    peer({ podSelector: {}, ipBlock: { cidr: '10.0.0.0/8' } }),
    [`${PEER}: Forbidden: may not specify both ipBlock and another peer`],
  ],
  ['an empty CIDR', peer({ ipBlock: {} }), [`${PEER}.ipBlock.cidr: Required value`]],
  [
    'an invalid CIDR',
    peer({ ipBlock: { cidr: 'x' } }),
    [`${PEER}.ipBlock.cidr: Invalid value: "x": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)`],
  ],
  [
    'an exception outside of the CIDR',
    peer({ ipBlock: { cidr: '10.0.0.0/8', except: ['11.0.0.0/16', '10.0.0.0/8'] } }),
    [
      `${PEER}.ipBlock.except[0]: Invalid value: "11.0.0.0/16": must be a strict subset of \`cidr\``,
      `${PEER}.ipBlock.except[1]: Invalid value: "10.0.0.0/8": must be a strict subset of \`cidr\``,
    ],
  ],
  [
    'an unknown policy type',
    { policyTypes: ['X'] },
    ['spec.policyTypes[0]: Unsupported value: "X": supported values: "Ingress", "Egress"'],
  ],
  [
    'three policy types',
    { policyTypes: ['Ingress', 'Egress', 'Ingress'] },
    [
      'spec.policyTypes: Invalid value: []networking.PolicyType{"Ingress", "Egress", "Ingress"}: may not specify more than two policyTypes',
    ],
  ],
])('rejects %s', async (_, spec, causes) => {
  expect(await rejectionCauses(create(spec))).toEqual(causes);
});

test('warns about a CIDR with host bits', async () => {
  const warnings: string[] = [];
  const policies = testCluster({ client: { onWarning: (text) => warnings.push(text) } }).api(NetworkPolicy);
  const egress = [{ to: [{ ipBlock: { cidr: '10.0.0.1/8' } }] }];
  await policies.create({ metadata: { name: 'a' }, spec: { podSelector: {}, egress } });
  expect(warnings).toEqual([
    `${PEER}.ipBlock.cidr: CIDR value "10.0.0.1/8" is ambiguous in this context (should be "10.0.0.0/8" or "10.0.0.1/32"?)`,
  ]);
});
