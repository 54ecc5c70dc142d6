/** Samples of Pods and PodTemplates. */
import { Pod, PodDisruptionBudget } from 'orchplane/kinds';
import type { KindSample } from '../kind-contract.js';

const spec = { containers: [{ name: 'c', image: 'i' }] };

export const samples: readonly KindSample[] = [
  {
    kind: Pod,
    body: { spec },
    change: { spec: { containers: [{ name: 'c', image: 'j' }] } },
    wireOrder: ['kind', 'apiVersion', 'metadata', 'spec', 'status'],
    deletedAtOnce: true,
    markedFirst: true,
    unconditionalUpdate: true,
    createOnUpdate: false,
  },
  {
    kind: PodDisruptionBudget,
    // Only the general rules for names apply.
    badName: 'a/b',
    body: { spec: { minAvailable: 1, selector: { matchLabels: { app: 'a' } } } },
    change: { spec: { minAvailable: '50%', selector: { matchLabels: { app: 'a' } } } },
    wireOrder: ['kind', 'apiVersion', 'metadata', 'spec', 'status'],
    deletedAtOnce: true,
    unconditionalUpdate: false,
    createOnUpdate: false,
  },
];
