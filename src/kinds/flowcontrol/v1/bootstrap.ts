/**
 * What the server itself makes and notes: the flows and levels that every cluster starts with, and whether the level
 * that a flow names exists.
 */

import { type FieldSet, LEAF } from '../../../merge/apply/field-set.js';
import { fieldElement } from '../../../merge/apply/path-element.js';
import type { Dialect } from '../../../meta/dialect.js';
import { quote } from '../../../text/go/go-text.js';
import type { FlowSchemaCondition } from '../../generated/flowcontrol-v1.js';
import type { InitialObject } from '../../kind.js';
import { conditionOwnedBy } from '../../shared/initial-managers.js';

/** Which of both kinds must exist. */
const MANDATORY = ['exempt', 'catch-all'];

/** Makes them. */
export const PRODUCER = 'api-priority-and-fairness-config-producer-v1';
/** Reports conditions. */
export const CONSUMER = 'api-priority-and-fairness-config-consumer-v1';

export function isMandatory(name: string): boolean {
  return MANDATORY.includes(name);
}

/** The annotation that says whether the server may put a spec right. */
export function updateAnnotation(dialect: Dialect): string {
  return dialect.subkey('apf', 'autoupdate-spec');
}

/** All objects of one kind, the mandatory ones first. */
export function bootstrapObjects<Spec>(
  mandatory: (name: string) => Spec | undefined,
  suggested: Readonly<Record<string, Spec>>,
): [name: string, spec: Spec][] {
  const needed = MANDATORY.map((name) => [name, mandatory(name)] as [string, Spec]);
  return [...needed, ...Object.entries(suggested)];
}

/** `spec`: what the server owns of the specification. `isReported`: a loop of it has noted a condition. */
export function bootstrapMetadata(
  name: string,
  dialect: Dialect,
  about: { readonly spec: FieldSet; readonly isReported: boolean },
): InitialObject['metadata'] {
  const annotation = updateAnnotation(dialect);
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

/** What the server notes about a flow: whether there is the level that it names. */
export function danglingCondition(level: string, exists: boolean, now: string): FlowSchemaCondition {
  const about = `This FlowSchema references the PriorityLevelConfiguration object named ${quote(level)}`;
  return {
    type: 'Dangling',
    status: exists ? 'False' : 'True',
    lastTransitionTime: now,
    reason: exists ? 'Found' : 'NotFound',
    message: exists ? `${about} and it exists` : `${about} but there is no such object`,
  };
}
