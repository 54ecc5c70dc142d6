/** Samples of the networking group. An IPAddress is named after its address and is immutable. */
import {
  Ingress,
  IngressClass,
  IPAddress,
  IPAddressV1beta1,
  NetworkPolicy,
  ServiceCIDR,
  ServiceCIDRV1beta1,
} from 'orchplane/kinds';
import type { KindSample } from '../kind-contract.js';

const TYPE = ['kind', 'apiVersion', 'metadata'];
const usual = { deletedAtOnce: true, unconditionalUpdate: true, createOnUpdate: false };
const backend = { service: { name: 's', port: { number: 80 } } };
const parentRef = { resource: 'services', namespace: 'default', name: 's' };

const address = {
  names: ['192.0.2.1', '2001:db8::1'] as const,
  body: { spec: { parentRef } },
  change: {},
  wireOrder: [...TYPE, 'spec'],
  ...usual,
};
const range = {
  body: { spec: { cidrs: ['192.0.2.0/24'] } },
  change: { spec: { cidrs: ['192.0.2.0/24', '2001:db8::/112'] } },
  wireOrder: [...TYPE, 'spec', 'status'],
  ...usual,
};

export const samples: readonly KindSample[] = [
  {
    kind: Ingress,
    body: { spec: { defaultBackend: backend } },
    change: { spec: { defaultBackend: backend, ingressClassName: 'c' } },
    wireOrder: [...TYPE, 'spec', 'status'],
    ...usual,
  },
  {
    kind: IngressClass,
    body: { spec: { controller: 'example.com/c' } },
    change: { spec: { controller: 'example.com/c', parameters: { kind: 'P', name: 'p', scope: 'Cluster' } } },
    wireOrder: [...TYPE, 'spec'],
    ...usual,
  },
  {
    kind: NetworkPolicy,
    body: { spec: { podSelector: {} } },
    change: { spec: { podSelector: { matchLabels: { k: 'v' } } } },
    wireOrder: [...TYPE, 'spec'],
    ...usual,
  },
  { kind: IPAddress, ...address },
  { kind: IPAddressV1beta1, ...address },
  { kind: ServiceCIDR, ...range },
  { kind: ServiceCIDRV1beta1, ...range },
];
