/** Samples of StorageVersionMigrations. */
import { StorageVersionMigration } from 'orchplane/kinds';
import type { KindSample } from '../kind-contract.js';

const resource = { version: 'v1', resource: 'things' };

export const samples: readonly KindSample[] = [
  {
    kind: StorageVersionMigration,
    body: { spec: { resource } },
    change: { spec: { resource, continueToken: 't' } },
    wireOrder: ['kind', 'apiVersion', 'metadata', 'spec', 'status'],
    deletedAtOnce: true,
    unconditionalUpdate: false,
    createOnUpdate: false,
  },
];
