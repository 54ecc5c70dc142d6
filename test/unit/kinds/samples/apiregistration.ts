/** Samples of APIServices. The name is determined by the spec, so both objects of the contract have the same name. */
import { APIService } from 'orchplane/kinds';
import type { KindSample } from '../kind-contract.js';

const spec = { group: 'example.com', version: 'v1', groupPriorityMinimum: 100, versionPriority: 10 };

export const samples: readonly KindSample[] = [
  {
    kind: APIService,
    names: ['v1.example.com', 'v1.example.com'],
    body: { spec },
    change: { spec: { ...spec, versionPriority: 11 } },
    wireOrder: ['kind', 'apiVersion', 'metadata', 'spec', 'status'],
    deletedAtOnce: true,
    unconditionalUpdate: false,
    createOnUpdate: false,
  },
];
