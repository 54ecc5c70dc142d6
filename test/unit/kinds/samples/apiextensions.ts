/** Samples of CustomResourceDefinitions. */
import { CustomResourceDefinition } from 'orchplane/kinds';
import type { KindSample } from '../kind-contract.js';

const version = { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } };
const spec = {
  group: 'example.com',
  names: { plural: 'widgets', kind: 'Widget' },
  scope: 'Namespaced',
  versions: [version],
};

export const samples: readonly KindSample[] = [
  {
    kind: CustomResourceDefinition,
    isAttended: true,
    names: ['widgets.example.com', 'widgets.example.com'],
    body: { spec },
    change: { spec: { ...spec, names: { ...spec.names, categories: ['all'] } } },
    wireOrder: ['kind', 'apiVersion', 'metadata', 'spec', 'status'],
    deletedAtOnce: true,
    unconditionalUpdate: false,
    createOnUpdate: false,
  },
];
