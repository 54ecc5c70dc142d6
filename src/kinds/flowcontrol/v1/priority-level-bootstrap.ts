/**
 * The priority levels that a cluster starts with: one for what may never wait, one for what belongs nowhere else, and
 * those that the suggested flows are put on.
 */
import { type FieldSet, LEAF } from '../../../merge/apply/field-set.js';
import type { PriorityLevelConfigurationSpec } from '../../generated/flowcontrol-v1.js';

/** Shares, what of them may be lent in percent, and queues with the size of a hand. */
const SUGGESTED: Readonly<Record<string, readonly [number, number, number, number]>> = {
  system: [30, 33, 64, 6],
  'node-high': [40, 25, 64, 6],
  'leader-election': [10, 0, 16, 4],
  'workload-high': [40, 50, 128, 6],
  'workload-low': [100, 90, 128, 6],
  'global-default': [20, 50, 128, 6],
};

/** So many requests may wait in one queue. */
const QUEUE_LENGTH = 50;

/** The spec that a level of this name must have; undefined for all others, which are free. */
export function mandatoryLevel(name: string): PriorityLevelConfigurationSpec | undefined {
  if (name === 'exempt') return { type: 'Exempt', exempt: { nominalConcurrencyShares: 0, lendablePercent: 0 } };
  if (name !== 'catch-all') return undefined;
  return {
    type: 'Limited',
    limited: { nominalConcurrencyShares: 5, limitResponse: { type: 'Reject' }, lendablePercent: 0 },
  };
}

/** The others, by their names. A user may change them. */
export function suggestedLevels(): Readonly<Record<string, PriorityLevelConfigurationSpec>> {
  const levels: Record<string, PriorityLevelConfigurationSpec> = {};
  for (const [name, [shares, lendablePercent, queues, handSize]] of Object.entries(SUGGESTED)) {
    const queuing = { queues, handSize, queueLengthLimit: QUEUE_LENGTH };
    const limitResponse = { type: 'Queue', queuing } as const;
    levels[name] = { type: 'Limited', limited: { nominalConcurrencyShares: shares, limitResponse, lendablePercent } };
  }
  return levels;
}

/** What who made such a level owns of it. */
export function ownedLevelSpec({ limited }: PriorityLevelConfigurationSpec): FieldSet {
  const shares = { 'f:nominalConcurrencyShares': LEAF };
  if (limited === undefined) {
    return { 'f:exempt': { '.': LEAF, 'f:lendablePercent': LEAF, ...shares }, 'f:type': LEAF };
  }
  const queuing = { '.': LEAF, 'f:handSize': LEAF, 'f:queueLengthLimit': LEAF, 'f:queues': LEAF };
  const queues = limited.limitResponse.queuing === undefined ? {} : { 'f:queuing': queuing };
  const response = { '.': LEAF, ...queues, 'f:type': LEAF };
  return {
    'f:limited': { '.': LEAF, 'f:lendablePercent': LEAF, 'f:limitResponse': response, ...shares },
    'f:type': LEAF,
  };
}
