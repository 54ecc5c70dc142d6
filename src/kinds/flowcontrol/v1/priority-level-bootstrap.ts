/**
 * The initial priority levels of a cluster: the mandatory levels `exempt` and `catch-all`, and the suggested levels.
 */
import { type FieldSet, LEAF } from '../../../merge/apply/field-set.js';
import type { PriorityLevelConfigurationSpec } from '../../generated/flowcontrol-v1.js';

/** Concurrency shares, lendable percent, queues and hand size. */
const SUGGESTED: Readonly<Record<string, readonly [number, number, number, number]>> = {
  system: [30, 33, 64, 6],
  'node-high': [40, 25, 64, 6],
  'leader-election': [10, 0, 16, 4],
  'workload-high': [40, 50, 128, 6],
  'workload-low': [100, 90, 128, 6],
  'global-default': [20, 50, 128, 6],
};

/** The maximum number of requests in a queue. */
const QUEUE_LENGTH = 50;

/** The spec of a mandatory level; undefined for other names. */
export function mandatoryLevel(name: string): PriorityLevelConfigurationSpec | undefined {
  if (name === 'exempt') return { type: 'Exempt', exempt: { nominalConcurrencyShares: 0, lendablePercent: 0 } };
  if (name !== 'catch-all') return undefined;
  return {
    type: 'Limited',
    limited: { nominalConcurrencyShares: 5, limitResponse: { type: 'Reject' }, lendablePercent: 0 },
  };
}

/** The suggested levels by name. Users may change them. */
export function suggestedLevels(): Readonly<Record<string, PriorityLevelConfigurationSpec>> {
  const levels: Record<string, PriorityLevelConfigurationSpec> = {};
  for (const [name, [shares, lendablePercent, queues, handSize]] of Object.entries(SUGGESTED)) {
    const queuing = { queues, handSize, queueLengthLimit: QUEUE_LENGTH };
    const limitResponse = { type: 'Queue', queuing } as const;
    levels[name] = { type: 'Limited', limited: { nominalConcurrencyShares: shares, limitResponse, lendablePercent } };
  }
  return levels;
}

/** The fields of an initial level that its field manager owns. */
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
