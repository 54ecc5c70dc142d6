/** Samples of FlowSchemas and PriorityLevelConfigurations. */
import { FlowSchema, PriorityLevelConfiguration } from 'orchplane/kinds';
import type { KindSample } from '../kind-contract.js';

const COMMON = {
  wireOrder: ['kind', 'apiVersion', 'metadata', 'spec', 'status'],
  deletedAtOnce: true,
  unconditionalUpdate: true,
  createOnUpdate: false,
} as const;

export const samples: readonly KindSample[] = [
  {
    kind: FlowSchema,
    isAttended: true,
    body: { spec: { priorityLevelConfiguration: { name: 'p' } } },
    change: { spec: { priorityLevelConfiguration: { name: 'q' }, matchingPrecedence: 7 } },
    ...COMMON,
  },
  {
    kind: PriorityLevelConfiguration,
    body: { spec: { type: 'Limited', limited: { limitResponse: { type: 'Reject' } } } },
    change: { spec: { type: 'Limited', limited: { nominalConcurrencyShares: 1, limitResponse: { type: 'Reject' } } } },
    ...COMMON,
  },
];
