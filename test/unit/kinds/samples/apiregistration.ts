/** Who serves which API. An APIService is named after what it serves, so the two of the contract share a body. */
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
    vanishesAtOnce: true,
    unconditionalUpdate: false,
    createOnUpdate: false,
  },
];
