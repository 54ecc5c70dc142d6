/**
 * The flows that every cluster has: one that never waits, and one for what belongs nowhere else.
 */

import { type FieldSet, LEAF } from '../../../merge/apply/field-set.js';
import { fieldElement } from '../../../merge/apply/path-element.js';
import type { Dialect } from '../../../meta/dialect.js';
import type { InitialObject } from '../../kind.js';
import { conditionOwnedBy } from '../../shared/initial-managers.js';

export const MANDATORY = ['exempt', 'catch-all'] as const;

const PRODUCER = 'api-priority-and-fairness-config-producer-v1';
const CONSUMER = 'api-priority-and-fairness-config-consumer-v1';

/** `spec`: what the server owns of the specification. */
export function mandatoryMetadata(
  name: string,
  dialect: Dialect,
  about: { readonly spec: FieldSet; readonly isReported: boolean },
): InitialObject['metadata'] {
  const annotation = dialect.subkey('apf', 'autoupdate-spec');
  const annotations: FieldSet = { '.': LEAF, [fieldElement(annotation)]: LEAF };
  const parts = ['lastTransitionTime', 'message', 'reason', 'status', 'type'];
  return {
    name,
    generation: 1,
    annotations: { [annotation]: 'true' },
    managers: [
      ...(about.isReported ? [conditionOwnedBy(CONSUMER, 'Dangling', parts)] : []),
      { manager: PRODUCER, fields: { 'f:metadata': { 'f:annotations': annotations }, 'f:spec': about.spec } },
    ],
  };
}

/** What the server notes about a flow whose level exists. */
export function found(level: string, now: string): object {
  return {
    type: 'Dangling',
    status: 'False',
    lastTransitionTime: now,
    reason: 'Found',
    message: `This FlowSchema references the PriorityLevelConfiguration object named "${level}" and it exists`,
  };
}
