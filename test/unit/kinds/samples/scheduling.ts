/** Samples of PriorityClasses. */
import { PriorityClass } from 'orchplane/kinds';
import type { KindSample } from '../kind-contract.js';

export const samples: readonly KindSample[] = [
  {
    kind: PriorityClass,
    body: { value: 1 },
    change: { description: 'text' },
    wireOrder: ['kind', 'apiVersion', 'metadata', 'value', 'globalDefault', 'description', 'preemptionPolicy'],
    deletedAtOnce: true,
    unconditionalUpdate: true,
    createOnUpdate: false,
  },
];
