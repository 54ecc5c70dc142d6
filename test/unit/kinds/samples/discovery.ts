/** Samples of EndpointSlices. */
import { EndpointSlice } from 'orchplane/kinds';
import type { KindSample } from '../kind-contract.js';

export const samples: readonly KindSample[] = [
  {
    kind: EndpointSlice,
    body: { addressType: 'IPv4', endpoints: [] },
    change: { endpoints: [{ addresses: ['10.0.0.1'], conditions: {} }] },
    wireOrder: ['kind', 'apiVersion', 'metadata', 'addressType', 'endpoints', 'ports'],
    deletedAtOnce: true,
    unconditionalUpdate: true,
    createOnUpdate: false,
  },
];
