/**
 * The flows that every cluster has: one that never waits, and one for what belongs nowhere else.
 */
import type { Dialect } from '../../../meta/dialect.js';
import type { InitialObject } from '../../kind.js';

export const MANDATORY = ['exempt', 'catch-all'] as const;

export function mandatoryMetadata(name: string, dialect: Dialect): InitialObject['metadata'] {
  return { name, generation: 1, annotations: { [dialect.subkey('apf', 'autoupdate-spec')]: 'true' } };
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
