/**
 * Parts of the initial FlowSchemas and priority levels that both kinds share, and the Dangling condition.
 */
import { type FieldSet, LEAF } from '../../../merge/apply/field-set.js';
import { fieldElement } from '../../../merge/apply/path-element.js';
import type { Dialect } from '../../../meta/dialect.js';
import { quote } from '../../../text/go/go-text.js';
import type { FlowSchemaCondition } from '../../generated/flowcontrol-v1.js';
import type { InitialObject } from '../../kind.js';
import { conditionOwnedBy } from '../../shared/initial-managers.js';

/** The names of the mandatory objects of both kinds. */
const MANDATORY = ['exempt', 'catch-all'];

/** The field manager of the initial objects. */
export const PRODUCER = 'api-priority-and-fairness-config-producer-v1';
/** The field manager of conditions. */
export const CONSUMER = 'api-priority-and-fairness-config-consumer-v1';

/** True for the names of mandatory objects. */
export function isMandatory(name: string): boolean {
  return MANDATORY.includes(name);
}

/** The annotation that allows the server to restore the spec. */
export function updateAnnotation(dialect: Dialect): string {
  return dialect.subkey('apf', 'autoupdate-spec');
}

/** The names and specs of all initial objects of a kind, the mandatory ones first. */
export function bootstrapObjects<Spec>(
  mandatory: (name: string) => Spec | undefined,
  suggested: Readonly<Record<string, Spec>>,
): [name: string, spec: Spec][] {
  const needed = MANDATORY.map((name) => [name, mandatory(name)] as [string, Spec]);
  return [...needed, ...Object.entries(suggested)];
}

/**
 * The metadata of an initial object. `spec` are the owned fields of the spec; `isReported`: the status has a condition.
 */
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

/** The Dangling condition of a FlowSchema: whether its priority level is missing. */
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
