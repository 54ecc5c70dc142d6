/** Samples of basic kinds of the core group. */
import { ConfigMap, Lease, Namespace, Secret } from 'orchplane/kinds';
import type { KindSample } from '../kind-contract.js';

const TYPE = ['kind', 'apiVersion', 'metadata'];

export const samples: readonly KindSample[] = [
  {
    kind: ConfigMap,
    body: {},
    change: { data: { k: 'v' } },
    wireOrder: [...TYPE, 'immutable', 'data', 'binaryData'],
    deletedAtOnce: true,
    unconditionalUpdate: true,
    createOnUpdate: false,
  },
  {
    kind: Secret,
    body: {},
    change: { data: { k: 'dg==' } },
    wireOrder: [...TYPE, 'immutable', 'data', 'stringData', 'type'],
    deletedAtOnce: true,
    unconditionalUpdate: true,
    createOnUpdate: false,
  },
  {
    kind: Namespace,
    body: {},
    change: {},
    wireOrder: [...TYPE, 'spec', 'status'],
    deletedAtOnce: false,
    unconditionalUpdate: true,
    createOnUpdate: false,
  },
  {
    kind: Lease,
    body: { spec: {} },
    change: { spec: { holderIdentity: 'me' } },
    wireOrder: [...TYPE, 'spec'],
    deletedAtOnce: true,
    unconditionalUpdate: false,
    createOnUpdate: true,
  },
];
