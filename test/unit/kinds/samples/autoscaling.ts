/** Samples of HorizontalPodAutoscalers in v2 and v1. */
import { HorizontalPodAutoscaler, HorizontalPodAutoscalerV1 } from 'orchplane/kinds';
import type { KindSample } from '../kind-contract.js';

const spec = { scaleTargetRef: { kind: 'Deployment', name: 'd' }, maxReplicas: 5 };

const common = {
  body: { spec },
  change: { spec: { ...spec, maxReplicas: 6 } },
  wireOrder: ['kind', 'apiVersion', 'metadata', 'spec', 'status'],
  deletedAtOnce: true,
  unconditionalUpdate: true,
  createOnUpdate: false,
} as const;

export const samples: readonly KindSample[] = [
  { kind: HorizontalPodAutoscaler, ...common },
  { kind: HorizontalPodAutoscalerV1, ...common },
];
