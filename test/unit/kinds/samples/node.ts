/** Samples of RuntimeClasses. */
import { RuntimeClass } from 'orchplane/kinds';
import type { KindSample } from '../kind-contract.js';

export const samples: readonly KindSample[] = [
  {
    kind: RuntimeClass,
    body: { handler: 'runc' },
    change: { handler: 'runc', overhead: { podFixed: { cpu: '100m' } }, scheduling: { nodeSelector: { k: 'v' } } },
    wireOrder: ['kind', 'apiVersion', 'metadata', 'handler', 'overhead', 'scheduling'],
    deletedAtOnce: true,
    unconditionalUpdate: false,
    createOnUpdate: true,
  },
];
