/**
 * The FlowSchema kind: assigns requests to priority levels. `src/flowcontrol` applies it to requests.
 */

import { type FieldSet, LEAF, setOfFields } from '../../../../merge/apply/field-set.js';
import type { FieldError } from '../../../../meta/field-error.js';
import type { ApiObject, DraftObject } from '../../../../meta/object.js';
import { defineBuiltIn } from '../../../define-kind.js';
import {
  type FlowSchemaCondition,
  type FlowSchemaKind,
  type FlowSchemaObject,
  type FlowSchemaSpec,
  flowSchemaBase,
} from '../../../generated/flowcontrol-v1.js';
import type { ReconcilerHost, ServerReconciler } from '../../../reconciler.js';
import { specGeneration, statusSubresource } from '../../../shared/strategies.js';
import { bootstrapMetadata, bootstrapObjects, CONSUMER, danglingCondition } from '../bootstrap.js';
import { flowSchemaColumns } from '../columns.js';
import { validateConditions } from '../common-rules.js';
import { byPrecedence, FLOW_SCHEMAS, PRIORITY_LEVELS } from '../resources.js';
import { bootstrapReconciler } from '../upkeep.js';
import { mandatoryFlow, suggestedFlows } from './bootstrap.js';
import { fixedSpecProblems, validateFlowSchemaSpec } from './validate.js';

export interface FlowSchema extends FlowSchemaObject {}

export const FlowSchema: FlowSchemaKind<FlowSchema> = defineBuiltIn({
  ...flowSchemaBase,
  lifecycle: { introducedIn: '1.29' },
  columns: flowSchemaColumns,
  rowOrder: byPrecedence,
  initial: (dialect, now) =>
    bootstrapObjects(mandatoryFlow, suggestedFlows(dialect)).map(([name, spec]) => ({
      metadata: bootstrapMetadata(name, dialect, { spec: ownedSpec(spec), isReported: true }),
      spec,
      status: { conditions: [danglingCondition(spec.priorityLevelConfiguration.name, true, now)] },
    })),
  reconciler: (server) => {
    const dangling = flowSchemaReconciler(server);
    const upkeep = bootstrapReconciler(server, {
      resource: FLOW_SCHEMAS,
      specs: (dialect) => bootstrapObjects(mandatoryFlow, suggestedFlows(dialect)),
    });
    return {
      reconcile() {
        upkeep.reconcile();
        dangling.reconcile();
      },
    };
  },
  strategy: {
    write: { generation: specGeneration, separateStatus: true },
    update: { validationOrder: ['update', 'create'] },
    create: { validate },
  },
  subresources: { status: statusSubresource({ metadata: 'whole', validate: validateStatus }) },
});

function ownedSpec({ distinguisherMethod }: FlowSchemaSpec): FieldSet {
  const distinguisher = { 'f:distinguisherMethod': { '.': LEAF, 'f:type': LEAF } };
  const rest = setOfFields(['matchingPrecedence', 'priorityLevelConfiguration.name', 'rules']);
  return distinguisherMethod === undefined ? rest : { ...distinguisher, ...rest };
}

function validate(object: FlowSchema): FieldError[] {
  const { metadata, spec } = object;
  // Validation also runs for an object without a name.
  const { name = '' }: { name?: string } = metadata;
  return [
    ...validateFlowSchemaSpec('spec', spec, name),
    ...fixedSpecProblems('spec', spec, name),
    ...validateStatus(object),
  ];
}

function validateStatus(object: FlowSchema): FieldError[] {
  return validateConditions(object.status.conditions);
}

/** Sets the Dangling condition of FlowSchemas whose priority level does not exist. */
export function flowSchemaReconciler(server: ReconcilerHost): ServerReconciler {
  let schemasSeen = -1;
  let levelsSeen = -1;
  return {
    reconcile() {
      if (server.lastChange(FLOW_SCHEMAS) === schemasSeen && server.lastChange(PRIORITY_LEVELS) === levelsSeen) return;
      server.each(FLOW_SCHEMAS, (object) => reconcileFlowSchema(object as ApiObject & FlowSchema, server));
      // The reconciler's own writes need no further reconcile.
      schemasSeen = server.lastChange(FLOW_SCHEMAS);
      levelsSeen = server.lastChange(PRIORITY_LEVELS);
    },
  };
}

function reconcileFlowSchema(object: ApiObject & FlowSchema, server: ReconcilerHost): void {
  const { spec, status } = object;
  const { name } = spec.priorityLevelConfiguration;
  const exists = server.objects.get({ ...PRIORITY_LEVELS, namespace: '', name }) !== undefined;
  const condition = danglingCondition(name, exists, server.now());
  const present = status.conditions?.find(({ type }) => type === condition.type);
  if (present !== undefined && isSame(present, condition)) return;
  server.writeStatus(object, (draft) => setCondition(draft, condition), CONSUMER);
}

/** Ignores the transition time. */
function isSame(left: FlowSchemaCondition, right: FlowSchemaCondition): boolean {
  return left.status === right.status && left.reason === right.reason && left.message === right.message;
}

/** Replaces the condition of the same type. */
function setCondition(draft: DraftObject, condition: FlowSchemaCondition): void {
  const { conditions = [] } = (draft['status'] ?? {}) as { conditions?: readonly FlowSchemaCondition[] };
  draft['status'] = { conditions: [...conditions.filter(({ type }) => type !== condition.type), condition] };
}
