/** Samples of StorageVersions. */
import { StorageVersion } from 'orchplane/kinds';
import type { KindSample } from '../kind-contract.js';

export const samples: readonly KindSample[] = [
  {
    kind: StorageVersion,
    names: ['apps.deployments', 'batch.jobs'],
    body: { spec: {} },
    change: {},
    wireOrder: ['kind', 'apiVersion', 'metadata', 'spec', 'status'],
    deletedAtOnce: true,
    unconditionalUpdate: false,
    createOnUpdate: false,
  },
];
